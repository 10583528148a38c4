"""Does the command line say what goes wrong while it watches, and that it was interrupted?"""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpulease_gui.checks.watch_line import Load
from gpulease_gui.cli import watch
from gpulease_gui.cli.main import main
from gpulease_gui.cli.watch_told import AGAIN_S, States, Sums, Troubles, said_of
from gpulease_gui.domain.node import HostKey, Node, Reach
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.failures import UnknownHostKey
from gpulease_gui.services.events import (
    GapOpened,
    LoadChanged,
    NodeState,
    NodeStateChanged,
    ReadingsNotKept,
    WatchAlarm,
)
from gpulease_gui.services.intake import GapSpan, WatchView
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch_driver import SILENT


def test_that_a_full_disk_and_troubles_of_a_source_are_said_once_and_again_when_they_are_over() -> None:
    view, told = WatchView("n1", 1.0), Troubles()
    assert told.changes([view], 0.0) == ()
    view.unsaved, view.troubles = Text("the disk is full", "磁盘已满"), {"gpu": SILENT}
    made = told.changes([view], 1.0)
    assert [(node_id, kind, words.en) for node_id, kind, words in made] == [
        ("n1", "trouble", f"gpu: {SILENT}"), ("n1", "not_kept", "readings are not kept: the disk is full"),
    ]  # fmt: skip
    assert [words.zh for _, _, words in made] == ["gpu：长时间未收到显卡的任何数据", "采样未能保存：磁盘已满"]
    assert told.changes([view], 60.0) == ()
    view.unsaved, view.troubles = NO_TEXT, {}
    view.rings["gpu.power_w", "GPU-a"] = Ring()
    view.rings["gpu.power_w", "GPU-a"].append(1.0, 500.0)
    assert [kind for _, kind, _ in told.changes([view], 61.0)] == ["kept_again", "trouble_over"]
    assert told.changes([view], 120.0) == ()


def test_that_cards_whose_xids_nobody_hears_are_said_once_of_a_node_however_often_it_is_connected_again() -> None:
    view, told = WatchView("n1", 1.0), Troubles()
    view.source_gaps = [GapSpan(1.0, "unheard GPU-a", 9.0, metric="gpu.xid")]
    assert told.changes([view], 10.0) == (), "those of the hour before are heard now"
    view.source_gaps = [GapSpan(10.0, "unheard", metric="gpu.xid")]
    ((node_id, kind, words),) = told.changes([view], 20.0)
    assert (node_id, kind) == ("n1", "unheard") and words.en.startswith("Xid events of cards are not told here") and "未发生" in words.zh
    for view.source_gaps in ([], [GapSpan(40.0, "unheard GPU-b", metric="gpu.xid")]):
        assert told.changes([view], 60.0) == ()


def test_that_a_node_whose_words_change_all_the_time_is_told_of_now_and_then() -> None:
    view, told = WatchView("n1", 1.0), Troubles()
    said = 0
    for tenth in range(100):
        view.troubles = {"gpu": f"odd {tenth}"}
        said += len(told.changes([view], tenth / 10))
    assert said == 10 / AGAIN_S


def test_that_a_source_is_over_its_trouble_once_it_is_read_and_not_because_a_new_connection_has_not_heard_it_yet() -> None:
    view, told = WatchView("n1", 1.0), Troubles()
    view.troubles = {"gpu": "nvidia-smi ended", "npu": "npu-smi is not installed on the node"}
    assert [kind for _, kind, _ in told.changes([view], 0.0)] == ["trouble", "trouble"]
    ring = view.rings["gpu.power_w", "GPU-a"] = Ring()
    ring.append(100.0, math.nan)
    view.troubles = {}  # the line was cut and is back
    assert told.changes([view], 60.0) == ()
    view.troubles = {"npu": "npu-smi is not installed on the node"}
    assert told.changes([view], 70.0) == ()
    ring.append(101.0, 500.0)
    assert [(kind, words.en) for _, kind, words in told.changes([view], 80.0)] == [("trouble_over", "gpu")]


def test_that_a_node_that_can_t_be_reached_is_one_line_for_each_reason_and_not_for_each_try() -> None:
    """Both the connection and the watch over it tell each try, and each try begins with `connecting`."""
    states, why, other = States(), Text("no route to it", "无路由"), Text("it refused", "被拒绝")
    told = [
        (event.state.value, event.reason_text.en) for event in (
            NodeStateChanged("n1", NodeState.CONNECTING), NodeStateChanged("n1", NodeState.CONNECTING), NodeStateChanged("n1", NodeState.CONNECTED),
            NodeStateChanged("n1", NodeState.CONNECTED), NodeStateChanged("n1", NodeState.LOST, "cut", "", Text("cut", "断")),
            *[NodeStateChanged("n1", state, words.en, "", words) for words in (why, why, other, why) for state in (NodeState.REFUSED, NodeState.LOST)],
            NodeStateChanged("n1", NodeState.CONNECTING), NodeStateChanged("n1", NodeState.LOST), NodeStateChanged("n1", NodeState.CONNECTED),
        ) if states.is_new(event)
    ]  # fmt: skip
    assert told == [
        ("connecting", ""), ("connected", ""), ("lost", "cut"), ("refused", "no route to it"), ("refused", "it refused"),
        ("refused", "no route to it"), ("connected", ""),
    ]  # fmt: skip


