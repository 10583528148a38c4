"""A node that lets us in and runs nothing, or floods: is it told with its reason, and asked again?"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gpulease_gui.cli.main import main
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import Event, NodeState, NodeStateChanged
from gpulease_gui.services.fleet_rest import unanswered, unanswered_words
from gpulease_gui.services.fleet_run import FleetRun, Phase
from gpulease_gui.services.verify import Request
from gpulease_gui.store import nodes
from gpulease_gui.store.records import RunState
from gpulease_gui.store.runs import list_runs

pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]
NOLOGIN = "ForceCommand echo This account is currently not available.; exit 1\n"
ENDED = "the node ended our commands without an output of theirs"


def saved(services: Services, server) -> Node:
    node = Node("n1", "node-07", address=server.address, identity_file=server.key_file)
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    services.links.trust(node, server.keys.host_keys()[0], "the test")
    return node


@pytest.mark.parametrize(
    ("forced", "why"),
    [
        (NOLOGIN, f"{ENDED}; it said: This account is currently not available."),
        ("ForceCommand /bin/false\n", ENDED),
        ("ForceCommand yes '<b>x</b>\x1b[2J'\n", "the node sends without end what belongs to no command; it said: <b>x</b>"),
    ],
)
def test_that_a_node_that_runs_nothing_is_not_reached_with_its_words_and_is_asked_again(services, make_sshd, forced, why, tmp_path, capsys):
    node, heard = saved(services, make_sshd(forced)), list[Event]()
    services.bus.subscribe(heard.append)
    fleet = FleetRun(services, [node], lambda connection, node: Request(only=("trust.clock",)))
    fleet.start("the test").job.done.result(60)
    (line,) = fleet.lines()
    fleet.close()
    assert (line.phase, line.answered, fleet.left) == (Phase.NOT_REACHED, 0, ("n1",))
    assert line.reason.en.startswith(f"opening a channel: {why}") and len(line.reason.en) < 400
    assert "\x1b" not in line.reason.en and "\n" not in line.reason.en
    assert line.reason.zh.startswith("打开通道：节点") and line.next_step.en and line.next_step.zh != line.next_step.en
    told = [event for event in heard if isinstance(event, NodeStateChanged)][-1]
    assert (told.state, told.reason_text.en.startswith(why)) == (NodeState.REFUSED, True)
    with services.workspace.read() as connection:
        assert [run.state for run in list_runs(connection, node_id="n1", parts=True)] == [RunState.INTERRUPTED]
    words = ["verify", "node-07", "--workspace", str(tmp_path / "w.db"), "--only", "trust.clock", "--json"]
    assert main(words) == 3
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["phase"] == "channel" and error["reason"].startswith(why)


def test_that_a_node_whose_outputs_come_is_done(services, sshd):
    fleet = FleetRun(services, [saved(services, sshd)], lambda connection, node: Request(only=("trust.clock",)))
    fleet.start("the test").job.done.result(60)
    (line,) = fleet.lines()
    fleet.close()
    assert (line.phase, line.reason.en, fleet.left) == (Phase.DONE, "", ())


def test_that_what_was_cut_off_is_told_and_asked_again():
    def finding(check: str, code: str = "", verdict: Verdict = Verdict.INCONCLUSIVE) -> Finding:
        return Finding(check, verdict, Text("", ""), reason_code=code)

    cut = [finding(f"c{n}", Reason.CUT_OFF) for n in range(4)]
    found = [*cut, finding("t", Reason.TIMEOUT), finding("d", Reason.DENIED), replace(cut[0], verdict=Verdict.FAIL, check="f")]
    assert unanswered(found) == {"c0", "c1", "c2", "c3", "t"}
    words, step = unanswered_words(found)
    assert words.en == "5 checks have no answer (were cut off: the node sent more than is kept: c0, c1, c2 +1; ran into the time limit: t)"
    assert words.zh == "5 项检查没有结果（输出过多被截断：c0, c1, c2 +1；超时：t）"
    assert "only these" in step.en and unanswered_words([finding("d", Reason.DENIED)])[0].en == ""
