"""Does the compiled stand-in print what the program's own readers take for nvidia-smi?"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.facts.fact import read, readers
from tests.standin.build import build_smi
from tests.standin.machine import machine_texts


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tool") / "nvidia-smi"
    build_smi(machine_texts(), path)
    return path


def reading(tool: Path, kind: str, *words: str) -> dict[str, object]:
    done = subprocess.run([tool, *words], capture_output=True)
    reader = readers()[kind]
    return reader.as_dict(read(reader, CommandOutput(done.stdout, done.stderr, done.returncode)))


@pytest.mark.parametrize(("kind", "words"), [
    ("smi_xml", "-q -x"), ("smi_list", "-L"), ("nvlink", "nvlink -s"), ("nvlink_errors", "nvlink -e"), ("smi_table", ""),
])  # fmt: skip
def test_that_all_eight_cards_are_read(tool: Path, kind: str, words: str) -> None:
    assert reading(tool, kind, *words.split())["gpus"] == 8


def test_that_samples_and_matrix_are_read(tool: Path) -> None:
    assert reading(tool, "topo", "topo", "-m")["gpu_pair_link_counts"] == {"NV18": 28}
    assert reading(tool, "dmon", "dmon", "-c", "1")["samples"] == 8
    assert reading(tool, "pmon", "pmon", "-c", "1")["idle_rows"] == 8


def test_that_any_list_of_known_columns_is_answered_and_an_unknown_one_refused(tool: Path) -> None:
    found = reading(tool, "smi_csv", "--query-gpu=name,power.draw,memory.total,driver_version", "--format=csv")
    assert (found["rows"], found["memory_total_mib"], found["driver_version"]) == (8, [81559] * 8, ["550.127.08"] * 8)
    with pytest.raises(Unreadable) as refused:
        reading(tool, "smi_csv", "--query-gpu=name,shoe_size", "--format=csv")
    assert refused.value.code == "invalid_query_field"


def test_that_every_column_of_the_help_can_be_asked_for(tool: Path) -> None:
    told = subprocess.run([tool, "--help-query-gpu"], capture_output=True, text=True, check=True).stdout
    names = [line.strip('"') for line in told.splitlines() if line.startswith('"')]
    rows = subprocess.run([tool, f"--query-gpu={','.join(names)}", "--format=csv,noheader"], capture_output=True, text=True, check=True)
    assert len(names) > 30 and [len(line.split(", ")) for line in rows.stdout.splitlines()] == [len(names)] * 8


def test_that_a_watched_query_goes_on_until_it_is_ended(tool: Path) -> None:
    words = [tool, "--query-gpu=index,timestamp", "--format=csv,noheader", "-lms", "20"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        lines = [running.stdout.readline() for _ in range(24)]
        running.terminate()
    assert [line.split(",")[0] for line in lines] == [str(n) for n in range(8)] * 3