def test_that_a_host_key_that_nobody_knows_is_said_with_the_flag_that_takes_it_and_a_node_that_may_come_back_without_advice() -> None:
    key = UnknownHostKey("n1:22", HostKey("ssh-ed25519", "SHA256:abc"))
    unknown = NodeStateChanged("n1", NodeState.REFUSED, key.why, key.next_step, key.why_text, key.next_text)
    told = said_of(unknown)
    assert told is not None
    words = told[3]
    assert words.en.endswith("accept it with --fingerprint SHA256:abc") and words.zh.startswith(key.why_text.zh)
    away = Text("no answer within 10 s", "10 s 内无应答")
    step = Text("check the address", "请检查地址")
    told = said_of(NodeStateChanged("n1", NodeState.REFUSED, away.en, step.en, away, step))
    assert told is not None and told[3] == away


def test_that_a_watch_ended_by_the_user_says_so_by_its_code_and_in_both_languages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []

    def interrupts(*given: object, **named: object) -> None:
        told.append(given)
        if len(told) == 1:  # a second one would end it at once
            signal.raise_signal(signal.SIGINT)

    place = tmp_path / "own.db"
    monkeypatch.setattr(watch, "_tell", interrupts)
    monkeypatch.setattr(watch, "_LOOK_S", 60.0)
    assert main(["watch", "local", "--workspace", str(place), "--for", "60", "--json"]) == 130
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(one["event"] for one in said)
    assert (said[-1]["event"], said[-1]["words"].split(":")[0], said[-1]["words_zh"].split("：")[0]) == ("ended", "stopped", "已停止")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_that_a_real_interrupt_of_a_real_process_ends_it_with_130_and_its_last_line_counts(tmp_path: Path, number: signal.Signals) -> None:
    place = tmp_path / "own.db"
    words = [sys.executable, "-m", "gpulease_gui.cli.main", "watch", "local", "--workspace", str(place), "--for", "600"]
    process = subprocess.Popen(  # also where the tests run under nohup
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)
    )
    assert process.stdout is not None
    assert any("connected" in line.split() for line in process.stdout), process.stderr
    process.send_signal(number)
    if number == signal.SIGHUP:
        process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    found = re.fullmatch(r"stopped: (\d+) lines? of readings, (\d+) gaps?, (\d+) events?; what was read and could be written is kept in (.+)", err.splitlines()[-1])
    assert found is not None and found[4] == str(place), err  # it may be connected, and nothing read yet


def test_that_a_watch_under_nohup_outlives_its_terminal(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "gpulease_gui.cli.main", "watch", "local", "--workspace", str(tmp_path / "own.db"), "--for", "600"]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    assert process.stdout is not None
    assert any("connected" in line.split() for line in process.stdout)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)  # the first one would have ended it, so that this ends it at once
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err.startswith("stopped: "), err


@pytest.mark.parametrize("as_json", [True, False])
def test_that_whatever_a_node_says_is_one_line(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    odd = "a\nb\r\x85\u2028\u2029\x1b[31m\x00\u202e\"\\"
    node = Node("n1", odd, Reach.LOCAL)
    event = NodeStateChanged("n1", NodeState.LOST, odd, "", Text(odd, odd))
    watch._tell(event, {"n1": node}, States(), Sums(), {}, as_json=as_json)
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 1 and not set("\x1b\x00\u202e\r\x85") & set(out)
    if as_json:
        said = json.loads(out)
        assert (said["event"], said["node"]) == ("lost", odd) and "\u2028" in said["words"]


def test_that_a_watch_that_is_over_says_so_and_no_more_lines_than_came(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "demo:honest", "--workspace", str(tmp_path / "demo.db"), "--for", "3", "--json"]) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    end = said[-1]
    counts = [sum(one["event"] == kind for one in said) for kind in ("gap", "rule_broken")]
    assert (end["event"], [end["gaps"], end["events"]]) == ("ended", counts) and 1 <= end["lines"] < 100
    assert end["words"].startswith(f"its time is over: {end['lines']} line")
    assert end["words_zh"].startswith(f"时间已到：读数 {end['lines']} 行，空缺 {end['gaps']} 处，事件 {end['events']} 个；")


