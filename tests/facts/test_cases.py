"""Does every fact read the outputs in its folder exactly as a careful reader would?

A case is NAME.out (the bytes as a node prints them) and NAME.json: why, exit_code, stderr, and either reading (keys of
as_dict; null = None or absent) or unreadable (the reason code), beside which reading says what can still be told.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.facts.fact import Reader, read, readers, recognise

HERE = Path(__file__).parent
CASES = sorted(HERE.glob("*/*.out"))
COMMANDS = sorted(fact_id for fact_id, reader in readers().items() if reader.fact.command is not None)


def case_id(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def load(path: Path) -> tuple[Reader, CommandOutput, dict]:
    case = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    output = CommandOutput(
        path.read_bytes(),
        case.get("stderr", "").encode(),
        case.get("exit_code", 0),
        stdout_cut=case.get("stdout_cut", False),
    )
    return readers()[path.parent.name], output, case


def differences(expected: dict, got: dict) -> dict:
    return {key: (want, got.get(key)) for key, want in expected.items() if got.get(key) != want}


@pytest.mark.parametrize("path", CASES, ids=case_id)
def test_that_the_output_is_read_as_the_case_says(path: Path) -> None:
    reader, output, case = load(path)
    assert case["why"] and ("reading" in case or "unreadable" in case)
    try:
        reading, code = read(reader, output), None
    except Unreadable as error:
        reading, code = error.reading, str(error.code)
        assert error.reason
    assert code == case.get("unreadable")
    got = {} if reading is None else reader.as_dict(reading)
    assert differences(case.get("reading", {}), got) == {}
    json.dumps(got, allow_nan=False)


@pytest.mark.parametrize("path", CASES, ids=case_id)
def test_that_no_other_kind_takes_the_output(path: Path) -> None:
    reader, output, _ = load(path)
    if reader.recognise(output.text) == 0:
        return  # the kind does not claim this text, so the user names the kind
    assert recognise(output.text) == reader.fact.id


@pytest.mark.parametrize("fact_id", COMMANDS)
def test_that_the_command_sent_to_a_node_is_the_one_on_record(fact_id: str) -> None:
    recorded = (HERE / fact_id / "command.txt").read_text(encoding="utf-8")
    assert readers()[fact_id].fact.command.line == recorded.removesuffix("\n")


@pytest.mark.parametrize("fact_id", sorted(readers()))
def test_that_every_fact_has_readable_and_unreadable_cases(fact_id: str) -> None:
    found = [
        json.loads(path.with_suffix(".json").read_text(encoding="utf-8")) for path in HERE.glob(f"{fact_id}/*.out")
    ]
    assert any("unreadable" not in case for case in found), f"no readable case in tests/facts/{fact_id}"
    assert any("unreadable" in case for case in found), f"no unreadable case in tests/facts/{fact_id}"


def test_that_every_expectation_has_an_output() -> None:
    lonely = [path for path in HERE.glob("*/*.json") if not path.with_suffix(".out").exists()]
    assert lonely == []
