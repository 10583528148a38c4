"""Does what could not be read hold on to more than its reason?"""

from __future__ import annotations

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.services.judging import evidence_of


def test_that_a_reading_that_failed_keeps_its_reason_and_none_of_the_calls_it_went_through():
    for output in (CommandOutput(b"no table at all", b"", 0), CommandOutput(b"", b"not found", 127)):
        trouble = evidence_of("topo", output, "").trouble
        assert trouble is not None and trouble.code
        assert (trouble.__traceback__, trouble.__cause__, trouble.__context__) == (None, None, None)
