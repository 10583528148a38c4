"""What do the step lines of our own small GPT say?"""

from __future__ import annotations

import json

from gpulease_gui.facts.json_text import count, figure
from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.facts.train_forms.form import Form, StepLine, speeds

_MARK = '{"gpulease_task": "tiny_gpt", "event": "step"'


def read(line: str) -> StepLine | None:
    """`{"gpulease_task": "tiny_gpt", "event": "step", ..., "step": 3, "loss": 8.1, "step_s": 0.2, "tokens_s": 81920.0, ...}`."""
    if not line.startswith(_MARK):
        return None
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    told = ((Unit.TOKENS_S, figure(row, "tokens_s")), (Unit.STEP_S, figure(row, "step_s")), (Unit.TFLOPS, figure(row, "tflops_gpu")))
    loss = figure(row, "loss")
    return StepLine(count(row, "step"), loss, speeds(*told), loss is None)


FORM = Form("GPULease task", 30, read)
