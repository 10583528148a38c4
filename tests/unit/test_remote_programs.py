from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.domain.command import Command
from gpulease_gui.domain.frame import parse_active_line, parse_head_line
from gpulease_gui.facts.fact import readers
from gpulease_gui.remote.wrap import (
    Limits,
    Step,
    active_script,
    collect_script,
    limits_of,
    server_script,
    steps_of,
    stream_script,
)

MARK = "0" * 32
STEPS = [Step("words", Command("echo", "it's $(id)"), 5), Step("text", Command(script="echo 'a'; exit 3"), 9, "npu")]
PROGRAMS = {
    "collect": collect_script(MARK, STEPS),
    "real facts": collect_script(MARK, steps_of([reader.fact for reader in readers().values()])),
    "active": active_script(MARK, "disk", Command("fio", "--name=x y"), 60, sudo=True, scratch=True),
    "server": server_script(MARK, "iperf", Command("iperf3", "-s"), 60),
    "stream": stream_script(MARK, [("gpu", "while :; do echo 'x'; done")], 0.5),
}


@pytest.mark.parametrize("shell", ["sh", "bash --posix"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_that_every_program_is_one_group_that_a_posix_shell_parses(name, shell):
    argv = [*shell.split(), "-n"]
    done = subprocess.run(argv, input=PROGRAMS[name], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    first, brace, rest = PROGRAMS[name].split(b"\n", 2)
    assert first.startswith(b"# gpulease ") and brace == b"{" and rest.startswith(b"exec 3<&0 </dev/null\n")
    assert rest.endswith(b"\n}\n")


def test_that_the_first_line_says_what_a_simulated_node_needs():
    assert parse_head_line(PROGRAMS["collect"].split(b"\n")[0].decode()) == (MARK, ["words", "text"])
    assert parse_active_line(PROGRAMS["active"].split(b"\n")[0].decode()) == (MARK, "disk", ("fio", "--name=x y"))
    assert parse_head_line(PROGRAMS["stream"].split(b"\n")[0].decode()) == (MARK, ["gpu"])


@given(st.lists(st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=30), min_size=1, max_size=4))
def test_that_no_value_is_ever_read_by_the_shell(words):
    """Only the template runs: a value with quotes, blanks, $(...) or newlines reaches the command as it is."""
    program = collect_script(MARK, [Step("a", Command("printf", "%s\\0", *words), 5)]).decode()
    call = program[program.index("fact 0 a 5 ") : program.index("}\nset +C")]
    done = subprocess.run(["sh", "-c", "fact() { shift 3; \"$@\"; }\n" + call], capture_output=True, check=True)
    assert done.stdout == b"".join(word.encode() + b"\0" for word in words)


def test_that_the_patience_with_a_node_follows_from_its_steps():
    def of(*seconds: int) -> Limits:
        return limits_of([Step(f"s{n}", Command("true"), limit, "smi") for n, limit in enumerate(seconds)])

    assert (of(), of(5, 10)) == (Limits(60, 20, 15), Limits(60, 20, 25))
    assert of(40, 40, 20) == Limits(100, 20, 55)


def test_that_nothing_hides_errors_of_a_fact():
    for reader in readers().values():
        if reader.fact.command is not None:
            assert "2>/dev/null |" not in reader.fact.command.line, reader.fact.id
