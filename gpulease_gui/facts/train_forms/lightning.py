"""What do the progress bars of Lightning say?"""

from __future__ import annotations

import re

from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.facts.train_forms.bar import bar_in
from gpulease_gui.facts.train_forms.form import NUMBER, Form, StepLine, is_bad, speeds, value

_LOSS = re.compile(r"(?:^|[\s,])(?:train[_/])?loss(?:_step)?=(?P<loss>" + NUMBER + ")")


def read(line: str) -> StepLine | None:
    """`Epoch 0:  45%|...| 900/2000 [..., 10.00it/s, v_num=3, train_loss=0.456]`."""
    bar = bar_in(line) if line.lstrip().startswith("Epoch ") else None
    if bar is None or re.fullmatch(r"Epoch \d{1,7}:", bar.head) is None:
        return None
    found = _LOSS.search(bar.tail)
    loss = found["loss"] if found else None
    return StepLine(bar.at, value(loss), speeds((Unit.STEP_S, bar.step_s)), is_bad(loss), of=bar.of)


FORM = Form("Lightning", 20, read)
