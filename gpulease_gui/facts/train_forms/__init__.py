"""Which trainers' lines are known? One file each, found by looking in this folder."""

from __future__ import annotations

import importlib
import pkgutil

from gpulease_gui.facts.train_forms.form import Form


def _found() -> tuple[Form, ...]:
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    forms = [module.FORM for module in modules if hasattr(module, "FORM")]
    return tuple(sorted(forms, key=lambda form: form.rank))


FORMS = _found()
