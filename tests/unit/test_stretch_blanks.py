"""Is a gap of a report one of the whole chart, or of some of its curves?"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import pytest

from gpulease_gui.domain.text import Text
from gpulease_gui.reports.document import Blank
from gpulease_gui.services.stretch_blanks import blanks_of
from gpulease_gui.store.records import Gap, SampleRange, Series, Stretch

NS = 1_000_000_000
POWER, RX = "gpu.power_w", "net.rx_gbit_s"
CARDS = [f"GPU-{letter}" for letter in "abcdef"]
NUMBERS = {card: number for number, card in enumerate(CARDS)}
NAMES = {card: f"name of {card}" for card in CARDS}
UNREAD = Text("not available on the node", "节点不提供此读数")


def curve(subject: str, seconds: Iterable[int], metric: str = POWER) -> Stretch:
    times = array("q", [second * NS for second in seconds])
    return Stretch(Series("n", metric, subject), times, array("f", [1.0] * len(times)), array("f", [1.0] * len(times)))


def gap(subject: str, start_s: float, end_s: float, code: str = "not_available", metric: str | None = POWER, *, imported: bool = False) -> Gap:
    return Gap("n", int(start_s * NS), int(end_s * NS), f"{code} {subject}".rstrip(), metric, imported)


def blanks(curves: Iterable[Stretch], *gaps: Gap) -> tuple[Blank, ...]:
    return blanks_of(SampleRange(tuple(curves), gaps), (0, 100 * NS), NUMBERS, NAMES)


def without(first: int, last: int) -> list[int]:
    return [second for second in range(100) if not first <= second < last]


def test_that_a_gap_of_a_card_that_another_outlives_names_the_card() -> None:
    made = blanks([curve(CARDS[0], range(100)), curve(CARDS[1], without(20, 50))], gap(CARDS[1], 20, 50))
    assert made == (Blank(20, 50, UNREAD, ("name of GPU-b",), Text("GPU 1", "GPU 1")),)


def test_that_a_gap_of_the_only_card_is_one_of_the_whole_chart() -> None:
    made = blanks([curve(CARDS[0], without(20, 50))], gap(CARDS[0], 20, 50))
    assert made == (Blank(20, 50, Text("GPU 0: not available on the node", "GPU 0：节点不提供此读数")),)


def test_that_gaps_of_all_cards_at_once_are_one_gap_of_the_whole_chart() -> None:
    made = blanks([curve(card, without(20, 50)) for card in CARDS], *(gap(card, 20 + n / 100, 50) for n, card in enumerate(CARDS)))
    assert made == (Blank(20, 50, Text("all 6 GPUs: not available on the node", "全部 6 卡：节点不提供此读数")),)


@pytest.mark.parametrize(("count", "en", "zh"), [(2, "GPU 0, 1", "GPU 0、1"), (5, "5 cards", "5 张卡")])
def test_that_gaps_of_some_cards_at_once_are_told_once(count: int, en: str, zh: str) -> None:
    read = [curve(card, without(20, 50) if n < count else range(100)) for n, card in enumerate(CARDS)]
    (made,) = blanks(read, *(gap(card, 20, 50) for card in CARDS[:count]))
    assert (made.whose, len(made.curves), made.reason) == (Text(en, zh), count, UNREAD)


def test_that_gaps_of_other_times_and_reasons_are_told_apart() -> None:
    read = [curve(card, without(20, 70) if n < 4 else range(100)) for n, card in enumerate(CARDS)]
    made = blanks(read, gap(CARDS[0], 20, 50), gap(CARDS[1], 20, 70), gap(CARDS[2], 20, 50, "lost"), gap(CARDS[3], 20, 50, imported=True))
    assert sorted((one.whose.en, one.end_s, one.reason.en) for one in made) == [
        ("GPU 0", 50, "not available on the node"), ("GPU 1", 70, "not available on the node"), ("GPU 2", 50, "lost"),
        ("GPU 3", 50, "not available on the node (imported)"),
    ]  # fmt: skip


def test_that_a_gap_shorter_than_the_slices_of_a_long_stretch_is_no_gap_of_the_others() -> None:
    (made,) = blanks([curve(CARDS[0], range(0, 100, 20)), curve(CARDS[1], range(0, 100, 20))], gap(CARDS[1], 45, 55))
    assert made.curves == ("name of GPU-b",)


def test_that_a_gap_of_the_whole_node_or_of_a_source_is_one_of_the_whole_chart() -> None:
    made = blanks([curve(CARDS[0], without(20, 90))], gap("", 20, 50, "connection_lost", None), gap("", 60, 90, "silent", POWER))
    assert [(one.start_s, one.end_s, one.curves) for one in made] == [(20, 50, ()), (60, 90, ())]


def test_that_a_silence_of_all_is_told_beside_a_gap_of_one() -> None:
    made = blanks([curve(CARDS[0], without(40, 60)), curve(CARDS[1], without(10, 90))], gap(CARDS[1], 10, 90))
    assert [(one.start_s, one.end_s, one.whose.en, one.reason.en) for one in made] == [(10, 90, "GPU 1", UNREAD.en), (39, 60, "", "no readings")]


def test_that_a_gap_of_an_interface_names_it() -> None:
    read = [curve("eth0", range(100), RX), curve("eth1", without(20, 50), RX)]
    (made,) = blanks(read, gap("eth1", 20, 50, metric=RX))
    assert (made.whose, made.curves) == (Text("eth1", "eth1"), ("eth1",))
