"""What does NVIDIA's own diagnosis say (`dcgmi diag`, `health`, `nvlink`)?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.dcgmi_forms import (
    DiagTest,
    GpuLinkStates,
    error_counts,
    json_tests,
    link_states,
    runtime_error,
    table_counts,
    table_tests,
)
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import document, member, words
from gpulease_gui.facts.smi_values import parted_rows, without_prefix
from gpulease_gui.facts.table_text import clean, first_line

FACT = Fact(id="dcgmi", title=Text("NVIDIA diagnosis (dcgmi)", "NVIDIA 诊断(dcgmi)"), ok_codes=None)

_NO_ENGINE = re.compile(r"unable to (establish a )?connect|Host engine is not running", re.IGNORECASE)
_OTHER_FORMS = {
    "discovery": re.compile(r"^[ \t]*\d+ GPUs? found\.", re.MULTILINE),
    "dmon": re.compile(r"^[ \t]*#\s?Entity\b", re.MULTILINE),
    "group list": re.compile(r"\|\s*GROUPS\b|\bgroups? found\."),
}


@dataclass(frozen=True, slots=True)
class DcgmReport:
    """One output of dcgmi. `form`: diag, diag json, health, nvlink, nvlink errors, discovery, dmon, group list.

    `ran`: does the text say that the diagnosis ran? None = an excerpt that says neither. `closed`: the table or the
    JSON has its end; without it tests may be missing. `error_counts` None = another form; only counts above nought.
    """

    form: str
    ran: bool | None = None
    tests: tuple[DiagTest, ...] = ()
    overall_health: str | None = None
    links: tuple[GpuLinkStates, ...] | None = None
    error_counts: tuple[tuple[str, int], ...] | None = None
    closed: bool = True

    def with_word(self, word: str) -> tuple[str, ...]:
        """Names of the tests of which a result begins with `word` (Fail, Warn, Skip)."""
        return tuple(test.name for test in self.tests if any(result.lower().startswith(word.lower()) for result in test.results))


def parse(output: CommandOutput) -> DcgmReport:
    """Read the form that the text has. Raises Unreadable: refused, broken off, unknown.

    dcgmi ends with the number of the failed test, so its exit code is no sign of a missing reading.
    """
    text = _unwrapped(output.text)
    if re.search(r"^[ \t]*\{", text, re.MULTILINE) and not re.search(r"Diagnostic\s*\|\s*Result", text):
        return _from_json(text)
    if re.search(r"Diagnostic\s*\|\s*Result", text):
        ran = True if re.search(r"Successfully ran diagnostic", text) else None
        rows = [line for line in text.split("\n") if line.lstrip().startswith(("|", "+"))]
        return DcgmReport("diag", ran, table_tests(text), closed=rows[-1].lstrip().startswith("+"))
    if re.search(r"^[ \t]{0,20}\|?[ \t]{0,20}NVLINK Error Counts", text, re.MULTILINE):
        return DcgmReport("nvlink errors", error_counts=table_counts(text))
    if re.search(r"NvLink Link Status", text, re.IGNORECASE):
        return DcgmReport("nvlink", links=link_states(text))
    if health := re.search(r"Overall Health\s*[:|]\s*(\w+)", text):
        return DcgmReport("health", overall_health=health[1])
    other = next((form for form, head in _OTHER_FORMS.items() if head.search(text)), None)
    if other:
        return DcgmReport(other)
    raise _refused(output, text)


def _unwrapped(text: str) -> str:
    """`text` cleaned, a row on every line and without what stands before every one."""
    return parted_rows(without_prefix(clean(text)))


def _refused(output: CommandOutput, text: str) -> Unreadable:
    said = first_line(text) or first_line(output.error_text)
    if re.search(
        r"incompatible with the diagnostic|Unable to run diagnostic|unable to complete diagnostic", text, re.IGNORECASE
    ):
        return Unreadable(f"the diagnosis was refused: {said}", reading=DcgmReport("diag", ran=False))
    if _NO_ENGINE.search(text):
        return Unreadable(said, code=Reason.DRIVER, next_step="start nv-hostengine on the node")
    return Unreadable(f"no output of dcgmi: {said or 'it is empty'}")


def _from_json(text: str) -> DcgmReport:
    found = document(text)
    health = words(member(found, "body", "Overall Health"), "value")
    if health:
        return DcgmReport("health", overall_health=health)
    tests = json_tests(found)
    if tests:
        return DcgmReport("diag json", True, tests)
    counts = error_counts(member(found, "body"))
    if refusal := runtime_error(found):
        raise Unreadable(f"the diagnosis was refused: {refusal}", reading=DcgmReport("diag json", ran=False))
    if counts is None:
        raise Unreadable("this JSON is of no known form of dcgmi")
    return DcgmReport("nvlink errors", error_counts=counts)


def as_dict(reading: DcgmReport) -> dict[str, object]:
    """The keys of `gpulease parse --kind dcgmi`; JSON gives a list of results per test, the table one word."""
    diag = reading.form.startswith("diag")
    links = reading.links
    return {
        "form": reading.form,
        "ran": reading.ran,
        "tests": {test.name: _results(test, reading.form) for test in reading.tests} if diag else None,
        "failed": list(reading.with_word("Fail")) if diag else None,
        "warned": list(reading.with_word("Warn")) if diag else None,
        "skipped": list(reading.with_word("Skip")) if diag else None,
        "overall_health": reading.overall_health,
        "links_up": {str(gpu.gpu): gpu.up for gpu in links} if links is not None else None,
        "links_down": {str(gpu.gpu): gpu.down for gpu in links} if links is not None else None,
        "links_disabled": {str(gpu.gpu): gpu.disabled for gpu in links} if links is not None else None,
        "nonzero": dict(reading.error_counts) if reading.error_counts is not None else None,
    }


def _results(test: DiagTest, form: str) -> object:
    return list(test.results) if form == "diag json" else test.results[0]


def recognise(text: str) -> int:
    """The names of dcgmi's tables and JSON."""
    if re.search(r"DCGM|Diagnostic\s*\|\s*Result|NvLink Link Status|Overall Health|NVLINK Error Counts", text[:5000]):
        return 92
    if re.search(r"incompatible with the diagnostic|unable to connect to host engine", text, re.IGNORECASE) or any(form.search(text) for form in _OTHER_FORMS.values()):
        return 80
    return 0
