"""Does the sampling script do in a real sh what it says, with a driver that knows only the old column?"""

from __future__ import annotations

import os
import subprocess

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.facts.clock_samples import FACT, parse

OLD_DRIVER = """#!/bin/sh
case $1 in
*clocks_throttle_reasons.active) echo "0, GPU-11111111-2222-3333-4444-555555555555, 2026/11/12 09:41:07.137, 3, 71.40, 345, 0x0000000000000001" ;;
*) echo "Field is not a valid field to query."; exit 2 ;;
esac
"""


def run(tmp_path, smi: str) -> CommandOutput:
    for name, text in (("nvidia-smi", smi), ("sleep", "#!/bin/sh\nexit 0\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["sh", "-c", FACT.command.line], capture_output=True, timeout=60, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, check=False
    )  # fmt: skip
    return CommandOutput(done.stdout, done.stderr, done.returncode)


def test_that_the_script_falls_back_to_the_old_column_and_looks_eleven_times(tmp_path):
    output = run(tmp_path, OLD_DRIVER)
    reading = parse(output)
    assert (output.exit_code, len(reading.samples), reading.complete) == (0, 11, True)
    assert [sample.round for sample in reading.samples] == list(range(11))


def test_that_the_script_ends_with_the_code_of_a_failing_tool(tmp_path):
    assert run(tmp_path, "#!/bin/sh\nexit 9\n").exit_code == 9
