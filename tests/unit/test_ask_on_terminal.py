"""How does the command line ask for a secret?"""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.cli.terminal_secret import DESK, Desk
from gpulease_gui.cli.verify import ask_on_terminal
from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.services.ways import SecretAsked

NODE = Node("n1", "node-01", Reach.SSH, Address("203.0.113.1"))


@pytest.fixture
def prompts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a terminal shows; what was typed is the last prompt's length, or nothing where it says `nothing`."""
    seen: list[str] = []

    def typed(prompt: str, withdrawn: Callable[[], bool], *, shown: bool, who: str) -> str | None:
        assert not shown and who == "n1"
        seen.append(prompt)
        return None if "Ctrl+D" in prompt else "" if "nothing" in prompt else str(len(prompt))

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(DESK, "ask", typed)
    return seen


def test_that_the_prompt_names_the_file_the_jump_host_and_the_try(prompts: list[str]) -> None:
    assert ask_on_terminal(NODE, SecretAsked("passphrase of /k/a")) == Secret("54")
    ask_on_terminal(NODE, SecretAsked("passphrase of /k/gate", "gw:2222", 3))
    assert prompts == [
        "passphrase of /k/a for node-01 (root@203.0.113.1:22): ",
        "wrong, try 3 of 3: passphrase of /k/gate for jump host gw:2222 on the way to node-01 (root@203.0.113.1:22): ",
    ]


def test_that_the_password_of_a_jump_host_is_asked_for_by_its_name_and_login(prompts: list[str]) -> None:
    ask_on_terminal(NODE, SecretAsked("password of the jump host ops@gw:2222", "gw:2222", 2))
    ask_on_terminal(NODE, SecretAsked("password"))
    assert prompts == [
        "wrong, try 2 of 3: password of the jump host ops@gw:2222 on the way to node-01 (root@203.0.113.1:22): ",
        "password for node-01 (root@203.0.113.1:22): ",
    ]


def test_that_two_machines_of_one_address_are_asked_for_with_other_words(prompts: list[str]) -> None:
    """The password of one went to the other: the question named neither the record nor the way."""
    for node in (replace(NODE, name="dupA", jump="s0"), replace(NODE, name="dupB", jump="s4", proxy="socks5://p:1080")):
        ask_on_terminal(node, SecretAsked("password"))
    assert prompts == [
        "password for dupA (root@203.0.113.1:22 via s0): ",
        "password for dupB (root@203.0.113.1:22 via s4, proxy socks5://p:1080): ",
    ]


def test_that_the_words_of_a_question_are_one_bounded_line(prompts: list[str]) -> None:
    ask_on_terminal(replace(NODE, name="a" * 500 + "\n\x1b[2J", jump="j" * 999), SecretAsked("gw:22 asks: " + "x" * 9999))
    assert len(prompts[0]) < 850 and prompts[0].isprintable()


@pytest.mark.parametrize("name", ["root@203.0.113.1:22", "root@203.0.113.1", "203.0.113.1:22", "203.0.113.1"])
def test_that_a_record_called_by_its_address_is_not_named_twice(name: str, prompts: list[str]) -> None:
    ask_on_terminal(replace(NODE, name=name), SecretAsked("password"))
    assert prompts == ["password for root@203.0.113.1:22: "]


def test_that_an_empty_passphrase_gives_the_key_up_and_an_empty_answer_is_one(prompts: list[str]) -> None:
    assert ask_on_terminal(NODE, SecretAsked("passphrase of nothing")) is None
    assert ask_on_terminal(NODE, SecretAsked("gw:22 asks: nothing")) == Secret("")
    assert ask_on_terminal(NODE, SecretAsked("gw:22 asks: Ctrl+D")) is None


def test_that_words_of_a_node_do_nothing_to_the_terminal(prompts: list[str]) -> None:
    ask_on_terminal(NODE, SecretAsked("gw:22 asks: \x1b]0;x\x07Code:"))
    assert "\x1b" not in prompts[0] and "Code:" in prompts[0]


class Typist:
    """Sits at a terminal: sees what it shows, types."""

    def __init__(self) -> None:
        self.fd, self.theirs = pty.openpty()
        self.desk = Desk(os.ttyname(self.theirs), settle_s=0.3)
        self.seen = ""

    def reads_to(self, words: str) -> str:
        """All that is shown until `words` stand there, and they."""
        while words not in self.seen:
            assert select.select([self.fd], [], [], 20)[0], f"{words!r} did not come, only {self.seen!r}"
            self.seen += os.read(self.fd, 65536).decode()
        before, _, self.seen = self.seen.partition(words)
        return before + words

    def types(self, words: str) -> None:
        os.write(self.fd, words.encode())

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.theirs)[3] & termios.ECHO)


