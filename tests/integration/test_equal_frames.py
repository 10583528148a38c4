"""The simulated nodes speak as a real shell behind a real sshd does."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.demo.answers import answer
from gpulease_gui.demo.nodes import demo_nodes
from gpulease_gui.demo.server import DemoServer
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.frame import Frame
from gpulease_gui.domain.node import AuthMethod
from gpulease_gui.facts.fact import readers
from gpulease_gui.remote.collect import collect
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust
from gpulease_gui.remote.session import Connector
from gpulease_gui.remote.transport import Line

# Facts that one tool answers: here a stand-in can print what the simulated node prints.
NOW = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
TOOLS = {"smi_xml": "nvidia-smi", "smi_list": "nvidia-smi", "topo": "nvidia-smi", "nvlink": "nvidia-smi", "npu_smi": "npu-smi"}


def frames_of(line: Line) -> dict[str, tuple[int | None, bytes, bytes, bool]]:
    found: dict[str, tuple[int | None, bytes, bytes, bool]] = {}

    def take(frame: Frame) -> None:
        out = frame.output
        found[frame.id] = (out.exit_code, out.stdout, out.stderr, out.stdout_cut)

    end = collect(line, [readers()[id_].fact for id_ in TOOLS], take, CancelToken())
    assert end.complete and not end.missing
    return found


def stand_ins(folder: Path, node: str) -> None:
    cases: dict[str, list[str]] = {}
    for fact, tool in TOOLS.items():
        output = answer(demo_nodes()[node], fact, NOW)
        if output.exit_code == 127:
            continue
        (folder / fact).write_bytes(output.stdout)
        command = readers()[fact].fact.command
        assert command is not None
        cases.setdefault(tool, []).append(f'  "{" ".join(command.argv[1:])}") exec cat {folder / fact} ;;\n')
    for tool, lines in cases.items():
        path = folder / tool
        path.write_text("#!/bin/sh\ncase \"$*\" in\n" + "".join(lines) + "esac\n")
        path.chmod(0o755)


@pytest.mark.sshd
@pytest.mark.parametrize("node", ["honest", "ascend"])
def test_that_simulated_and_real_shell_give_equal_frames(node: str, make_sshd: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    stand_ins(folder, node)
    server = make_sshd(env={"PATH": f"{folder}:{os.environ['PATH']}"})
    with server.connect() as session:
        real = frames_of(session)
    with DemoServer({node: demo_nodes()[node]}, pace=0, now=NOW) as demo:
        credentials = Credentials(AuthMethod.KEY, str(demo.client_key_path))
        trust = HostTrust((demo.host_key(node),))
        with Connector().connect(demo.address(node), credentials, trust, Deadlines(), CancelToken()) as session:
            simulated = frames_of(session)
    assert simulated == real
