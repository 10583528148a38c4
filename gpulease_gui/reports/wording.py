"""How are values, times, hashes and names of findings written in a report?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timezone

from gpulease_gui.checks.check import rules
from gpulease_gui.domain.finding import Finding, Reason, Value, Verdict
from gpulease_gui.domain.term import Term
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.reports.document import Tone, Words
from gpulease_gui.reports.unit_words import unit_text

NOT_STATED = Words(Text("not stated", "未约定"), Tone.MISSING)
NOT_READABLE = Words(Text("not readable", "读不到"), Tone.MISSING)
NOT_READ = Words(Text("not read", "未读取"), Tone.MISSING)
SEPARATOR = Text(", ", "、")
# What is counted stands in the name already; only units of measure are written beside a figure.
COUNTED = frozenset(
    ["GPUs", "NPUs", "cards", "cores", "nodes", "errors", "rows", "events", "links", "processes", "pages", "NICs", "samples", "fields", "banks"]
)
_SAID = frozenset(["generation", "lanes", "packets", "processors", "sockets", "ports", "bytes"])
THIN = "\N{NARROW NO-BREAK SPACE}"
_CHOICES: Mapping[str, Text] = {
    "sxm": foreign("SXM"), "pcie": foreign("PCIe"), "nvl": foreign("NVL"), "oam": foreign("OAM"),
    "superchip": Text("superchip", "超级芯片"), "module": Text("module", "模组"), "nvswitch": foreign("NVSwitch"),
    "nvlink": foreign("NVLink"), "nvlink_bridge": Text("NVLink bridge", "NVLink 桥接"), "hccs": foreign("HCCS"),
    "bare_metal": Text("bare metal", "裸金属"), "vm": Text("virtual machine", "虚拟机"),
    "container": Text("container", "容器"), "dedicated": Text("dedicated", "独占"), "shared": Text("shared", "共享"),
    "infiniband": foreign("InfiniBand"), "roce": foreign("RoCE"), "ethernet": Text("Ethernet", "以太网"),
    "none": Text("none", "无"), "None": Text("none", "无"), "none (whole GPU)": Text("none (whole GPU)", "无（整卡）"),
    "hw_slowdown": Text("hardware slowdown", "硬件降频"), "hw_thermal_slowdown": Text("thermal slowdown by hardware", "硬件过热降频"),
    "hw_power_brake_slowdown": Text("power brake", "供电制动"), "sw_thermal_slowdown": Text("thermal slowdown", "过热降频"),
    "applications_clocks_setting": Text("application clocks set lower", "应用频率被调低"),
    "sync_boost": Text("held down by another GPU", "被其他 GPU 拉低频率"), "sw_power_cap": Text("power cap", "功耗封顶"),
}  # fmt: skip


def value_text(value: Value) -> Text:
    """A value without its unit; a dash for None unless the caller has a word that fits better."""
    if value is None:
        return foreign("–")
    if isinstance(value, bool):
        return Text("yes", "是") if value else Text("no", "否")
    if isinstance(value, int | float):
        return foreign(number_text(value) if math.isfinite(value) else str(value))
    parts = [_CHOICES.get(part, foreign(part)) for part in str(value).split(", ")]
    return Text(", ".join(part.en for part in parts), "、".join(part.zh for part in parts))


def with_unit(value: Value, unit: str) -> Text:
    """A value and its unit."""
    said = value_text(value)
    if unit in COUNTED or isinstance(value, bool | str) or value is None:
        return said
    tail = unit_text(unit, value) if unit in _SAID else foreign(unit)
    return Text(f"{said.en} {tail.en}".rstrip(), f"{said.zh} {tail.zh}".rstrip())


def promised_words(finding: Finding) -> Words:
    """What was promised; a promise that the model implies is quiet."""
    if finding.promised is None:
        return NOT_STATED
    tone = Tone.QUIET if finding.reason_code == Reason.IMPLIED else Tone.PLAIN
    return Words(value_text(finding.promised), tone)


def measured_words(finding: Finding) -> Words:
    """What was read or measured; loud when it fails."""
    if finding.measured is None:
        return NOT_READABLE
    return Words(value_text(finding.measured), Tone.FAIL if finding.verdict is Verdict.FAIL else Tone.PLAIN)


def figure(value: Value) -> float | None:
    """`value` if it is a finite number, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    return float(value)


def deviation(finding: Finding) -> Text:
    """Measured against promised in per cent; else how many of the subjects fail; else nothing."""
    promised, measured = figure(finding.promised), figure(finding.measured)
    if promised and measured is not None:
        return foreign(f"{number_text((measured / promised - 1) * 100)}{THIN}%")
    if finding.verdict is Verdict.FAIL and finding.subjects:
        count = f"{sum(s.verdict is Verdict.FAIL for s in finding.subjects)} / {len(finding.subjects)}"
        return Text(count, f"{count} 卡" if finding.subjects[0].index is not None else count)
    return foreign("")


def finding_name(finding: Finding, terms: Mapping[str, Term]) -> Text:
    """The check's title, with the term where one check judges several, else with the direction."""
    rule = rules().get(finding.check)
    title = rule.check.title if rule else foreign(finding.check)
    where = f" {arrow(finding.direction)}" if finding.direction else ""
    if rule and finding.term is not None and finding.term in terms and len(rule.check.terms) > 1:
        label = terms[finding.term].label
        return Text(f"{title.en}: {label.en}", f"{title.zh}：{label.zh}")
    return Text(title.en + where, title.zh + where)


def arrow(words: str) -> str:
    """`a->b` with a true arrow, which no line break tears apart."""
    return words.replace("->", "→")


def row_name(finding: Finding, terms: Mapping[str, Term]) -> Text:
    """The finding's name with the unit of its figures."""
    name, unit = finding_name(finding, terms), finding.unit
    if not unit or unit in COUNTED:
        return name
    said = unit_text(unit) if unit in _SAID else foreign(unit)
    return Text(f"{name.en}, {said.en}", f"{name.zh}，{said.zh}") if said.en else name


def term_name(term: str, terms: Mapping[str, Term]) -> Text:
    """The label of a term; the key of one that the catalogue does not know."""
    return terms[term].label if term in terms else foreign(term)


def short_hash(sha256: str) -> str:
    """First and last four digits; the list of evidence has all of them."""
    return f"{sha256[:4]}…{sha256[-4:]}" if len(sha256) > 9 else sha256


def grouped_hash(sha256: str) -> str:
    """A hash in groups of four digits, which people can compare."""
    return " ".join(sha256[n : n + 4] for n in range(0, len(sha256), 4))


def zone_name(zone: timezone) -> str:
    """Such as UTC+8 or UTC−03:30."""
    seconds = int((zone.utcoffset(None)).total_seconds())
    hours, minutes = divmod(abs(seconds) // 60, 60)
    sign = "\N{MINUS SIGN}" if seconds < 0 else "+"
    return f"UTC{sign}{hours}" + (f":{minutes:02d}" if minutes else "") if seconds else "UTC"


def clock_time(at: datetime, zone: timezone) -> str:
    """Date and time to the second, for a column whose head names the zone."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M:%S}"


def moment(at: datetime, zone: timezone) -> str:
    """Date, time to the second and zone."""
    return f"{clock_time(at, zone)} {zone_name(zone)}"


def utc_moment(at: datetime) -> str:
    """Date and time to the second in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
