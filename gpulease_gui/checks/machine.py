"""By what is a machine known again, and what is different between two looks at it?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gpulease_gui.checks.thresholds import Origin, Threshold
from gpulease_gui.domain.finding import Value, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.nvlink import NvlinkReport
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

NOTE_PERCENT = Threshold(
    "evidence.drift", "note", 3.0, "%", Text("a fall warns above", "下降超过此值即警告"), ">", Origin.PUBLISHED,
    "microsoft/superbenchmark: baseline generation", high=100.0,
)  # fmt: skip
BREAK_PERCENT = Threshold(
    "evidence.drift", "break", 8.0, "%", Text("a fall breaks what was accepted above", "下降超过此值即不及验收时"), ">", high=100.0
)


@dataclass(frozen=True, slots=True)
class FallLimits:
    """How many per cent a value may fall: more than the first is worth a warning, more than the second a failure."""

    note_percent: float = NOTE_PERCENT.value
    break_percent: float = BREAK_PERCENT.value


SHIPPED_FALLS = FallLimits()


@dataclass(frozen=True, slots=True)
class CardMarks:
    """What one card says of itself; None = it does not say it. Memory in MiB, power limit in W, links = active NVLinks."""

    place: str
    uuid: str | None = None
    serial: str | None = None
    name: str | None = None
    vbios: str | None = None
    memory_mib: int | None = None
    power_limit_w: float | None = None
    links: int | None = None
    sliced: bool = False

    @property
    def key(self) -> str | None:
        """What no other card has; None for a card that can't be told from others."""
        return self.uuid or self.serial


@dataclass(frozen=True, slots=True)
class Machine:
    """One node as one run saw it."""

    cards: tuple[CardMarks, ...] = ()
    driver: str | None = None
    boot_id: str | None = None
    machine_id: str | None = None
    product: str | None = None
    host_key: str | None = None


class ChangeKind(StrEnum):
    """What changed."""

    CARD_SWAPPED = "card_swapped"
    CARD_MISSING = "card_missing"
    CARD_ADDED = "card_added"
    SERIAL = "serial_changed"
    VBIOS = "vbios_changed"
    MEMORY = "memory_lowered"
    POWER_LIMIT = "power_limit_lowered"
    LINKS = "links_lost"
    DRIVER = "driver_changed"
    REBOOT = "rebooted"
    MACHINE_ID = "machine_id_changed"
    PRODUCT = "product_changed"
    HOST_KEY = "host_key_changed"
    RATE = "rate_fell"