@pytest.fixture
def typist() -> Iterator[Typist]:
    one = Typist()
    yield one
    one.desk.close()
    os.close(one.fd)
    os.close(one.theirs)


def never() -> bool:
    return False


def test_that_each_of_several_nodes_gets_what_was_typed_under_its_own_question(typist: Typist) -> None:
    """All questions stood there at once, and what was typed under the last one was sent to another node."""
    names = [f"password for node-{number}: " for number in range(4)]
    with ThreadPoolExecutor(len(names)) as pool:
        answers = {name: pool.submit(typist.desk.ask, name, never, shown=False) for name in names}
        for _ in names:
            asked = typist.reads_to(": ").splitlines()[-1]
            assert not typist.echoes
            typist.types(f"that of {asked}\n")
        assert {name: answer.result(20) for name, answer in answers.items()} == {name: f"that of {name}" for name in names}
    typist.desk.close()
    assert "that of" not in typist.reads_to("\n") and typist.echoes


def test_that_a_half_typed_answer_is_not_taken_for_that_of_the_next_question(typist: Typist) -> None:
    over = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(typist.desk.ask, "code for a: ", over.is_set, shown=True)
        typist.reads_to("code for a: ")
        typist.types("12")
        typist.reads_to("12")
        over.set()
        typist.reads_to("nobody waits for this answer any more")
        assert first.result(20) is None
        second = pool.submit(typist.desk.ask, "code for b: ", never, shown=False)
        typist.reads_to("goes nowhere. Press Enter, then answer.")
        typist.types("34\n")
        typist.reads_to("code for b: ")
        typist.types("56\n")
        assert second.result(20) == "56"


def test_that_a_question_waits_for_its_turn_only_while_its_answer_is_wanted(typist: Typist) -> None:
    over = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(typist.desk.ask, "a: ", never, shown=False)
        typist.reads_to("a: ")
        second = pool.submit(typist.desk.ask, "b: ", over.is_set, shown=False)
        over.set()
        assert second.result(20) is None
        typist.types("for a\n")
        assert first.result(20) == "for a"
    assert "b: " not in typist.seen


@pytest.mark.parametrize(
    ("keys", "answer"),
    [("pass\n", "pass"), ("paß\x7fsswörd\n", "passwörd"), ("wrong\x15right\n", "right"), ("\x7f\n", ""), ("\x04", None), ("a\x04b\n", "ab")],
)
def test_that_keys_are_taken_as_a_terminal_takes_them(typist: Typist, keys: str, answer: str | None) -> None:
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(typist.desk.ask, "password: ", never, shown=False)
        typist.reads_to("password: ")
        typist.types(keys)
        assert asked.result(20) == answer


def test_that_a_terminal_that_is_closed_gives_no_answer() -> None:
    ours, theirs = pty.openpty()
    desk = Desk(os.ttyname(theirs))
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(desk.ask, "password: ", never, shown=False)
        assert os.read(ours, 64) == b"password"
        os.close(theirs)
        os.close(ours)
        assert asked.result(20) is None


def test_that_where_no_terminal_is_to_be_had_nobody_answers(tmp_path: Path) -> None:
    assert Desk(str(tmp_path / "none")).ask("password: ", never, shown=False) is None
    (tmp_path / "file").touch()
    assert Desk(str(tmp_path / "file")).ask("password: ", never, shown=False) is None


def wait_for(what: Callable[[], bool]) -> None:
    """Until it is so, 20 s at most."""
    for _ in range(400):
        if what():
            return
        select.select([], [], [], 0.05)
    raise AssertionError("it never came")


def test_that_the_rest_of_a_withdrawn_answer_is_neither_shown_nor_left_for_a_shell(typist: Typist) -> None:
    """Echo came back at once: the end of a half typed secret stood on the screen, and the shell behind ran it."""
    over = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(typist.desk.ask, "code: ", over.is_set, shown=False)
        typist.reads_to("code: ")
        typist.types("the first ha")
        over.set()
        typist.reads_to("nobody waits for this answer any more)")
        assert asked.result(20) is None
    assert not typist.echoes
    typist.types("lf of it\r")
    typist.desk.close()
    assert typist.echoes
    typist.types("!\n")
    assert typist.reads_to("!").strip() == "!"
    assert os.read(typist.theirs, 64) == b"!\n"


def test_that_a_line_pasted_behind_an_answer_is_not_that_of_the_next_question(typist: Typist) -> None:
    """Lines of a paste that came 50 ms apart were given one by one to the next nodes."""
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(typist.desk.ask, "a: ", never, shown=False)
        typist.reads_to("a: ")
        second = pool.submit(typist.desk.ask, "b: ", never, shown=False)
        typist.types("for a\r")
        assert first.result(20) == "for a"
        typist.reads_to("b")
        typist.types("line 1\r")
        typist.reads_to("What was typed until now goes nowhere. Press Enter, then answer.")
        typist.types("line 2\r")
        typist.reads_to("b: ")
        typist.types("for b\r")
        assert second.result(20) == "for b"
    typist.desk.close()
    assert "line" not in typist.seen


