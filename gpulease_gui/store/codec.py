"""How are times, values and findings written as text that comes back exactly?"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Value, Verdict
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.threshold import JudgedBy, Origin


def utc_text(at: datetime) -> str:
    """UTC to the microsecond, of one width, so that text order is time order. Raises ValueError without a zone.

    >>> utc_text(datetime(2026, 3, 1, 8, tzinfo=UTC))
    '2026-03-01T08:00:00.000000Z'
    """
    if at.tzinfo is None:
        raise ValueError("a time without a zone can't be stored")
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def utc_from(text: str) -> datetime:
    """The moment that `utc_text` wrote."""
    return datetime.fromisoformat(text)


def maybe_utc_text(at: datetime | None) -> str | None:
    """`utc_text`, None kept."""
    return None if at is None else utc_text(at)


def maybe_utc_from(text: str | None) -> datetime | None:
    """`utc_from`, None kept."""
    return None if text is None else utc_from(text)


def maybe_date_text(day: date | None) -> str | None:
    """YYYY-MM-DD, None kept."""
    return None if day is None else day.isoformat()


def maybe_date_from(text: str | None) -> date | None:
    """The day that `maybe_date_text` wrote."""
    return None if text is None else date.fromisoformat(text)


def money_from(amount: str | None, currency: str | None) -> Money | None:
    """The amount with all its decimals; None when it was not stated."""
    return None if amount is None or currency is None else Money(Decimal(amount), currency)


def amount_text(money: Money | None) -> str | None:
    """Plain decimal digits, trailing zeros kept."""
    return None if money is None else format(money.amount, "f")


def currency_text(money: Money | None) -> str | None:
    """The currency code, None kept."""
    return None if money is None else money.currency


def json_text(value: object) -> str:
    """`value` as strict JSON; other scripts stay readable, half surrogates (foreign text) are escaped."""
    plain = _READABLE.encode(value)
    return _ESCAPED.encode(value) if _has_surrogate(plain) else plain


def mark_document(words: str) -> dict[str, Any]:
    """What the words of a mark say by name; nothing where they are no document: marks come with merged workspaces, too."""
    try:
        said = json.loads(words)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


_READABLE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ESCAPED = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def _has_surrogate(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def storable(text: str) -> str:
    """`text` with half surrogates, which no database column takes, replaced; for columns that are only looked at."""
    return text.encode("utf-8", "replace").decode("utf-8") if _has_surrogate(text) else text


def value_text(value: Value) -> str:
    """A promised or measured value as JSON, its kind kept: "007" stays text, 8.0 stays a float."""
    return json_text(_plain(value))


def value_from(text: str) -> Value:
    """The value that `value_text` wrote."""
    return _value(json.loads(text))


def maybe_value_text(value: TermValue | None) -> str | None:
    """`value_text`, None (not stated) kept as NULL."""
    return None if value is None else value_text(value)


def maybe_value_from(text: str | None) -> TermValue | None:
    """The value that `maybe_value_text` wrote."""
    return None if text is None else value_from(text)


def pairs_text(pairs: Sequence[tuple[str, Value]]) -> str:
    """Keys with their values as one JSON object, order kept."""
    return json_text({key: _plain(value) for key, value in pairs})


def pairs_from(text: str) -> tuple[tuple[str, Value], ...]:
    """The pairs that `pairs_text` wrote."""
    return tuple((str(key), _value(value)) for key, value in json.loads(text).items())


def _plain(value: Value) -> object:
    # JSON has no word for these three numbers, and a reading must not become null by being stored.
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    return value


def _value(plain: Any) -> Value:
    value: Value = float(plain["number"]) if isinstance(plain, dict) else plain
    return value


def finding_text(finding: Finding) -> str:
    """The whole finding as one JSON document."""
    return json_text(
        {
            "check": finding.check, "verdict": finding.verdict, "reason": _words(finding.reason),
            "term": finding.term, "promised": _plain(finding.promised), "measured": _plain(finding.measured),
            "unit": finding.unit, "subjects": [_subject(s) for s in finding.subjects],
            "reason_code": finding.reason_code, "next_step": _words(finding.next_step), "basis": finding.basis,
            "better": finding.better, "rule_version": finding.rule_version, "required": finding.required,
            "evidence": list(finding.evidence), "direction": finding.direction,
            "judged_by": [_figure(one) for one in finding.judged_by],
        }
    )  # fmt: skip


def finding_from(text: str) -> Finding:
    """The finding that `finding_text` wrote."""
    said = json.loads(text)
    return Finding(
        check=said["check"], verdict=Verdict(said["verdict"]), reason=_text(said["reason"]), term=said["term"],
        promised=_value(said["promised"]), measured=_value(said["measured"]), unit=said["unit"],
        subjects=tuple(_subject_from(s) for s in said["subjects"]), reason_code=said["reason_code"],
        next_step=_text(said["next_step"]), basis=Basis(said["basis"]), better=said["better"],
        rule_version=said["rule_version"], required=said["required"], evidence=tuple(said["evidence"]),
        direction=said["direction"], judged_by=tuple(_figure_from(one) for one in said.get("judged_by", ())),
    )  # fmt: skip


def _figure(one: JudgedBy) -> dict[str, object]:
    return {
        "check": one.check, "name": one.name, "title": _words(one.title), "value": _plain(one.value), "unit": one.unit,
        "origin": one.origin, "source": one.source, "sign": one.sign,
    }  # fmt: skip


def _figure_from(said: dict[str, Any]) -> JudgedBy:
    return JudgedBy(
        said["check"], said["name"], _text(said["title"]), float(said["value"]), said["unit"], Origin(said["origin"]),
        said["source"], said["sign"],
    )  # fmt: skip


def _words(text: Text) -> dict[str, str]:
    return {"en": text.en, "zh": text.zh}


def _text(said: dict[str, str]) -> Text:
    return Text(said["en"], said["zh"])


def _subject(subject: SubjectFinding) -> dict[str, object]:
    return {
        "id": subject.id, "verdict": subject.verdict, "measured": _plain(subject.measured), "index": subject.index,
        "reason": _words(subject.reason),
    }  # fmt: skip


def _subject_from(said: dict[str, Any]) -> SubjectFinding:
    return SubjectFinding(
        said["id"], Verdict(said["verdict"]), _value(said["measured"]), said["index"], _text(said["reason"])
    )
