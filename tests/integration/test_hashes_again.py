"""Can each hash that leaves the program be computed again from the file alone, as the documentation says?"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import zipfile
import zlib
from array import array
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.cli.main import main
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.services.acceptance import promises_in
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.kept_files import save_kept
from gpulease_gui.services.targets import node_of
from gpulease_gui.services.verify import Request
from gpulease_gui.store.kept_owed import keep_own
from gpulease_gui.store.records import SampleBlock, Series
from gpulease_gui.store.samples import append_blocks

CONTRACT, NODE, S = "demo-contract-BM-0047-1", "demo-capped", 1_000_000_000
DOCS = Path(__file__).resolve().parents[2] / "docs" / "exchange.md"


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What the code in the documentation defines."""
    made: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.S):
        exec(block, made)
    return made


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A demo node that was verified, one check of it twice, while it was watched: report, bundle, evidence, kept readings."""
    folder = tmp_path_factory.mktemp("hashes")
    path = folder / "demo.gpulease.db"
    with closing(open_services(path, demo=True)) as services:
        with services.workspace.read() as connection:
            terms = promises_in(connection, CONTRACT)
        node = node_of(services.workspace, "demo:capped")
        outcome = services.verification.run(node, Request(terms, CONTRACT), CancelToken())
        begin_ns = int(outcome.started.timestamp()) * S
        blocks = [SampleBlock(Series(NODE, "gpu.power_w", card, "W"), begin_ns, S, array("f", [350.25, math.nan, 351.5])) for card in ("GPU-a", "GPU-b")]
        services.workspace.submit(lambda db: append_blocks(db, blocks)).result()
        kept = services.workspace.submit(lambda db: keep_own(db, str(outcome.run), begin_ns / S + 4000)).result()
        assert kept is not None
        with pytest.raises(UserFacing, match="no readings of this node were kept"):
            save_kept(services.workspace, "demo-honest", folder)
        assert save_kept(services.workspace, NODE, folder) == 1
        name, content = next((one.name, one.read_bytes()) for one in folder.glob("readings-*"))
    assert main(["export", "--contract", CONTRACT, "--demo", "--workspace", str(path), "--out", str(folder / "report.json")]) == 0
    assert main(["export-data", "--demo", "--workspace", str(path), "--out", str(folder / "bundle.json")]) == 0
    main(["verify", "demo:capped", "--only", "gpu.count", "--workspace", str(folder / "other.gpulease.db"), "--bundle", str(folder / "evidence.zip")])
    return {"name": name.encode(), "kept": content, **{one.name: one.read_bytes() for one in folder.iterdir() if one.suffix in (".json", ".zip")}}


def test_that_the_hash_of_a_run_is_computed_again_from_a_report_and_from_a_bundle(told: dict[str, Any], files: dict[str, bytes]) -> None:
    (run,) = [node["run"] for node in json.loads(files["report.json"])["nodes"] if node["id"] == NODE]
    bundle = json.loads(files["bundle.json"])
    (again,) = [one["run_hash"] for one in bundle["runs"] if one["id"] == run["id"]]
    assert told["run_of_report"](run) == told["run_of_bundle"](bundle, run["id"]) == run["sha256"] == again
    run["findings"][0]["verdict"] = "pass" if run["findings"][0]["verdict"] != "pass" else "fail"
    assert told["run_of_report"](run) != run["sha256"]


def test_that_raw_outputs_are_what_their_names_say(files: dict[str, bytes], tmp_path: Path) -> None:
    for sha256, packed in json.loads(files["bundle.json"])["contents"].items():
        assert hashlib.sha256(zlib.decompress(base64.b64decode(packed))).hexdigest() == sha256
    (tmp_path / "e.zip").write_bytes(files["evidence.zip"])
    with zipfile.ZipFile(tmp_path / "e.zip") as archive:
        outputs = [name for name in archive.namelist() if name.startswith("outputs/")]
        assert outputs and all(hashlib.sha256(archive.read(name)).hexdigest() == name.removeprefix("outputs/") for name in outputs)
        manifest = json.loads(archive.read("manifest.json"))
        assert hashlib.sha256(archive.read("verdict.json")).hexdigest() == manifest["verdict.json"]["sha256"]


def test_that_kept_readings_have_the_hash_of_the_report_and_are_read_by_the_code_of_the_documentation(
    told: dict[str, Any], files: dict[str, bytes]
) -> None:
    (run,) = [node["run"] for node in json.loads(files["report.json"])["nodes"] if node["id"] == NODE]
    (kept,) = run["kept_readings"]
    assert hashlib.sha256(files["kept"]).hexdigest() == kept["sha256"] and kept["intact"] is True
    assert files["name"].decode() == f"readings-{kept['sha256'][:12]}.bin"
    read = list(told["read_kept"](files["kept"]))
    first = read[0][1]
    assert [(name.split("\t")[1], (at_ns - first) // S, value) for name, at_ns, value in read if value == value] == [
        ("GPU-a", 0, 350.25), ("GPU-a", 2, 351.5), ("GPU-b", 0, 350.25), ("GPU-b", 2, 351.5),
    ]  # fmt: skip
