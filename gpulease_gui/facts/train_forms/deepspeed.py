"""What do the lines of DeepSpeed say?"""

from __future__ import annotations

import re

from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.facts.train_forms.form import NUMBER, Form, StepLine, is_bad, speeds, value

_RATE = re.compile(r"global_step=(?P<step>\d{1,12}), RunningAvgSamplesPerSec=[^,]{1,40}, CurrSamplesPerSec=(?P<rate>" + NUMBER + ")")
_STEP = re.compile(r"\[Rank 0\] step=(?P<step>\d{1,12}), skipped=\d{1,12}, lr=")
_PIPE = re.compile(r"\bsteps: (?P<step>\d{1,12}) loss: (?P<loss>" + NUMBER + r") iter time \(s\): (?P<time>" + NUMBER + r") samples/sec: (?P<rate>" + NUMBER + ")")


def read(line: str) -> StepLine | None:
    """The timer's line, the step's line, and that of the pipeline engine, which alone tells the loss."""
    if found := _PIPE.search(line):
        told = speeds((Unit.SAMPLES_S, value(found["rate"])), (Unit.STEP_S, value(found["time"])))
        return StepLine(int(found["step"]), value(found["loss"]), told, is_bad(found["loss"]))
    if found := _RATE.search(line):
        return StepLine(int(found["step"]), None, speeds((Unit.SAMPLES_S, value(found["rate"]))), counts=False)
    if found := _STEP.search(line):
        return StepLine(int(found["step"]))
    return None


FORM = Form("DeepSpeed", 10, read)
