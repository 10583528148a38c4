"""Is an event of a bundle refused when its verdict, times or figure are not those of its own words, evidence and marks?"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.services.events import Bus
from gpulease_gui.services.exchange import apply_merge, export_bundle, merge_in, valid_bundle
from gpulease_gui.services.watch_rules import RuleKeeper
from gpulease_gui.store import nodes
from gpulease_gui.store.exchange.bundle_schema import parse_bundle
from gpulease_gui.store.workspace import Workspace
from gpulease_gui.telemetry.source import Point

CATALOGUE = load_catalogue()
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
NODE = Node("n1", "节点 7", Reach.SSH, Address("10.0.0.7", 22, "ops"))
MONTH_NS = 30 * 86_400 * 1_000_000_000


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[str], Workspace]]:
    made: list[Workspace] = []

    def one(name: str) -> Workspace:
        made.append(Workspace.open(tmp_path / f"{name}.db"))
        return made[-1]

    yield one
    for workspace in made:
        workspace.close()


@pytest.fixture
def said(opened: Callable[[str], Workspace]) -> dict:
    """A bundle with the events of a card that is throttled, then lost for 38 s, as the rules write them."""
    here = opened("here")
    here.submit(lambda db: nodes.save_node(db, NODE)).result(30)
    rules, at_s = RuleKeeper(here, Bus(), CATALOGUE, lambda: NOW.timestamp()).of(NODE), NOW.timestamp() + 0.25
    rules.renew()
    for second in range(120):
        is_lost, mask = 40 <= second < 78, 0x40 if second < 20 else 0
        told = [Point("gpu.event_reasons", "GPU-a", mask, 0), Point("gpu.clock_sm_mhz", "GPU-a", 1500.0 + second, 0), Point("gpu.power_w", "GPU-a", 350.0, 0)]
        rules.take([Point("gpu.power_w", "GPU-a", None, 0, "GPU is lost")] if is_lost else told, at_s + second)
    rules.unseen(at_s + 120)
    here.submit(lambda db: None).result(30)
    with here.read() as connection:
        return json.loads(export_bundle(connection, at=NOW, demo=False))


def taken(workspace: Workspace, said: dict) -> list[str]:
    bundle = valid_bundle(parse_bundle(json.dumps(said).encode()), CATALOGUE)
    with workspace.read() as connection:
        merge = merge_in(connection, bundle, demo=False)
    workspace.submit(lambda db: apply_merge(db, merge, "theirs.json")).result(30)
    return rules_in(workspace)


def rules_in(workspace: Workspace) -> list[str]:
    with workspace.read() as connection:
        return [rule for (rule,) in connection.execute("SELECT rule FROM watch_events ORDER BY rule")]


def event(said: dict, rule: str) -> dict:
    return next(one for one in said["watch_events"] if one["rule"] == rule)


def finding(said: dict, rule: str, **changes: object) -> None:
    one = event(said, rule)
    one["document"] = json.dumps({**json.loads(one["document"]), **changes})


def moved(said: dict, rule: str, field: str, by_ns: int) -> None:
    event(said, rule)[field] = str(int(event(said, rule)[field]) + by_ns)


def no_words(said: dict, rule: str) -> None:
    """The finding says no times any more, and no mark does."""
    finding(said, rule, reason={"en": "it is bad", "zh": "异常"})
    said["marks"] = []


def evidence(said: dict, rule: str, old: bytes, new: bytes) -> None:
    """Other evidence, with the hash that it has then."""
    one = event(said, rule)
    content = zlib.decompress(base64.b64decode(said["contents"][one["sha256"]])).replace(old, new)
    sha256 = hashlib.sha256(content).hexdigest()
    said["contents"].pop(one["sha256"])
    said["contents"][sha256] = base64.b64encode(zlib.compress(content)).decode()
    one["sha256"] = sha256
    finding(said, rule, evidence=[sha256])


def test_that_events_as_the_rules_write_them_are_taken(opened, said):
    assert taken(opened("there"), said) == ["watch.lost", "watch.throttled"]


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("(GPU lost): its verdict is “Pass”, its rule gives “Fail”", lambda said: finding(said, "watch.lost", verdict="pass")),
        ("its verdict is “Warning”, its rule gives “Fail”", lambda said: finding(said, "watch.throttled", verdict="warn")),
        ("degraded time is not what its rule says", lambda said: event(said, "watch.lost").update(degraded=0)),
        ("it begins at 2026-11-01 09:00:40 UTC, its finding says since 2026-12-01 09:00:40 UTC", lambda said: moved(said, "watch.lost", "began_ns", -MONTH_NS)),
        ("it lasts 138 s, its finding says for 38 s", lambda said: moved(said, "watch.lost", "ended_ns", 100_000_000_000)),
        ("it ends at 2026-12-01 09:02:58 UTC, its mark says 2026-12-01 09:01:18 UTC", lambda said: (
            finding(said, "watch.lost", reason={"en": "it is bad", "zh": "异常"}), moved(said, "watch.lost", "ended_ns", 100_000_000_000))),
        ("it begins at 2026-11-01 09:00:00 UTC, the first reading of its evidence is of 2026-12-01 09:00:00 UTC", lambda said: (
            no_words(said, "watch.throttled"), moved(said, "watch.throttled", "began_ns", -MONTH_NS))),
        ("it begins at 2026-12-01 09:00:45 UTC, the first reading of its evidence is of 2026-12-01 09:00:40 UTC", lambda said: (
            no_words(said, "watch.lost"), moved(said, "watch.lost", "began_ns", 5_000_000_000))),
        ("it measured 15, which is none of the readings of its evidence", lambda said: finding(said, "watch.throttled", measured=15.0)),
        ("its evidence is of the card GPU-z, it is of GPU-a", lambda said: evidence(said, "watch.lost", b"GPU-a", b"GPU-z")),
        ("its evidence is of the rule watch.hot, it is of watch.lost", lambda said: evidence(said, "watch.lost", b"watch.lost", b"watch.hot")),
    ],
)  # fmt: skip
def test_that_an_event_that_contradicts_itself_is_refused_with_what_and_where(opened, said, words, change):
    there, id_ = opened("there"), {one["rule"]: one["id"] for one in said["watch_events"]}
    change(said)
    with pytest.raises(UserFacing) as trouble:
        taken(there, said)
    assert words in trouble.value.why
    assert any(trouble.value.why.startswith(f"watch_events {one[:40]} (") for one in id_.values())
    assert (trouble.value.what, trouble.value.what_text.zh) == ("an event of the bundle contradicts itself", "数据包中的一条事件自相矛盾")
    assert "export it anew" in trouble.value.next_step and "重新导出" in trouble.value.next_text.zh
    assert rules_in(there) == []


def test_that_the_chinese_words_alone_contradict_it_too(opened, said):
    one = json.loads(event(said, "watch.lost")["document"])
    finding(said, "watch.lost", reason={"en": one["reason"]["en"], "zh": one["reason"]["zh"].replace("38 秒", "3800 秒")})
    with pytest.raises(UserFacing) as trouble:
        taken(opened("there"), said)
    assert "它持续 38 秒，检查结果写持续 3800 秒" in trouble.value.why_text.zh
