"""What do the lines of Megatron-LM say?"""

from __future__ import annotations

import re

from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.facts.train_forms.form import NUMBER, Form, StepLine, is_bad, speeds, value

_ITERATION = re.compile(r"\biteration +(?P<step>\d{1,12})/ *\d{1,12} \|")
_PART = re.compile(r"(?P<name>elapsed time per iteration \(ms\)|throughput per GPU \(TFLOP/s/GPU\)|global batch size|lm loss|number of nan iterations): +(?P<value>" + NUMBER + ")")


def read(line: str) -> StepLine | None:
    """`iteration      100/  500000 | ... | elapsed time per iteration (ms): 2345.6 | ... | lm loss: 5.123456E+00 |`."""
    found = _ITERATION.search(line) if "iteration" in line else None
    if found is None:
        return None
    parts = {part["name"]: part["value"] for part in _PART.finditer(line)}
    ms, batch = value(parts.get("elapsed time per iteration (ms)")), value(parts.get("global batch size"))
    seconds = ms / 1000 if ms else None
    told = speeds(
        (Unit.STEP_S, seconds), (Unit.SAMPLES_S, batch / seconds if batch and seconds else None),
        (Unit.TFLOPS, value(parts.get("throughput per GPU (TFLOP/s/GPU)"))),
    )  # fmt: skip
    loss = parts.get("lm loss")
    bad = is_bad(loss) or bool(value(parts.get("number of nan iterations")))
    return StepLine(int(found["step"]), value(loss), told, bad)


FORM = Form("Megatron-LM", 10, read)
