"""When does a day of a contract begin?

A contract states days, not moments. They are those of the time zone that it names; else of the one that its supplier states with
his contacts, where all that state one state the same; else those of the calendar of this computer, as everywhere in the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gpulease_gui.domain.commercial import HolderOf, Subject, Terms
from gpulease_gui.domain.text import Text
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.suppliers import get_contract
from gpulease_gui.store.term_versions import get_terms

NAMED, CONTACTS, ZONE = "billing.time_zone", "supplier.contacts", "zone"
_MOST_CHARACTERS, _MOST_OFFSET = 64, timedelta(hours=14)
_IANA = re.compile(r"[A-Za-z_]+(?:/[A-Za-z0-9_+-]+)+")
_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])\s*(\d{1,2})(?::?([0-5]\d))?", re.IGNORECASE)
_UTC = frozenset({"utc", "gmt", "z", "utc+0", "utc±0"})
_CHINA = frozenset({"北京时间", "中国标准时间", "东八区", "beijing time", "china standard time", "beijing"})


@dataclass(frozen=True, slots=True)
class Days:
    """The days of one time zone; None is that of this computer. A change of the clock makes a day longer or shorter."""

    zone: tzinfo | None = None
    of_supplier: bool = False

    def of(self, at_s: float) -> date:
        """The day of a moment (UTC seconds)."""
        return datetime.fromtimestamp(at_s, UTC).astimezone(self.zone).date()

    def begin_s(self, day: date) -> float:
        """When a day begins (UTC seconds)."""
        midnight = datetime.combine(day, time.min, self.zone)
        return (midnight if self.zone else midnight.astimezone()).timestamp()

    def bounds_s(self, day: date) -> tuple[float, float]:
        """(begin, end) of a day in UTC seconds; its end is the begin of the next one."""
        return self.begin_s(day), self.begin_s(day + timedelta(days=1))

    def between(self, begin_s: float, end_s: float) -> tuple[date, ...]:
        """The days of which begin <= time < end has a part."""
        first, last = self.of(begin_s), self.of(end_s)
        found = tuple(first + timedelta(days=n) for n in range((last - first).days + 1))
        return found[:-1] if len(found) > 1 and self.begin_s(last) >= end_s else found

    @property
    def words(self) -> Text:
        """Which days they are."""
        if self.zone is None:
            return Text("days as on the calendar of this computer", "日期按本机日历")
        if self.of_supplier:
            return Text(f"days as in {self.zone}, the supplier's zone", f"日期按供应商时区 {self.zone}")
        return Text(f"days as in {self.zone}, as the contract says", f"日期按合同时区 {self.zone}")


def days_of(connection: Reader, contract_id: str | None) -> Days:
    """The days of a contract, or of a node without one. Raises UsageError for an unknown contract."""
    if contract_id is None:
        return Days()
    named = zone_from(get_terms(connection, Subject(HolderOf.CONTRACT, contract_id)).words(NAMED) or "")
    if named is not None:
        return Days(named)
    supplier_id = get_contract(connection, contract_id).supplier_id
    found = set(_stated(get_terms(connection, Subject(HolderOf.SUPPLIER, supplier_id))))
    return Days(found.pop(), of_supplier=True) if len(found) == 1 else Days()


def _stated(terms: Terms) -> Iterable[tzinfo]:
    rows = terms.value(CONTACTS)
    for row in rows if isinstance(rows, tuple) else ():
        zone = zone_from(str(dict(row).get(ZONE, "")))
        if zone is not None:
            yield zone


def zone_from(words: str) -> tzinfo | None:
    """The time zone that somebody wrote: "Asia/Shanghai", "UTC+8", "+08:00", "北京时间"; None where that can't be told."""
    words = words.strip()[:_MOST_CHARACTERS]
    if words.lower() in _UTC:
        return UTC
    if words.lower() in _CHINA:
        words = "Asia/Shanghai"
    if _IANA.fullmatch(words):
        try:
            return ZoneInfo(words)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return None
    found = _OFFSET.fullmatch(words)
    if found is None:
        return None
    sign, hours, minutes = found.groups()
    offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return timezone(-offset if sign == "-" else offset) if offset <= _MOST_OFFSET else None
