from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.remote.stream import LINE_MAX_BYTES, TOO_LONG, LineCutter, StreamLine

MARK = "0" * 32


def cut(data: bytes, cutter: LineCutter | None = None) -> list[StreamLine]:
    return list((cutter or LineCutter(MARK, ["gpu", "net"])).feed(data))


WIRE = (
    b"motd\n"
    + f"{MARK} BEAT\n{MARK} gpu 0, 71, 655.2\n{MARK} net+ eth0 \n{MARK} gpu 1\n{MARK} net 12\n{MARK} END gpu 127\n".encode()
)
LINES = [StreamLine("gpu", b"0, 71, 655.2"), StreamLine("gpu", b"1"), StreamLine("net", b"eth0 12"), StreamLine("gpu", None, 127)]


@given(st.lists(st.integers(0, len(WIRE)), max_size=12))
def test_that_lines_are_the_same_however_they_are_cut_on_the_way(cuts):
    cutter = LineCutter(MARK, ["gpu", "net"])
    edges = [0, *sorted(cuts), len(WIRE)]
    assert [line for a, b in zip(edges, edges[1:], strict=False) for line in cutter.feed(WIRE[a:b])] == LINES


@given(st.binary(max_size=400))
def test_that_foreign_bytes_never_become_lines(noise):
    assert cut(noise.replace(MARK.encode(), b"") + b"\n") == []


def test_that_unknown_sources_and_torn_ends_are_noise():
    assert cut(f"{MARK} disk 1\n{MARK} END\n{MARK} END gpu x\n{MARK} END disk 0\n{MARK}\n".encode()) == []


def test_that_a_line_without_end_is_dropped_and_memory_stays_small():
    cutter = LineCutter(MARK, ["gpu"])
    told: list[StreamLine] = []
    for _ in range(100):
        told += cut(f"{MARK} gpu ".encode() + b"x" * 50_000, cutter)
        assert len(cutter._rest) <= LINE_MAX_BYTES
    assert told == [StreamLine("gpu", TOO_LONG)], "its source says so, once"
    assert cut(f"\n{MARK} gpu back\n".encode(), cutter) == [StreamLine("gpu", b"back")]
    assert cutter.dropped == 1


def test_that_endless_pieces_are_dropped_and_memory_stays_small():
    cutter = LineCutter(MARK, ["gpu"])
    for _ in range(100):
        assert cut(f"{MARK} gpu+ ".encode() + b"x" * 3500 + b"\n", cutter) == []
    assert len(cutter._pieces["gpu"]) < LINE_MAX_BYTES + 3501
    assert cut(f"{MARK} gpu end\n{MARK} gpu back\n".encode(), cutter) == [StreamLine("gpu", TOO_LONG), StreamLine("gpu", b"back")]
    assert cutter.dropped == 1


def test_that_a_megabyte_without_a_source_is_noise_and_one_of_a_source_is_told_in_its_place():
    cutter = LineCutter(MARK, ["gpu", "net"])
    wire = b"x" * 2**20 + b"\n" + f"{MARK} net 1\n{MARK} gpu {'9' * 2**20}\n{MARK} net 2\n".encode()
    assert cut(wire, cutter) == [StreamLine("net", b"1"), StreamLine("gpu", TOO_LONG), StreamLine("net", b"2")]
    assert cutter.dropped == 2


def test_that_a_beat_and_a_line_of_ours_are_signs_of_life_and_noise_is_none():
    cutter = LineCutter(MARK, ["gpu"])
    told = [(cut(data, cutter), cutter.spoke, cutter.beat) for data in (b"noise\n", f"{MARK} BEAT\n".encode(), f"{MARK} bogus x\n".encode(), f"{MARK} gpu 1\n".encode())]
    assert told == [([], False, False), ([], True, True), ([], False, False), ([StreamLine("gpu", b"1")], True, False)]
