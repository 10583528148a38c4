"""How many TFLOPS does each NPU reach in half precision (`ascend-dmi -f`)?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.dmi_text import figures
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import document
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole
from gpulease_gui.facts.raw_runs import pack, reason_code, unpack

_SCRIPT = (
    SHELL
    + """\
tool=$(command -v ascend-dmi) || tool=/usr/local/Ascend/toolbox/latest/Ascend-DMI/bin/ascend-dmi
if [ ! -x "$tool" ]; then echo 'ascend-dmi: not found' >&2; exit 127; fi
say dmi_flops "$tool"
for file in /dev/davinci[0-9]*; do
  [ -e "$file" ] || continue
  say device "${file#/dev/davinci}"
  said=$("$tool" -f -t fp16 -d "${file#/dev/davinci}" -q </dev/null); say code "$?"
  printf '%s\\n' "$said" | while IFS= read -r line; do say row "$line"; done
done
"""
    + END
)

FACT = Fact(
    id="npu_flops", title=Text("NPU compute", "NPU 算力"), command=Command(script=_SCRIPT), seconds=300, impact=Impact.DISRUPTIVE, lane="npu",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DeviceRate:
    """One device; `tflops` None = the tool gave no figure for it."""

    device: int
    tflops: float | None
    power_w: float | None


@dataclass(frozen=True, slots=True)
class NpuFlops:
    """The tests in the order run, each over all devices; () = why stands in `trouble`, with its reason code."""

    tests: tuple[tuple[DeviceRate, ...], ...]
    trouble: str = ""
    code: str = ""


def combine(outputs: Sequence[CommandOutput]) -> CommandOutput:
    """One output that holds the tests."""
    return CommandOutput(json.dumps({"npu_flops": [pack(output) for output in outputs]}, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> NpuFlops:
    """Read a combined output. Raises Unreadable without any test."""
    found = document(output.text)
    if "npu_flops" not in found:
        raise Unreadable("the NPUs were not tested", code=Reason.NOT_COLLECTED)
    tests, trouble, code = [], "", ""
    for run in unpack(found.get("npu_flops")):
        try:
            tests.append(_test(run))
        except Unreadable as error:
            trouble, code = run.error_text.strip().split("\n")[-1][:200] or error.reason, reason_code(run, error)
    return NpuFlops(tuple(tests), trouble, code)


def _test(run: CommandOutput) -> tuple[DeviceRate, ...]:
    devices = tuple(_device(record) for record in keyed_lines(run, "dmi_flops").records("device"))
    if all(device.tflops is None for device in devices):
        raise Unreadable("ascend-dmi gave no figure")
    return devices


def _device(record: KeyedLines) -> DeviceRate:
    number, good = whole(record.first("device")), record.number("code") == 0
    rate = max(figures(record.all("row"), "tflops"), default=None) if good else None
    return DeviceRate(number if number is not None else -1, rate, (max(figures(record.all("row"), "power"), default=0) or None) if good else None)


def as_dict(reading: NpuFlops) -> dict[str, object]:
    """Per test: devices, tflops, power_w; trouble."""
    return {
        "devices": [[d.device for d in test] for test in reading.tests],
        "tflops": [[d.tflops for d in test] for test in reading.tests],
        "power_w": [[d.power_w for d in test] for test in reading.tests],
        "trouble": reading.trouble or None,
    }


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith('{"npu_flops": ') else 0