IDENTITY_KINDS = frozenset([
    ChangeKind.CARD_SWAPPED, ChangeKind.CARD_MISSING, ChangeKind.CARD_ADDED, ChangeKind.SERIAL, ChangeKind.REBOOT,
    ChangeKind.MACHINE_ID, ChangeKind.PRODUCT, ChangeKind.HOST_KEY,
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """One difference in the renter's words. `subject` is the card or the measurement, empty = the node."""

    kind: ChangeKind
    verdict: Verdict
    words: Text
    subject: str = ""
    before: Value = None
    after: Value = None


def machine_of(
    report: SmiReport | None, environment: Environment | None, nvlink: NvlinkReport | None = None, host_key: str | None = None
) -> Machine:
    """The marks that these readings hold."""
    cards = tuple(_card(gpu, nvlink) for gpu in report.gpus) if report else ()
    env = environment or Environment()
    return Machine(
        cards, report.driver_version if report else None, env.boot_id, env.machine_id, env.dmi_product, host_key
    )


def _card(gpu: Gpu, nvlink: NvlinkReport | None) -> CardMarks:
    return CardMarks(
        gpu.bus_id or f"GPU {gpu.index}", gpu.uuid, gpu.serial, gpu.name, gpu.vbios, gpu.memory_total_mib,
        gpu.power_limit_w, _links(gpu, nvlink), gpu.mig_mode_current == "Enabled",
    )  # fmt: skip


def _links(gpu: Gpu, nvlink: NvlinkReport | None) -> int | None:
    found = next((g for g in nvlink.gpus if g.uuid and g.uuid == gpu.uuid), None) if nvlink else None
    return None if found is None or found.mig_hides or (nvlink and nvlink.cut_off) else found.active_count


def changes(old: Machine, new: Machine, falls: FallLimits = SHIPPED_FALLS) -> tuple[Change, ...]:
    """What is different now, the worst first. What either side does not say is no difference."""
    found = [*_cards(old.cards, new.cards, falls), *_node(old, new)]
    order = (Verdict.FAIL, Verdict.WARN, Verdict.PASS)
    return tuple(sorted(found, key=lambda change: order.index(change.verdict)))


_MARKS: tuple[tuple[Callable[[CardMarks], Value], Text], ...] = (
    (lambda card: card.power_limit_w, Text("power limit", "功耗上限")),
    (lambda card: card.memory_mib, Text("memory", "显存容量")),
    (lambda card: card.links, Text("NVLinks", "NVLink 链路")),
    (lambda card: card.vbios, Text("VBIOS", "VBIOS 版本")),
)


def not_told(old: Machine, new: Machine) -> tuple[Text, ...]:
    """The settings that `old` names and `new` is silent about, of the cards that are in both; what is silent may have changed."""
    now = {card.key: card for card in new.cards if card.key}
    pairs = [(card, now[card.key]) for card in old.cards if card.key in now]
    found = []
    for mark, name in _MARKS:
        silent = sum(mark(before) is not None and mark(after) is None for before, after in pairs)
        if silent:
            found.append(Text(f"{name.en} of {silent} {'card' if silent == 1 else 'cards'}", f"{silent} 张卡的{name.zh}"))
    return (*found, Text("driver version", "驱动版本")) if old.driver and not new.driver else tuple(found)


def _cards(old: Sequence[CardMarks], new: Sequence[CardMarks], falls: FallLimits) -> Iterator[Change]:
    if not old or not new:
        return
    before = {card.key: card for card in old if card.key}
    now = {card.key: card for card in new if card.key}
    nameless = {card.place for card in new if not card.key}
    gone = [card for key, card in before.items() if key not in now and card.place not in nameless]
    came = [card for key, card in now.items() if key not in before]
    yield from _exchanged(gone, came, had_nameless=any(not card.key for card in old))
    for key, card in before.items():
        if key in now:
            yield from _same_card(card, now[key], falls)


def _exchanged(gone: list[CardMarks], came: list[CardMarks], *, had_nameless: bool) -> Iterator[Change]:
    fresh = {card.place: card for card in came}
    for card in gone:
        other = fresh.pop(card.place, None)
        if other is not None:
            yield _swapped(card, other)
        else:
            words = Text(f"the card {card.key} at {card.place} is missing", f"位于 {card.place} 的卡 {card.key} 不见了")
            yield Change(ChangeKind.CARD_MISSING, Verdict.FAIL, words, card.key or "", card.key)
    for card in fresh.values() if not had_nameless else ():
        words = Text(f"a card {card.key} at {card.place} was not there before", f"{card.place} 多出一张卡 {card.key}")
        yield Change(ChangeKind.CARD_ADDED, Verdict.WARN, words, card.key or "", None, card.key)


def _swapped(old: CardMarks, new: CardMarks) -> Change:
    other = new.name != old.name and new.name is not None
    en, zh = (f" and is a {new.name}", f"，型号变为 {new.name}") if other else ("", "")
    return Change(
        ChangeKind.CARD_SWAPPED, Verdict.FAIL,
        Text(f"the card at {old.place} was swapped: {old.key} before, {new.key} now{en}",
             f"{old.place} 的卡被更换：原为 {old.key}，现为 {new.key}{zh}"),
        new.key or "", old.key, new.key,
    )  # fmt: skip


def _same_card(old: CardMarks, new: CardMarks, falls: FallLimits) -> Iterator[Change]:
    subject = new.key or ""
    if old.serial and new.serial and old.serial != new.serial:
        words = Text(f"{subject} had the serial number {old.serial}, now {new.serial}", f"{subject} 的序列号由 {old.serial} 变为 {new.serial}")
        yield Change(ChangeKind.SERIAL, Verdict.FAIL, words, subject, old.serial, new.serial)
    if old.vbios and new.vbios and old.vbios != new.vbios:
        words = Text(f"VBIOS of {subject}: {old.vbios} before, {new.vbios} now", f"{subject} 的 VBIOS 由 {old.vbios} 变为 {new.vbios}")
        yield Change(ChangeKind.VBIOS, Verdict.WARN, words, subject, old.vbios, new.vbios)
    yield from _lower(ChangeKind.POWER_LIMIT, Text("power limit", "功耗上限"), "W", subject, old.power_limit_w, new.power_limit_w, falls)
    yield from _lower(ChangeKind.MEMORY, Text("memory", "显存"), "MiB", subject, old.memory_mib, new.memory_mib, falls)
    if old.links is not None and new.links is not None and new.links < old.links:
        words = Text(f"{subject} lost NVLinks: {old.links} before, {new.links} now", f"{subject} 的 NVLink 由 {old.links} 条减为 {new.links} 条")
        yield Change(ChangeKind.LINKS, Verdict.FAIL, words, subject, old.links, new.links)


def _lower(
    kind: ChangeKind, name: Text, unit: str, subject: str, old: float | None, new: float | None,
    falls: FallLimits,
) -> Iterator[Change]:
    if old is None or new is None or not new < old:
        return
    words = Text(f"{name.en} of {subject} lowered: {old:g} {unit} before, {new:g} {unit} now",
                 f"{subject} 的{name.zh}被调低：由 {old:g} {unit} 变为 {new:g} {unit}")  # fmt: skip
    yield Change(kind, by_fall(fall_percent(old, new), falls), words, subject, old, new)


def fall_percent(old: float, new: float) -> float:
    """By how many percent `new` lies below `old`; negative for a rise, 0 when `old` is no rate."""
    return (old - new) / old * 100 if old > 0 else 0.0


def by_fall(percent: float, falls: FallLimits = SHIPPED_FALLS) -> Verdict:
    """What a fall of so many percent means: noise, worth a note, or less than was accepted."""
    if percent > falls.break_percent:
        return Verdict.FAIL
    return Verdict.WARN if percent > falls.note_percent else Verdict.PASS


def _node(old: Machine, new: Machine) -> Iterable[Change]:
    yield from _other(ChangeKind.DRIVER, Text("the driver changed", "驱动版本变了"), old.driver, new.driver)
    yield from _other(ChangeKind.REBOOT, Text("the node was restarted", "节点重启过"), old.boot_id, new.boot_id, shown=False)
    yield from _other(ChangeKind.MACHINE_ID, Text("the system was installed anew or is another one", "系统被重装或已换成另一套"), old.machine_id, new.machine_id)
    yield from _other(ChangeKind.PRODUCT, Text("the machine is of another make", "整机型号变了"), old.product, new.product)
    yield from _other(ChangeKind.HOST_KEY, Text("the SSH host key changed", "SSH 主机密钥变了"), old.host_key, new.host_key)


def _other(kind: ChangeKind, name: Text, old: str | None, new: str | None, *, shown: bool = True) -> Iterator[Change]:
    if old and new and old != new:
        words = Text(f"{name.en}: {old} before, {new} now", f"{name.zh}：原为 {old}，现为 {new}") if shown else name
        yield Change(kind, Verdict.WARN, words, "", old, new)
