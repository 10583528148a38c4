"""Which readings does every fact have in what was pasted, and do two of them contradict?

The order in which outputs were pasted must not matter: sources stand in an order of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import combinations

from gpulease_gui.checks.judgement import Evidence
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import readers
from gpulease_gui.facts.smi_error import SmiError
from gpulease_gui.facts.smi_record import Gpu
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.table_text import short_bus_id
from gpulease_gui.services.pasted_cards import TABLE_CHECKS
from gpulease_gui.services.pasted_forms import CARDS, as_facts

# Logs and counters go on between two looks; two of them are two moments, no contradiction.
_MOVING = frozenset([
    "dmesg", "clock_now", "load_now", "cpu_state", "cpu_load", "port_counters", "nvlink_errors", "pmon", "dmon", "mounts",
    "memory_limits", "smi_error",
])  # fmt: skip
# The call was wrong, not the node.
_NO_ANSWER_ABOUT_CARDS = frozenset(["invalid_query_field", "invalid_arguments"])
# Forms that list every card of the node; others may have been asked for one card only.
_WHOLE_LISTS = frozenset([CARDS, "smi_q", "smi_table", "smi_list"])


@dataclass(frozen=True, slots=True)
class Sent:
    """One output that was read: its kind, how to name it, what it says or why that is not known."""

    kind: str
    name: str
    reading: object | None
    trouble: Unreadable | None
    sha256: str


@dataclass(frozen=True, slots=True)
class Source:
    """What one output says of one fact. `whole`: it tells as much as the fact's own command would."""

    sent: Sent
    evidence: Evidence
    whole: bool

    @property
    def strong(self) -> bool:
        """Whether its silence means anything at all."""
        return self.whole and self.evidence.reading is not None

    @property
    def _order(self) -> tuple[bool, bool, str, str]:
        return not self.strong, self.evidence.reading is None, self.sent.kind, self.sent.sha256


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two outputs that can't both be true of one node."""

    fact_id: str
    one: Sent
    other: Sent
    what: Text


def sources_of(outputs: Iterable[Sent]) -> dict[str, tuple[Source, ...]]:
    """The sources of every fact, the most telling first; outputs that say the same count once."""
    found: dict[str, list[Source]] = {}
    for sent in outputs:
        for fact_id, source in _sources(sent):
            found.setdefault(fact_id, []).append(source)
    return {fact_id: _distinct(sources) for fact_id, sources in found.items()}


def _sources(sent: Sent) -> Iterator[tuple[str, Source]]:
    yield sent.kind, Source(sent, Evidence(sent.reading, sent.trouble, sent.sha256), whole=True)
    if isinstance(sent.reading, SmiError) and sent.reading.state not in _NO_ANSWER_ABOUT_CARDS:
        error = sent.reading
        trouble = Unreadable(error.reason, code=error.state, next_step=error.next_step)
        yield CARDS, Source(sent, Evidence(None, trouble, sent.sha256), whole=True)
    for fact_id, reading, whole in as_facts(sent.kind, sent.reading):
        yield fact_id, Source(sent, Evidence(reading, None, sent.sha256), whole)


def _distinct(sources: list[Source]) -> tuple[Source, ...]:
    kept: list[Source] = []
    for source in sorted(sources, key=lambda s: s._order):
        if not any(source.evidence.sha256 == k.evidence.sha256 and source.sent.kind == k.sent.kind for k in kept):
            kept.append(source)
    return tuple(kept)


def contradictions(sources: Mapping[str, tuple[Source, ...]]) -> tuple[Contradiction, ...]:
    """Every fact that two outputs tell differently, one contradiction each."""
    found = (_contradiction(fact_id, of_fact) for fact_id, of_fact in sorted(sources.items()))
    return tuple(one for one in found if one is not None)


def _contradiction(fact_id: str, sources: tuple[Source, ...]) -> Contradiction | None:
    told = [source for source in sources if source.evidence.reading is not None]
    for one, other in combinations(told, 2):
        what = _differs(fact_id, one, other)
        if what is not None:
            return Contradiction(fact_id, one.sent, other.sent, what)
    failed = next((source for source in sources if source.sent.kind == "smi_error" and source.evidence.reading is None), None)
    if failed is not None and told:
        return Contradiction(fact_id, told[0].sent, failed.sent, _FAILS)
    return None


_FAILS = Text("nvidia-smi answers in one and fails in the other", "一份中 nvidia-smi 有应答，另一份中报错")


