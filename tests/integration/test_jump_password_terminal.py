"""On the command line the password of a jump host is asked for in the terminal, by name, and seen by nobody."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration.password_sshds import CODE, PASSWORD, make_password_sshd

__all__ = ["make_password_sshd"]
pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]


def words(server, gate, folder: Path) -> list[str]:
    line = f"ssh -J {gate.address} -p {server.port} -i {server.key_file} {server.address.user}@127.0.0.1"
    return [sys.executable, "-m", "gpulease_gui.cli.main", "verify", line, "--workspace", str(folder / "cli.db"), "--only", "trust.clock",
            "--json", "--fingerprint", server.keys.host_keys()[0].fingerprint]  # fmt: skip


def typed_at_a_terminal(command: list[str], answers: list[tuple[str, str]]) -> str:
    """All that the terminal shows; each answer is typed once its question stands there."""
    return ended_at_a_terminal(command, [(question, f"{answer}\n") for question, answer in answers])[0]


def ended_at_a_terminal(command: list[str], answers: list[tuple[str, str]]) -> tuple[str, int]:
    """As above, with the keys themselves; and the exit status."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(["setsid", "--ctty", "--wait", *command], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown, left, deadline = "", list(answers), time.monotonic() + 90
    try:
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 1.0)[0]:
                continue
            try:
                shown += os.read(ours, 65536).decode()
            except OSError:  # the terminal was left
                break
            if left and left[0][0] in shown:
                os.write(ours, left.pop(0)[1].encode())
        code = process.wait(60)
    finally:
        process.terminate()
        process.wait(60)
        os.close(ours)
    assert not left, shown
    return shown, code


def test_that_a_terminal_asks_for_the_password_of_the_jump_host_and_shows_it_to_nobody(sshd, make_password_sshd, tmp_path):
    gate = make_password_sshd("PasswordAuthentication yes\nPubkeyAuthentication no\n")
    question = f"password of the jump host {gate.address} on the way to {sshd.address} via {gate.address}: "
    shown = typed_at_a_terminal(words(sshd, gate, tmp_path), [(question, "no, wrong"), (f"wrong, try 2 of 3: {question}", PASSWORD)])
    assert '"findings"' in shown and shown.count(question) == 2
    assert PASSWORD not in shown and "no, wrong" not in shown
    assert not any(PASSWORD.encode() in path.read_bytes() for path in tmp_path.glob("cli.db*"))


def test_that_a_terminal_shows_what_the_jump_host_lets_be_seen_and_nothing_else(sshd, make_password_sshd, tmp_path):
    questions = [("Verification code: ", CODE), ("Your name: ", "anna of ops", "shown")]
    gate = make_password_sshd("KbdInteractiveAuthentication yes\nPubkeyAuthentication no\n", questions)
    place = f"for jump host {gate.address.host_port} on the way to {sshd.address} via {gate.address}: "
    asked = [f"{gate.address.host_port} asks: {words} {place}" for words in ("Verification code:", "Your name:")]
    shown = typed_at_a_terminal(words(sshd, gate, tmp_path), [(asked[0], CODE), (asked[1], "anna of ops")])
    assert '"findings"' in shown and f"{asked[1]}anna of ops" in shown and CODE not in shown


@pytest.mark.parametrize(("pressed", "code"), [("\x03", 130), ("\x04", 3)])
def test_that_a_question_can_be_left_by_ctrl_c_and_given_up_by_ctrl_d(sshd, make_password_sshd, tmp_path, pressed, code):
    """Ctrl+C was heard only after an Enter, and Ctrl+D broke the program."""
    gate = make_password_sshd("PasswordAuthentication yes\nPubkeyAuthentication no\n")
    question = f"password of the jump host {gate.address} on the way to {sshd.address} via {gate.address}: "
    shown, ended = ended_at_a_terminal(words(sshd, gate, tmp_path), [(question, pressed)])
    assert ended == code
    assert "Traceback" not in shown and shown.count(question) == 1


def test_that_nobody_is_waited_for_where_there_is_no_terminal(sshd, make_password_sshd, tmp_path):
    gate = make_password_sshd("PasswordAuthentication yes\nPubkeyAuthentication no\n")
    done = subprocess.run(words(sshd, gate, tmp_path), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert f"at jump host {gate.address.host_port} (1 of 1): the jump host refuses this key for this user; no password was given" in done.stdout
