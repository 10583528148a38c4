"""Does every reader of NVIDIA's tools end in a reading or in Unreadable, whatever it is given, and never invent a value?"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.facts import smi_xml
from gpulease_gui.facts.fact import Reader, readers

TESTS = Path(__file__).parents[1]
KINDS = ("smi_xml", "smi_q", "smi_table", "smi_csv", "smi_list", "smi_error", "mig", "dmon", "pmon")
SEEDS = [path.read_bytes() for kind in KINDS for path in sorted((TESTS / "facts" / kind).glob("*.out"))]
SAMPLE = (TESTS / "outputs" / "h100_sxm8.xml").read_bytes()
# One card of the sample: small enough to be cut at every byte.
ONE_CARD = SAMPLE[: SAMPLE.index(b"</gpu>") + 6] + b"\n</nvidia_smi_log>\n"
CPU_SECONDS = 2.0  # per input of up to 64 KiB; a reader that backtracks takes minutes
MOST_BYTES = 64 * 1024

Mutation = Callable[[bytes], bytes]


def coloured(raw: bytes) -> bytes:
    return re.sub(rb"\d+", lambda digits: b"\x1b[1;31m" + digits[0] + b"\x1b[0m", raw)


PLAIN_MUTATIONS: tuple[Mutation, ...] = (
    lambda raw: raw,
    lambda raw: raw.replace(b"\n", b"\r\n"),
    lambda raw: raw.replace(b"\t", b"    "),
    lambda raw: raw.replace(b"    ", b"\t"),
    lambda raw: raw.replace(b" ", b"      "),
    lambda raw: raw.replace(b"\n", b""),
    lambda raw: b"# " + raw.replace(b"\n", b"\n> "),
    lambda raw: raw + raw,
    lambda raw: raw.decode("utf-8", "replace").encode("utf-16"),
    lambda raw: re.sub(rb"\d", b"9999999999", raw),
    lambda raw: re.sub(rb"\d+", b"N/A", raw),
    coloured,
)


def cut(at: float) -> Mutation:
    return lambda raw: raw[: int(len(raw) * at)]


def splice(other: bytes, at: float) -> Mutation:
    return lambda raw: raw[: int(len(raw) * at)] + other + raw[int(len(raw) * at) :]


def overwrite(other: bytes, at: float) -> Mutation:
    return lambda raw: raw[: int(len(raw) * at)] + other + raw[int(len(raw) * at) + len(other) :]


parts = st.floats(0, 1)
mutations = st.one_of(
    st.sampled_from(PLAIN_MUTATIONS),
    st.builds(cut, parts),
    st.builds(splice, st.one_of(st.binary(max_size=40), st.sampled_from(SEEDS)), parts),
    st.builds(overwrite, st.binary(min_size=1, max_size=40), parts),
)
# A run of one thing is what makes a careless pattern slow.
units = st.one_of(
    st.binary(min_size=1, max_size=12),
    st.sampled_from(
        [b" ", b"\t", b"|", b"+-", b"-", b"<a>", b"|  0 ", b"GPU 0: a ", b"a, ", b"# gpu ", b"a : ", b"\x1b[", b"0"]
    ),
)
tails = st.sampled_from([b"", b"\n", b"|", b"+", b" (UUID: x", b"\n<nvidia_smi_log>"])


def end_of(reader: Reader, raw: bytes) -> dict[str, object] | None:
    """What the parser itself says (not `read`, which forgives it errors): keys, or None for Unreadable."""
    try:
        reading = reader.parse(CommandOutput(raw))
    except Unreadable as error:
        assert error.reason and error.code
        reading = error.reading
    return None if reading is None else reader.as_dict(reading)


def check_ends_well(raw: bytes) -> None:
    for kind in KINDS:
        reader = readers()[kind]
        start = time.thread_time()
        keys = end_of(reader, raw)
        sure = reader.recognise(raw.decode("utf-8", "replace"))
        assert time.thread_time() - start < CPU_SECONDS, kind
        assert 0 <= sure <= 100
        json.dumps(keys, allow_nan=False)


@given(st.sampled_from(SEEDS), st.lists(mutations, max_size=4))
def test_that_a_changed_output_is_read_or_refused_quickly(seed: bytes, changes: list[Mutation]) -> None:
    for change in changes:
        seed = change(seed)[:MOST_BYTES]
    check_ends_well(seed)


@given(st.one_of(st.binary(max_size=2000), st.text(max_size=2000).map(lambda text: text.encode("utf-8", "replace"))))
def test_that_random_bytes_are_read_or_refused_quickly(raw: bytes) -> None:
    check_ends_well(raw)


@settings(max_examples=30)  # each runs nine readers over 64 KiB
@given(units, tails)
def test_that_64_kib_of_one_thing_are_read_or_refused_quickly(unit: bytes, tail: bytes) -> None:
    check_ends_well((unit * (MOST_BYTES // len(unit))) + tail)


def read_partly(raw: bytes) -> smi_xml.SmiReport | None:
    try:
        return smi_xml.parse(CommandOutput(raw))
    except Unreadable as error:
        assert error.reading is None or isinstance(error.reading, smi_xml.SmiReport)
        return error.reading


def inventions(part: smi_xml.Gpu, whole: smi_xml.Gpu) -> list[str]:
    """Fields of `part` that hold a value `whole` does not have; an empty collection or False is no value."""
    found = []
    for name in whole.__dataclass_fields__:
        got, true = getattr(part, name), getattr(whole, name)
        fewer = name.endswith("_fields") and set(got) <= set(true)
        if got is not None and got != true and not fewer and not (name == "clock_reasons_shown" and not got):
            found.append(f"{name}: {got!r} instead of {true!r}")
    return found


FAULTY = (TESTS / "facts" / "smi_xml" / "two_cards_faults.out").read_bytes()


@pytest.mark.parametrize("raw", [ONE_CARD, FAULTY], ids=["clean", "faulty"])
def test_that_an_xml_cut_at_any_byte_invents_nothing(raw: bytes) -> None:
    whole = smi_xml.parse(CommandOutput(raw))
    steps = range(0, raw.rindex(b"</nvidia_smi_log>"), 17 if len(raw) > 10_000 else 1)
    for at in steps:
        part = read_partly(raw[:at])
        if part is None:
            continue
        assert part.cut_off
        assert part.driver_version in (None, whole.driver_version)
        assert part.attached_gpus_stated in (None, whole.attached_gpus_stated)
        for got, true in zip(part.gpus, whole.gpus, strict=False):
            assert inventions(got, true) == [], at


@given(st.integers(0, len(SAMPLE)))
def test_that_an_eight_card_xml_cut_at_any_byte_invents_nothing(at: int) -> None:
    whole = smi_xml.parse(CommandOutput(SAMPLE))
    part = read_partly(SAMPLE[:at])
    if part is not None:
        assert len(part.gpus) <= 8
        for got, true in zip(part.gpus, whole.gpus, strict=False):
            assert inventions(got, true) == []


# Without an end mark a list that was cut looks shorter, and the average draw stands in for an instant one that was
# cut off; every other value must be the whole's or missing.
LISTS = {"process_count", "mig_devices", "active_clock_reasons", "gpu_records", "gpus", "power_draw_w"}


@pytest.mark.parametrize(
    ("kind", "name"), [("smi_q", "two_h200_mig"), ("smi_q", "p100_tree"), ("smi_table", "a100_two_process")]
)
def test_that_a_text_cut_at_any_byte_invents_no_single_value(kind: str, name: str) -> None:
    reader, raw = readers()[kind], (TESTS / "facts" / kind / f"{name}.out").read_bytes()
    whole = end_of(reader, raw)
    assert whole is not None
    for at in range(len(raw)):
        for key, got in (end_of(reader, raw[:at]) or {}).items():
            pairs = zip(got, whole[key], strict=False) if isinstance(got, list) else [(got, whole[key])]
            wrong = [(value, true) for value, true in pairs if value is not None and value != true]
            assert key in LISTS or not wrong, (at, key, wrong)


def test_that_eight_cards_are_read_within_a_frame() -> None:
    taken = []
    for _ in range(5):
        start = time.thread_time()
        smi_xml.parse(CommandOutput(SAMPLE))
        taken.append(time.thread_time() - start)
    assert min(taken) < 0.060  # about 10 ms on a desktop; the slack is for slow and busy machines
