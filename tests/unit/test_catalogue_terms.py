"""Is a promise that cannot be meant refused, with the way to write it?"""

from __future__ import annotations

import pytest

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.catalog.terms import read_terms_file, validate_term
from gpulease_gui.checks.check import rules
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.term import TermKind


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def test_that_all_49_terms_have_both_labels(catalogue):
    assert len(catalogue.terms) == 49
    term = catalogue.terms["gpu.power_w"]
    assert (term.kind, term.unit, term.better, term.checks, term.label.zh) == (
        TermKind.NUMBER, "W", "more", ("power.limit",), "单卡功耗上限"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("gpu.count", 8, 8), ("gpu.count", 8.0, 8), ("network.gbit_s", 99.5, 99.5), ("gpu.whole", True, True),
        ("gpu.form_factor", "sxm", "sxm"), ("cuda.min", "12.4", "12.4"), ("gpu.model", " H100 ", "H100"),
        ("cpu.model", "EPYC 9654", "EPYC 9654"),
    ],
)  # fmt: skip
def test_that_a_good_value_is_kept(catalogue, key, value, kept):
    found = validate_term(key, value, catalogue)
    assert found == kept and type(found) is type(kept)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("gpu.power_w", "700 W", ["gpu.power_w", "'700 W' carries a unit", "always W", "gpu.power_w = 700"]),
        ("network.gbit_s", "100Gbps", ["carries a unit", "Gbit/s between two nodes", "network.gbit_s = 100"]),
        ("gpu.count", "eight", ["'eight' is text", "GPUs"]), ("gpu.count", 7.5, ["no whole number"]),
        ("gpu.count", True, ["True is no number"]), ("gpu.count", 0, ["cannot be meant", "1 to 128"]),
        ("gpu.power_w", float("nan"), ["cannot be meant"]), ("gpu.count", float("inf"), ["cannot be meant"]),
        ("gpu.whole", "yes", ["neither yes nor no", "true or false"]), ("cuda.min", 12.4, ["no text", '"12.4"']),
        ("cuda.min", "twelve", ["no version"]), ("driver.min", [550], ["no text"]),
        ("gpu.form_factor", "SXM5", ["no choice", "sxm, pcie, nvl, oam, superchip, module"]),
        ("gpu.cuont", 8, ["there is no such term", "gpu.count"]), ("power_w", 700, ["gpu.power_w"]),
        ("gpu.model", "A100 80GB", ["nvidia-a100-pcie-80gb", "nvidia-a100-sxm4-80gb"]), ("npu.model", 910, ["npu.model"]),
        ("npu.model", "A100 80GB", ["npu.model: 'A100 80GB' does not name one product"]),
    ],
)  # fmt: skip
def test_that_a_bad_value_says_what_where_and_how(catalogue, key, value, words):
    with pytest.raises(UsageError) as caught:
        validate_term(key, value, catalogue)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("version", ["8.0.RC2", "8.0.0.alpha003", "8.0.RC2.alpha001", "24.1.rc2", "12.4"])
def test_that_a_version_may_be_a_preliminary_one(catalogue, version):
    assert validate_term("cann.min", version, catalogue) == version


@pytest.mark.parametrize("version", ["RC2", "8.0.RC", "8.0 RC2", "8.0.beta; reboot", "8..0"])
def test_that_a_version_begins_with_numbers_and_ends_with_its_mark(catalogue, version):
    with pytest.raises(UsageError, match="no version"):
        validate_term("cann.min", version, catalogue)


def test_that_a_terms_file_is_flattened_to_dotted_keys():
    text = 'gpu.count = 8\ngpu.model = "H100"\nram_gb = 2048\n'
    assert read_terms_file(text) == {"gpu.count": 8, "gpu.model": "H100", "ram_gb": 2048}


def test_that_a_broken_terms_file_is_a_usage_error():
    with pytest.raises(UsageError, match="no TOML"):
        read_terms_file("gpu.count = eight")


def test_that_terms_and_checks_name_each_other(catalogue):
    for id_, rule in rules().items():
        assert {key for key, term in catalogue.terms.items() if id_ in term.checks} == set(rule.check.terms), id_
