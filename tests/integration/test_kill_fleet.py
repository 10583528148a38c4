"""Kill -9 in the middle of a verification of many real nodes: what was shown is kept, nothing is left on a node, what is done is not asked again."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from gpulease_gui.domain.node import Address, AuthMethod, Node, Reach
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import visible
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.fleet_run import FleetRun, Phase
from gpulease_gui.services.outcome import finding_line
from gpulease_gui.services.run_view import prepare
from gpulease_gui.store import nodes as stored
from gpulease_gui.store import runs
from gpulease_gui.store.records import RunState

pytestmark = pytest.mark.sshd

# Says each finding as it is shown, and when all nodes but the last are over.
CHILD = """
import sys, time
from pathlib import Path
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.fleet_run import FleetRun
from gpulease_gui.services.outcome import finding_line
from gpulease_gui.services.run_view import prepare
from gpulease_gui.store.nodes import list_nodes
services = open_services(Path(sys.argv[1]))
with services.workspace.read() as connection:
    nodes = list_nodes(connection)
run = FleetRun(services, nodes, lambda connection, found: prepare(connection, found.id)[1],
               on_finding=lambda node, finding: print("said", finding_line(finding), flush=True))
run.start("all")
while sum(line.is_over for line in run.lines()) < len(nodes) - 1:
    time.sleep(0.05)
print("now", flush=True)
time.sleep(600)
"""


@pytest.mark.timeout(300)
def test_that_a_killed_fleet_keeps_what_was_shown_and_asks_again_only_what_is_not_done(sshd, make_sshd, marker, tmp_path: Path, until, home) -> None:
    stuck = make_sshd(f"ForceCommand echo hello; sleep {marker.seconds} & cat >/dev/null; kill $!\n")
    path, since = tmp_path / "fleet.db", utc_now() - timedelta(seconds=1)
    fleet = [
        Node(name, name, Reach.SSH, Address("127.0.0.1", port, sshd.address.user), auth=AuthMethod.KEY, identity_file=sshd.key_file)
        for name, port in (("dead", 1), ("one", sshd.port), ("stuck", stuck.port))
    ]
    services = open_services(path)
    for node in fleet:
        services.workspace.submit(lambda db, node=node: stored.save_node(db, node)).result()
        services.links.trust(node, sshd.keys.host_keys()[0], "test")
    services.close()

    with subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        shown = []
        for line in child.stdout:
            if line == "now\n":
                break
            shown.append(line.removeprefix("said ").rstrip("\n"))
        assert marker.seen()
        child.kill()
    assert len(shown) > 20
    assert marker.gone()

    services = open_services(path)
    try:
        with services.workspace.read() as connection:
            kept = runs.list_runs(connection)
            saved = {visible(finding_line(f.finding)) for run in kept for f in runs.list_findings(connection, run.id)}
        assert {visible(line) for line in shown} <= saved
        assert {run.node_id: run.state for run in kept} == {"one": RunState.FINISHED, "stuck": RunState.INTERRUPTED}
        asked: list[str] = []
        again = FleetRun(services, fleet, lambda connection, found: prepare(connection, found.id)[1], since=since,
                         on_outcome=lambda node, outcome: asked.append(node.id))  # fmt: skip
        whole = again.start("the rest")
        assert until(lambda: marker.seen() and "dead" in asked, 30)
        again.cancel_all()
        whole.job.done.result()
        assert sorted(asked) == ["dead", "stuck"]
        assert {line.node.id: line.phase for line in again.lines()} == {"dead": Phase.NOT_REACHED, "one": Phase.DONE, "stuck": Phase.CANCELLED}
        again.close()
        assert marker.gone()
    finally:
        services.close()