def test_that_one_gap_is_no_gaps() -> None:
    sums = Sums()
    assert sums.said(Text("stopped", "已停止"), 1234, Path("w")).en.startswith("stopped: 1,234 lines of readings, 0 gaps, 0 events;")
    sums.gaps = sums.events = 1
    assert sums.said(Text("stopped", "已停止"), 1, Path("w")).en.startswith("stopped: 1 line of readings, 1 gap, 1 event;")


def test_that_tests_of_ours_and_evidence_that_is_not_kept_are_told() -> None:
    load = Load("net.rx_gbit_s", 10.0)
    said = [said_of(LoadChanged("n1", load, runs)) for runs in (True, False)]
    assert [(one[0], one[1], one[3]) for one in said if one] == [
        ("n1", kind, Text("a test of ours asks for all of it: Received", "本程序的测试占满：接收")) for kind in ("load_begins", "load_ends")
    ]
    kept = said_of(ReadingsNotKept("n1", "run", Text("the disk is full", "磁盘已满")))
    assert kept is not None
    assert (kept[:2], kept[3].en) == (("n1", "evidence_not_kept"), "readings of a run are not kept as evidence yet: the disk is full")


def test_that_what_is_not_kept_is_said_of_any_node_and_the_rest_of_those_that_are_watched(capsys: pytest.CaptureFixture[str]) -> None:
    sums = Sums()
    for event in (ReadingsNotKept("other", "run", Text("full", "满")), GapOpened("other", 0, "line_lost"), LoadChanged("other", Load("net.rx_gbit_s", 1.0), True)):
        watch._tell(event, {}, States(), sums, {}, as_json=True)
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["node"], one["event"]) for one in said] == [("other", "evidence_not_kept")] and sums.gaps == 0


CARD = "GPU-bbbbbbbb-0000-4000-8000-000000000001"


@pytest.mark.parametrize(("alarm", "kind", "of", "text"), [
    (WatchAlarm("n1", "watch.lost", CARD, 0, None, Text("gone", "丢失")), "rule_broken", ("watch.lost", CARD, "GPU 1"), f"watch.lost, GPU 1, {CARD}"),
    (WatchAlarm("n1", "watch.hot", CARD, 0, 0, Text("gone", "丢失")), "rule_kept_again", ("watch.hot", CARD, "GPU 1"), f"watch.hot, GPU 1, {CARD}"),
    (WatchAlarm("n1", "watch.lost", CARD, 0, 0, Text("gone", "丢失"), cut=True), "rule_unseen", ("watch.lost", CARD, "GPU 1"), f"watch.lost, GPU 1, {CARD}"),
    (WatchAlarm("n1", "watch.lost", "GPU-c" * 4, 0, None, Text("gone", "丢失")), "rule_broken", ("watch.lost", "GPU-c" * 4, "GPU-cGPU-cGP"), f"watch.lost, {'GPU-c' * 4}"),
    (WatchAlarm("n1", "watch.lost", "3/0", 0, None, Text("gone", "丢失")), "rule_broken", ("watch.lost", "3/0", "NPU 3/0"), "watch.lost, NPU 3/0"),
    (WatchAlarm("n1", "watch.driver", "", 0, None, Text("gone", "丢失")), "rule_broken", ("watch.driver", "", ""), "watch.driver"),
])  # fmt: skip
def test_that_what_is_said_of_a_rule_names_the_rule_and_the_card(
    capsys: pytest.CaptureFixture[str], alarm: WatchAlarm, kind: str, of: tuple[str, str, str], text: str
) -> None:
    nodes = {"n1": Node("n1", "node", Reach.LOCAL)}
    for as_json in (True, False):
        watch._tell(alarm, nodes, States(), Sums(), {CARD: 1}, as_json=as_json)
    as_json_line, as_text = capsys.readouterr().out.splitlines()
    said = json.loads(as_json_line)
    assert (said["event"], said["rule"], said["subject"], said["card"], said["words"]) == (kind, *of, "gone")
    assert as_text == f"1970-01-01T00:00:00Z node: {kind}: {text}: gone"


def test_that_gaps_that_no_event_told_are_counted_at_the_end() -> None:
    quiet, full, sums = WatchView("n1", 1.0, holes=2), WatchView("n2", 1.0, unsaved=Text("the disk is full", "磁盘已满")), Sums()
    sums.count_stored([WatchView("n3", 1.0)])
    assert sums.gaps == 0
    sums.count_stored([quiet, full])
    assert sums.gaps == 3 and ", 3 gaps, " in sums.said(Text("stopped", "已停止"), 5, Path("own.db")).en
    sums.gaps = 4
    sums.count_stored([quiet, full])
    assert sums.gaps == 4, "what was told counts"