def test_that_an_answer_that_is_too_long_is_refused_and_asked_for_anew(typist: Typist) -> None:
    """It was cut without a word, and sent."""
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(typist.desk.ask, "password: ", never, shown=False)
        typist.reads_to("password: ")
        typist.types("x" * 3000)
        typist.types("x" * 1097 + "\x7f\r")
        typist.reads_to("longer than 4096 characters and goes nowhere.")
        typist.reads_to("password: ")
        typist.types("a\tb\r")
        assert asked.result(20) == "a\tb"


ASKS = """
import os
from gpulease_gui.cli.terminal_secret import DESK
with DESK.attended():
    print(f"<{os.getpid()}>", flush=True)
    print("got", len(DESK.ask("code: ", lambda: False, shown=False) or ""), flush=True)
"""


class Shell(Typist):
    """A shell with job control at a terminal of its own."""

    def __init__(self) -> None:
        super().__init__()
        words = ["setsid", "--ctty", "bash", "--norc", "--noprofile", "--noediting", "-i"]
        self.process = subprocess.Popen(words, stdin=self.theirs, stdout=self.theirs, stderr=self.theirs, env={**os.environ, "PS1": "sh> "})

    def leave(self) -> None:
        self.process.kill()
        self.process.wait(20)
        os.close(self.fd)
        os.close(self.theirs)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "asks.py").write_text(ASKS)
    one = Shell()
    one.reads_to("sh> ")
    yield one
    one.leave()


def test_that_a_question_that_was_stopped_is_asked_anew_and_shows_nothing_of_the_answer(shell: Shell, tmp_path: Path) -> None:
    """After Ctrl+Z and fg the password stood on the screen."""
    shell.types(f"{sys.executable} {tmp_path}/asks.py asks\n")
    shell.reads_to("code: ")
    shell.types("half")
    shell.types("\x1a")
    shell.reads_to("Stopped")
    shell.reads_to("sh> ")
    assert shell.echoes
    shell.types("fg\n")
    shell.reads_to("code: ")
    wait_for(lambda: not shell.echoes)
    shell.types("a secret\r")
    assert "secret" not in shell.reads_to("got 8") and "sh> " in shell.reads_to("sh> ")
    assert shell.echoes


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_that_a_program_that_is_ended_at_a_question_leaves_the_terminal_its_echo(number: int, typist: Typist) -> None:
    words = ["setsid", "--ctty", "--wait", sys.executable, "-c", ASKS]
    process = subprocess.Popen(  # also where the tests run under nohup
        words, stdin=typist.theirs, stdout=typist.theirs, stderr=typist.theirs, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)
    )
    pid = int(typist.reads_to(">").rpartition("<")[2][:-1])
    typist.reads_to("code: ")
    assert not typist.echoes
    os.kill(pid, number)
    assert process.wait(20) != 0
    assert typist.echoes


def test_that_what_is_printed_stands_above_the_question_which_is_shown_anew(typist: Typist, monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings of other nodes scrolled the question away while the terminal waited for a secret."""
    with Path(os.ttyname(typist.theirs)).open("w", encoding="utf-8") as stream, ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(sys, "stderr", stream)
        with typist.desk.attended():
            asked = pool.submit(typist.desk.ask, "code: ", never, shown=True)
            typist.reads_to("code: ")
            typist.types("12")
            typist.reads_to("12")
            sys.stderr.write("other: pa")
            print("a whole line", file=sys.stdout)
            sys.stderr.write("ss\n")
            assert typist.reads_to("code: 12").endswith("\r\x1b[Kother: pass\r\ncode: 12")
            typist.types("3\r")
            assert asked.result(20) == "123"
            print("after it", file=sys.stderr)
        assert sys.stderr is stream
    assert "code" not in typist.reads_to("after it")


def test_that_nodes_are_asked_for_in_their_order(typist: Typist) -> None:
    names = [f"n{number}" for number in range(5)]
    typist.desk.in_order(names)
    with ThreadPoolExecutor(len(names)) as pool:
        answers = [pool.submit(typist.desk.ask, f"{name}: ", never, shown=False, who=name) for name in reversed(names)]
        came = []
        for _ in names:
            came.append(typist.reads_to(": ").split()[-1])
            typist.types("x\r")
        assert {answer.result(20) for answer in answers} == {"x"}
    assert came == [f"{name}:" for name in names]
