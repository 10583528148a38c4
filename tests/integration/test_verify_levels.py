"""Levels, profiles and single checks of `gpulease verify`, against a real sshd and the simulated nodes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.checks.check import rules
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.services.acceptance import acceptance_in
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.joined import joined_in
from gpulease_gui.services.outcome import Outcome
from gpulease_gui.services.plan import Level
from gpulease_gui.services.targets import node_of
from gpulease_gui.services.verify import Request
from gpulease_gui.store import runs

MOST_S = {Level.TRUST: 15, Level.INVENTORY: 30}


def gpulease(*words: str) -> subprocess.CompletedProcess[str]:
    words = (sys.executable, "-m", "gpulease_gui.cli.main", *words)
    return subprocess.run(words, capture_output=True, text=True, timeout=100)


def verify(services: Services, target: str, request: Request) -> Outcome:
    return services.verification.run(node_of(services.workspace, target, ""), request, CancelToken())


@pytest.mark.parametrize("level", MOST_S)
def test_that_a_demo_node_is_looked_at_within_the_time_of_its_level(demo: Services, level: Level) -> None:
    started = time.monotonic()
    outcome = verify(demo, "demo:honest", Request(level=level))
    assert time.monotonic() - started < MOST_S[level]
    wanted = {id_ for id_, rule in rules().items() if rule.check.level <= level.number and rule.check.takes_s == 0}
    assert {finding.check for finding in outcome.findings} == wanted


@pytest.mark.sshd
@pytest.mark.parametrize("level", MOST_S)
def test_that_a_real_node_is_looked_at_within_the_time_of_its_level(
    level: Level, make_sshd: Callable[..., Any], tmp_path: Path
) -> None:
    server = make_sshd()
    services = open_services(tmp_path / "w.db", fingerprints=tuple(key.fingerprint for key in server.keys.host_keys()))
    try:
        node = node_of(services.workspace, str(server.address), server.key_file)
        started = time.monotonic()
        outcome = services.verification.run(node, Request(level=level), CancelToken())
        assert time.monotonic() - started < MOST_S[level] and outcome.error is None
        assert "trust.preload" in {f.check for f in outcome.findings}
    finally:
        services.close()


def test_that_a_single_check_joins_the_last_run_and_rewrites_nothing(demo: Services) -> None:
    whole = verify(demo, "demo:capped", Request({"gpu.power_w": 700}))
    part = verify(demo, "demo:capped", Request({"gpu.power_w": 400}, only=("power.limit",)))
    assert (whole.overall, part.overall) == (Verdict.FAIL, Verdict.PASS)
    assert whole.run is not None and part.run is not None
    node_id = node_of(demo.workspace, "demo:capped", "").id
    with demo.workspace.read() as connection:
        stored = runs.get_run(connection, part.run)
        assert (stored.joins, runs.get_run(connection, whole.run).overall) == (whole.run, Verdict.FAIL)
        assert [run.id for run in runs.list_runs(connection, node_id=node_id)] == [whole.run]
        assert [run.id for run in runs.list_runs(connection, node_id=node_id, parts=True)] == [part.run, whole.run]
        joined = joined_in(connection, whole.run)
        assert joined.reruns["power.limit"].run.id == part.run
        assert [f.verdict for f in joined.findings if f.check == "power.limit"] == [Verdict.PASS]
        assert len(joined.findings) == len(whole.findings)


def test_that_a_passed_part_accepts_no_node(demo: Services) -> None:
    node = node_of(demo.workspace, "demo:honest", "")
    assert node.contract_id is not None
    only = Request({"gpu.count": 8}, node.contract_id, only=("gpu.count",))
    assert verify(demo, "demo:honest", only).overall is Verdict.PASS
    with demo.workspace.read() as connection:
        mine = next(n for n in acceptance_in(connection, node.contract_id).nodes if n.node_id == node.id)
        assert mine.overall is None


def test_that_a_check_that_is_asked_again_needs_only_its_own_facts(demo: Services) -> None:
    outcome = verify(demo, "demo:capped", Request(only=("gpu.count",)))
    with demo.workspace.read() as connection:
        from gpulease_gui.store.evidence import list_run_evidence

        assert outcome.run is not None
        read = {line.fact_id for line in list_run_evidence(connection, outcome.run)}
    assert read == {"smi_xml", "smi_list", "clock_now"}


def test_that_loads_are_named_before_they_start_and_long_ones_need_their_own_word(tmp_path: Path) -> None:
    where = ("--workspace", str(tmp_path / "w.db"))
    named = gpulease("verify", "demo:slow-net-a", "--check", "net.iperf_multi", "--seconds", "1", *where, "--json")
    said = named.stderr.splitlines()
    assert said[0].startswith("loads the node: net.iperf_multi: nothing; the line between the two nodes is full")
    assert {f["check"] for f in json.loads(named.stdout)["findings"]} == {"net.iperf_multi"}
    for words, why in (
        (("--sustained",), "--sustained belongs to --level load"),
        (("--only", "gpu.count", "--heavy"), "--only and --check name every check"),
        (("--profile", "gaming"), "there is no profile 'gaming'"),
    ):
        done = gpulease("verify", "demo:honest", *words, *where)
        assert done.returncode == 64 and why in done.stderr


def test_that_what_a_profile_leaves_out_is_listed_as_not_run(tmp_path: Path) -> None:
    done = gpulease("verify", "demo:no-nvlink", "--profile", "graphics", "--workspace", str(tmp_path / "w.db"), "--json")
    told = json.loads(done.stdout)
    assert told["not_run"]["drv.gdr"] == "not_run" and "drv.gdr" not in {f["check"] for f in told["findings"]}
    assert "not run: drv.gdr: not part of the profile" in done.stderr
    listed = gpulease("profiles", "--json")
    assert [row["id"] for row in json.loads(listed.stdout)] == ["finetune", "fp64", "graphics", "inference"]
