"""What do the lines of LLaMA-Factory say?"""

from __future__ import annotations

import re

from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.facts.train_forms.form import NUMBER, Form, StepLine, is_bad, speeds, value
from gpulease_gui.facts.train_forms.hugging_face import bad_norm

_ROW = re.compile(r'^\{"current_steps": (?P<step>\d{1,12}), ')
_PART = re.compile(r"[\"'](?P<name>loss|throughput)[\"']: [\"']?(?P<value>" + NUMBER + ")")


def read(line: str) -> StepLine | None:
    """The rows of trainer_log.jsonl, and `{'loss': ..., 'throughput': ...}`; throughput counts tokens a second."""
    row = _ROW.match(line)
    if row is None and not ("{'loss'" in line and "'throughput'" in line):
        return None
    parts = {part["name"]: part["value"] for part in _PART.finditer(line)}
    told = speeds((Unit.TOKENS_S, value(parts.get("throughput"))))
    return StepLine(int(row["step"]) if row else None, value(parts.get("loss")), told, is_bad(parts.get("loss")) or bad_norm(line))


FORM = Form("LLaMA-Factory", 5, read)
