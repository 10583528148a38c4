"""What does a code in the kernel log mean, and which bits slow a clock down?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpulease_gui.catalog.loader import CatalogueFault, build, read_toml, resource
from gpulease_gui.domain.text import Text


class Acceptance(StrEnum):
    """What an Xid does to a handover.

    fail: any occurrence. warn: report, fail when it repeats on one GPU. retry: an application's own fault, judged
    by a rerun. by_text: the log line's own words decide. info: record only.
    """

    FAIL = "fail"
    WARN = "warn"
    RETRY = "retry"
    BY_TEXT = "by_text"
    INFO = "info"


# The reasons that hold a clock back, by the names of the catalogue; the others leave it at what it was set to.
CLOCKS_HELD_BACK: Mapping[str, Text] = {
    "sw_power_cap": Text("power cap", "功耗封顶"), "hw_slowdown": Text("hardware slowdown", "硬件降频"),
    "sw_thermal_slowdown": Text("thermal slowdown", "过热降频"), "hw_thermal_slowdown": Text("thermal slowdown by hardware", "硬件过热降频"),
    "hw_power_brake_slowdown": Text("power brake", "供电制动"),
}  # fmt: skip


class Severity(StrEnum):
    """How far an NVSwitch error reaches: the host, one link, nothing."""

    ALWAYS_FATAL = "always_fatal"
    PORT_FATAL = "port_fatal"
    NON_FATAL = "non_fatal"


@dataclass(frozen=True, slots=True)
class Xid:
    """One code of the NVIDIA driver. `group`: memory, link, bus, power, firmware, engine, app, driver, virt ..."""

    code: int
    name: str
    group: str
    acceptance: Acceptance
    meaning: Text
    source: str


@dataclass(frozen=True, slots=True)
class ClockReason:
    """One bit of clocks_event_reasons.active."""

    bit: int
    name: str


@dataclass(frozen=True, slots=True)
class _XidFile:
    sources: Mapping[str, str]
    xid: tuple[Xid, ...]
    clock_reason: tuple[ClockReason, ...]
    sxid: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class XidCatalogue:
    """Codes of the driver, of NVSwitch, and the clock bits."""

    xids: Mapping[int, Xid] = field(default_factory=dict)
    sxids: Mapping[int, Severity] = field(default_factory=dict)
    clock_reasons: tuple[ClockReason, ...] = ()

    def reasons_in(self, mask: int) -> tuple[str, ...]:
        """The names of the bits set in `mask`; an unknown bit is named by its value."""
        known = {reason.bit: reason.name for reason in self.clock_reasons}
        bits = (1 << n for n in range(mask.bit_length()))
        return tuple(known.get(bit, f"unknown_{bit:#x}") for bit in bits if mask & bit)


def load_xids() -> XidCatalogue:
    """resources/xid.toml. Raises CatalogueFault."""
    file = build(_XidFile, read_toml(resource("xid.toml")), "xid.toml")
    for xid in file.xid:
        if xid.source not in file.sources:
            raise CatalogueFault("xid.toml", f"xid {xid.code}", f"unknown source {xid.source!r}")
    sxids = {code: Severity(word) for word, codes in file.sxid.items() for code in codes}
    return XidCatalogue({xid.code: xid for xid in file.xid}, sxids, file.clock_reason)
