"""What trips others up over SSH, provoked on a real server: failures in a row, broken tools, names that lead elsewhere."""

from __future__ import annotations

import json
import os
import sys
import threading
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from gpulease_gui.cli.main import main
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import HostKey, Node
from gpulease_gui.domain.term import TermValue
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust
from gpulease_gui.remote.session import Connector
from gpulease_gui.services.composition import Services
from gpulease_gui.services.verify import Request
from gpulease_gui.store.evidence import get_content
from gpulease_gui.store.nodes import save_node

from .conftest import SshServer, children

pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]

OTHER = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)
CARD = "GPU-aaaa0000-0000-4000-8000-000000000000"
NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running.\n"
)
# Of an older driver: it knows fewer fields, by older names, and refuses the whole query for one that it does not know.
OLD_TOOL = """
echo "$1" >> {calls}
knows=" index uuid utilization.gpu utilization.memory memory.used power.draw temperature.gpu clocks.sm clocks.mem clocks_throttle_reasons.active "
case "$*" in
  --help-query-gpu) for field in $knows; do printf '"%s"\\nwords\\n\\n' "$field"; done; exit;;
  --query-gpu=*)
    fields=${{1#--query-gpu=}}
    for field in $(echo "$fields" | tr , ' '); do
      case $knows in *" $field "*) ;; *) printf 'Field "%s" is not a valid field to query.\\n\\n' "$field"; exit 2;; esac
    done
    case "$*" in
      *-lms*) echo '0, {card}, 97, 41, 71680, 301.50, 63, 1755, 2619, 0x0000000000000004'; exec sleep 60;;
      *) echo '0, {card}';;
    esac;;
  *) echo 'Invalid combination of input arguments.'; exit 2;;
esac
"""


def tool(folder: Path, name: str, script: str) -> dict[str, str]:
    """A program that the node's sessions find first: their environment."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n" + script)
    (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def saved(services: Services, server: SshServer) -> Node:
    node = Node("n1", "node-07", address=server.address, identity_file=server.key_file)
    services.workspace.submit(lambda db: save_node(db, node)).result()
    services.links.trust(node, server.keys.host_keys()[0], "the test")
    return node


def found(services: Services, node: Node, check: str, terms: dict[str, TermValue]) -> Finding:
    (finding,) = services.verification.run(node, Request(terms, only=(check,)), CancelToken()).findings
    return finding


def test_that_ux_08_fifty_refused_host_keys_leave_no_thread_no_socket_and_no_session_on_the_node(make_sshd, until):
    server, connector = make_sshd(), Connector()
    assert server.process is not None
    handles, threads = len(os.listdir("/proc/self/fd")), set(threading.enumerate())
    told: Counter[str] = Counter()
    for number in range(50):
        trust = HostTrust((OTHER,)) if number % 2 else HostTrust()
        with pytest.raises(ConnectFailed) as caught:
            connector.connect(server.address, server.credentials, trust, Deadlines(), CancelToken())
        told[type(caught.value).__name__] += 1
    assert told == {"HostKeyChanged": 25, "UnknownHostKey": 25}
    assert until(lambda: set(threading.enumerate()) == threads)
    assert len(os.listdir("/proc/self/fd")) == handles
    assert until(lambda: children(server.process.pid) == [])


def test_that_ux_25_a_tool_without_its_driver_is_told_as_that_with_its_words_as_evidence(services, make_sshd, tmp_path):
    server = make_sshd(env=tool(tmp_path / "tools", "nvidia-smi", f"printf '%s' \"{NO_DRIVER}\"\nexit 9\n"))
    finding = found(services, saved(services, server), "gpu.count", {"gpu.count": 8})
    assert (finding.verdict, finding.reason_code, finding.measured) == (Verdict.INCONCLUSIVE, "driver_not_communicating", None)
    assert finding.reason.en != finding.reason.zh and finding.next_step.en
    with services.workspace.read() as connection:
        kept = [get_content(connection, sha256) for sha256 in finding.evidence]
    assert NO_DRIVER.encode() in kept


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this computer has an NVIDIA driver")
@pytest.mark.parametrize("way", ["agent", "scripts"])
def test_that_ux_26_an_older_driver_is_asked_once_for_its_fields_and_then_only_for_those(services, make_sshd, tmp_path, until, way):
    calls = tmp_path / "calls"
    env = tool(tmp_path / "tools", "nvidia-smi", OLD_TOOL.format(calls=calls, card=CARD))
    none = 'ForceCommand case "$SSH_ORIGINAL_COMMAND" in python3*) exit 127;; *) eval "exec $SSH_ORIGINAL_COMMAND";; esac\n'
    server = make_sshd(none if way == "scripts" else "", env=env)
    view = services.watching.start(saved(services, server))
    try:
        assert until(lambda: ("gpu.power_w", CARD) in view.rings and view.rings["gpu.power_w", CARD].last, 20), view.troubles
        assert view.by_agent is (way == "agent")
        told = {metric: ring.last[1] for (metric, card), ring in view.rings.items() if card == CARD and ring.last}
        assert (told["gpu.power_w"], told["gpu.clock_sm_mhz"], told["gpu.event_reasons"]) == (301.5, 1755.0, 4.0)
    finally:
        services.watching.close()
    fields = "index,uuid,utilization.gpu,utilization.memory,memory.used,power.draw,temperature.gpu,clocks.sm,clocks.mem"
    assert calls.read_text().splitlines() == ["--help-query-gpu", f"--query-gpu={fields},clocks_throttle_reasons.active"]


def test_that_ux_26_what_an_older_driver_cannot_tell_is_unknown_and_no_refused_query(services, make_sshd, tmp_path):
    calls = tmp_path / "calls"
    server = make_sshd(env=tool(tmp_path / "tools", "nvidia-smi", OLD_TOOL.format(calls=calls, card=CARD)))
    finding = found(services, saved(services, server), "gpu.compute_capability", {"gpu.model": "nvidia-h100-sxm5-80gb"})
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert [call for call in calls.read_text().splitlines() if "query" in call] == ["--help-query-gpu", "--query-gpu=index,uuid"]


# A node that answers every question, and beside that sends outputs under names of its own choice.
HOSTILE_NAMES = "../../../planted", "{folder}/planted", "CON", "nul.txt", "clock_now/../planted", ".", "a\\nb", "x" * 64
HOSTILE = """
import os, sys
head = sys.stdin.buffer.readline().decode()
if "gpulease-collect" not in os.environ["SSH_ORIGINAL_COMMAND"]:
    sys.exit(1)
