"""What do the lines of the Hugging Face Trainer say?"""

from __future__ import annotations

import re

from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.facts.train_forms.bar import bar_in
from gpulease_gui.facts.train_forms.form import NUMBER, Form, StepLine, is_bad, speeds, value

_DICT = re.compile(r"\{'loss': '?(?P<loss>" + NUMBER + r")'?, ")
_NORM = re.compile(r"'grad_norm': '?(?P<norm>" + NUMBER + ")")
_SPEED = re.compile(r"'(?:train_)?tokens_per_second(?:_per_gpu)?': '?(?P<rate>" + NUMBER + ")")


def bad_norm(line: str) -> bool:
    """Whether the gradients are NaN or Inf: the trainer's NaN filter writes a loss of 0.0 beside them."""
    found = _NORM.search(line)
    return found is not None and is_bad(found["norm"])


def read(line: str) -> StepLine | None:
    """`{'loss': ..., 'learning_rate': ..., 'epoch': ...}`, and the bare bar of steps; both may share a line."""
    found = _DICT.search(line) if "{'loss'" in line else None
    if found and "'throughput'" not in line and ("'epoch'" in line or "'learning_rate'" in line):
        rate = _SPEED.search(line)
        told = speeds((Unit.TOKENS_S, value(rate["rate"]) if rate else None))
        return StepLine(None, value(found["loss"]), told, is_bad(found["loss"]) or bad_norm(line))
    bar = None if found else bar_in(line)
    if bar is None or bar.head or bar.tail.lstrip() not in ("]", "]\x1b[A"):
        return None
    return StepLine(bar.at, None, speeds((Unit.STEP_S, bar.step_s)), of=bar.of, counts=False)


FORM = Form("Hugging Face Trainer", 30, read)
