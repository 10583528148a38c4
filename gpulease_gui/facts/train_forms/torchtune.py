"""What do the lines of torchtune say?"""

from __future__ import annotations

import re

from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.facts.train_forms.bar import bar_in
from gpulease_gui.facts.train_forms.form import NUMBER, Form, StepLine, is_bad, speeds, value

_HEAD = re.compile(r"(?:^|\s)\d{1,7}\|(?P<step>\d{1,12})\|Loss: (?P<loss>" + NUMBER + "):?$")
_LOGGED = re.compile(r"^Step (?P<step>\d{1,12}) \| (?=[^\n]{0,400}\bloss:)")
_LOSS = re.compile(r"\bloss:(?P<loss>" + NUMBER + ")")
_RATE = re.compile(r"\btokens_per_second_per_gpu:(?P<rate>" + NUMBER + ")")


def read(line: str) -> StepLine | None:
    """The bar `1|25|Loss: 1.23:  12%|...`, and the lines of its log file, whose tokens are those of one GPU."""
    if found := _LOGGED.match(line):
        loss, rate = _LOSS.search(line), _RATE.search(line)
        told = loss["loss"] if loss else None
        return StepLine(int(found["step"]), value(told), speeds((Unit.TOKENS_S_GPU, value(rate["rate"]) if rate else None)), is_bad(told))
    bar = bar_in(line) if "|Loss: " in line else None
    head = _HEAD.search(bar.head) if bar else None
    if bar is None or head is None:
        return None
    return StepLine(int(head["step"]), value(head["loss"]), speeds((Unit.STEP_S, bar.step_s)), is_bad(head["loss"]), of=bar.of)


FORM = Form("torchtune", 10, read)