def _differs(fact_id: str, one: Source, other: Source) -> Text | None:
    first, second = one.evidence.reading, other.evidence.reading
    if isinstance(first, SmiReport) and isinstance(second, SmiReport):
        both_whole = {one.sent.kind, other.sent.kind} <= _WHOLE_LISTS
        return next(_reports_differ(first, second, counts=both_whole), None)
    reader = readers().get(fact_id)
    if reader is None or fact_id in _MOVING or reader.fact.impact is not Impact.PASSIVE or not (one.whole and other.whole):
        return None
    if fact_id in ("smi_table", "smi_q", "smi_list", "smi_csv"):  # compared as the cards that they show
        return None
    ours, theirs = reader.as_dict(first), reader.as_dict(second)
    key = next((key for key in ours if ours[key] != theirs.get(key)), None)
    return None if key is None else Text(f"{key}: {_short(ours[key])} and {_short(theirs.get(key))}",
                                         f"{key}：{_short(ours[key])} 与 {_short(theirs.get(key))}")  # fmt: skip


def _short(value: object) -> str:
    said = str(value)
    return said if len(said) <= 80 else f"{said[:79]}…"


def _reports_differ(one: SmiReport, other: SmiReport, *, counts: bool) -> Iterator[Text]:
    yield from _two(Text("driver", "驱动"), one.driver_version, other.driver_version)
    if counts and not one.cut_off and not other.cut_off and len(one.gpus) != len(other.gpus):
        yield from _two(Text("number of cards", "卡数"), len(one.gpus), len(other.gpus))
    twins = [(gpu, _twin(gpu, other)) for gpu in one.gpus]
    if one.gpus and other.gpus and not any(twin for _, twin in twins):
        yield Text("they have no card in common", "两份输出没有任何一张相同的卡")
    for gpu, twin in twins:
        if twin is not None:
            yield from _cards_differ(gpu, twin)
        elif counts and not one.cut_off and not other.cut_off:
            yield Text(f"card {gpu.key} stands in one of them only", f"卡 {gpu.key} 只出现在其中一份")


def _twin(gpu: Gpu, other: SmiReport) -> Gpu | None:
    """The same card in another form: by UUID where both print it, else by slot, else by number."""
    for name in ("uuid", "bus_id"):
        mine = _plain(name, getattr(gpu, name))
        theirs = {_plain(name, getattr(g, name)): g for g in other.gpus}
        if mine and None not in theirs:
            return theirs.get(mine)
    return next((g for g in other.gpus if g.index == gpu.index), None)


_SIGNS = ("uuid", "serial", "name", "pci_device_id", "pci_subsystem_id", "memory_total_mib", "vbios", "bus_id")


def _cards_differ(gpu: Gpu, twin: Gpu) -> Iterator[Text]:
    for name in _SIGNS:
        ours, theirs = _plain(name, getattr(gpu, name)), _plain(name, getattr(twin, name))
        if ours is None or theirs is None or ours == theirs or (name == "name" and _is_cut(ours, theirs)):
            continue
        label = f"GPU {gpu.index} {name}"
        yield from _two(Text(label, label), getattr(gpu, name), getattr(twin, name))


def _plain(name: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    if name == "bus_id":
        return short_bus_id(value)
    return " ".join(value.upper().split()).removeprefix("NVIDIA ").replace("-", " ") if name == "name" else value.lower()


def _is_cut(one: object, other: object) -> bool:
    """The table cuts long names and marks them with dots."""
    short, long = sorted((str(one), str(other)), key=len)
    return short.rstrip(".") != short and long.startswith(short.rstrip("."))


def _two(what: Text, one: object, other: object) -> Iterator[Text]:
    if one is not None and other is not None and one != other:
        yield Text(f"{what.en}: {one} and {other}", f"{what.zh}：{one} 与 {other}")


def told_by(sources: Iterable[Source]) -> frozenset[str]:
    """The checks whose questions these forms answer or visibly leave open, though they tell less than the fact."""
    return TABLE_CHECKS if any(source.sent.kind == "smi_table" for source in sources) else frozenset()


def merged(sources: tuple[Source, ...]) -> Evidence:
    """What several agreeing outputs say of the cards together: the first that tells a field."""
    first = sources[0].evidence
    if not isinstance(first.reading, SmiReport) or sources[0].strong:
        return first
    report = first.reading
    for source in sources[1:]:
        if isinstance(source.evidence.reading, SmiReport):
            report = _both(report, source.evidence.reading)
    return replace(first, reading=report)


def _both(one: SmiReport, other: SmiReport) -> SmiReport:
    gpus = tuple(_filled(gpu, twin) if (twin := _twin(gpu, other)) else gpu for gpu in one.gpus)
    return replace(
        one, gpus=gpus, driver_version=one.driver_version or other.driver_version, cuda_version=one.cuda_version or other.cuda_version
    )


def _filled(gpu: Gpu, twin: Gpu) -> Gpu:
    names = [field.name for field in fields(Gpu)]
    more = {name: getattr(twin, name) for name in names if getattr(gpu, name) is None and getattr(twin, name) is not None}
    if gpu.name and twin.name and gpu.name.endswith("...") and not twin.name.endswith("..."):
        more["name"] = twin.name
    return replace(gpu, **more)
