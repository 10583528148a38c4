"""What do the lines of nanoGPT and its many children say?"""

from __future__ import annotations

import re

from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.facts.train_forms.form import NUMBER, Form, StepLine, is_bad, speeds, value

_ITER = re.compile(r"^iter (?P<step>\d{1,12}): loss (?P<loss>" + NUMBER + r"), time (?P<ms>" + NUMBER + r")ms")
_STEP = re.compile(r"^step:? +(?P<step>\d{1,12})(?:/\d{1,12})? ?\| ?(?:train )?loss:? (?P<loss>" + NUMBER + r") ?\|")
_TIME = re.compile(r"\b(?:dt|time):? (?P<time>" + NUMBER + r") ?(?P<unit>ms|s)\b")
_TOKENS = re.compile(r"\btok(?:ens)?/s(?:ec)?:? {1,8}(?P<rate>" + NUMBER + ")")


def read(line: str) -> StepLine | None:
    """`iter 100: loss 3.45, time 123.45ms, mfu 45.67%`, and `step   10 | loss: 9.12 | ... | dt: 340.12ms | tok/sec: 1540000.12`."""
    if found := _ITER.match(line):
        ms = value(found["ms"])
        return StepLine(int(found["step"]), value(found["loss"]), speeds((Unit.STEP_S, ms / 1000 if ms else None)), is_bad(found["loss"]))
    if found := _STEP.match(line):
        time, tokens = _TIME.search(line), _TOKENS.search(line)
        seconds = value(time["time"]) if time else None
        seconds = seconds / 1000 if seconds is not None and time and time["unit"] == "ms" else seconds
        told = speeds((Unit.TOKENS_S, value(tokens["rate"]) if tokens else None), (Unit.STEP_S, seconds))
        return StepLine(int(found["step"]), value(found["loss"]), told, is_bad(found["loss"]))
    return None


FORM = Form("nanoGPT", 15, read)