mark, *wanted = head.split()[2:]
def send(name, text):
    sys.stdout.write("%s %s 0 0.1 %d 0 0 0\\n%s" % (mark, name, len(text), text))
for name in {names!r}:
    send(name, "planted\\n")
for name in wanted:
    send(name, "planted\\n")
    send(name, "planted once more\\n")
print(mark, "END", flush=True)
"""


def test_that_ux_29_no_name_that_a_node_chooses_and_no_planted_link_leads_a_file_elsewhere(
    make_sshd, tmp_path, monkeypatch, capsys
):
    (tmp_path / "hostile.py").write_text(HOSTILE.format(names=[name.format(folder=tmp_path) for name in HOSTILE_NAMES]))
    server = make_sshd(f"ForceCommand {sys.executable} {tmp_path / 'hostile.py'}\n")
    here, victim = tmp_path / "a" / "b" / "c", tmp_path / "victim"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    victim.write_text("mine")
    for name in ("evidence.zip", "evidence.zip.part", ".evidence.zip.part"):
        (here / name).symlink_to(victim)
    words = ["verify", str(server.address), "--identity", server.key_file, "--fingerprint", server.keys.host_keys()[0].fingerprint,
             "--only", "gpu.count", "--workspace", str(tmp_path / "w.db"), "--bundle", "evidence.zip", "--json"]  # fmt: skip
    before = {path for path in tmp_path.rglob("*") if "sshd" not in str(path)}
    assert main(words) == 2
    assert {f["verdict"] for f in json.loads(capsys.readouterr().out)["findings"]} == {"inconclusive"}
    assert victim.read_text() == "mine" and not (here / "evidence.zip").is_symlink()
    after = {path for path in tmp_path.rglob("*") if "sshd" not in str(path)}
    assert {path for path in after - before if path.parent != tmp_path or not path.name.startswith("w.db")} == set()
    with zipfile.ZipFile(here / "evidence.zip") as bundle:
        outputs = {name for name in bundle.namelist() if name.startswith("outputs/")}
        assert set(bundle.namelist()) - outputs == {"manifest.json", "verdict.json"}
        # The first output under a name that was asked for counts; what came under others was dropped.
        assert {bundle.read(name) for name in outputs} <= {b"planted\n", b""}
    assert all(len(name) == len("outputs/") + 64 and name[8:].isalnum() for name in outputs)
