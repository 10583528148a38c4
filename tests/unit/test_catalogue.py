"""Does the catalogue hold what it must, and does it refuse every slip?"""

from __future__ import annotations

import tomllib

import pytest

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.catalog.checklist import load_checklist
from gpulease_gui.catalog.cuda import at_least, load_cuda
from gpulease_gui.catalog.gpus import FormClass, load_gpu
from gpulease_gui.catalog.loader import CatalogueFault, read_toml, resource, toml_files
from gpulease_gui.catalog.xid import Acceptance, Severity, load_xids
from gpulease_gui.domain.errors import UsageError


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def a_file() -> dict[str, object]:
    return read_toml(resource("gpus", "nvidia-h100-sxm5-80gb.toml"))


def loaded(table: dict[str, object], file: str = "nvidia-h100-sxm5-80gb.toml") -> object:
    return load_gpu(table, file, frozenset(read_toml(resource("sources.toml"))))


def test_that_all_83_products_load(catalogue):
    assert len(catalogue.gpus.models) == 83
    vendors = [m.vendor for m in catalogue.gpus.models.values()]
    assert (vendors.count("NVIDIA"), vendors.count("Huawei"), vendors.count("AMD")) == (61, 9, 4)


def test_that_every_resource_names_no_private_source():
    for file in [*toml_files("gpus"), *toml_files("terms"), resource("sources.toml"), resource("cuda.toml"), resource("xid.toml")]:
        text = file.read_text("utf-8")
        assert "corpus" not in text and "/work" not in text and "sibling" not in text, file.name


def test_that_an_h100_sxm_keeps_its_figures(catalogue):
    card = catalogue.gpus.models["nvidia-h100-sxm5-80gb"]
    assert (card.family, card.form_class, card.sm_count, card.nvlink_links) == ("H100", FormClass.SXM, 132, 18)
    assert (card.memory_total_mib, card.default_power_limit_w, card.pci_device_ids) == ((81559,), 700, ("10de:2330",))
    assert card.sources["memory_total_mib"] == ("cap_h100", "public capture", "lium")


@pytest.mark.parametrize(
    ("id_", "form", "family"),
    [
        ("nvidia-h200-nvl-141gb", "nvl", "H200"), ("nvidia-gh200-96gb", "superchip", "GH200"),
        ("nvidia-h20-3e-141gb", "sxm", "H20-3e"), ("huawei-ascend-910b3-64gb", "module", "910B"),
        ("huawei-ascend-910a-32gb", None, "910A"), ("biren-106m-32gb", None, "Biren106"),
        ("nvidia-rtx-4090-d-24gb", "pcie", "RTX 4090 D"), ("nvidia-a100-sxm-64gb", "sxm", "A100"),
        ("amd-mi300x-192gb", "oam", "MI300X"), ("nvidia-rtx-pro-6000-bw-maxq", "pcie", "RTX PRO 6000 Blackwell"),
    ],
)  # fmt: skip
def test_that_form_and_family_follow_id_and_name(catalogue, id_, form, family):
    card = catalogue.gpus.models[id_]
    assert (card.form_class, card.family) == (form, family)


def test_that_mock_totals_are_no_evidence(catalogue):
    assert 81920 not in catalogue.gpus.models["nvidia-h100-sxm5-80gb"].listed("memory_total_mib")
    assert 143771 not in catalogue.gpus.models["nvidia-h800-sxm5-80gb"].listed("memory_total_mib")
    assert catalogue.gpus.models["nvidia-a100-sxm4-80gb"].listed("default_power_limit_w") == (400, 400, 500, 275, 330)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sm_cuont": 132}, "nvidia-h100-sxm5-80gb.toml: sm_cuont: unknown key in GpuModel"),
        ({"sm_count": "132"}, "nvidia-h100-sxm5-80gb.toml: sm_count: int is wanted, not str '132'"),
        ({"sm_count": True}, "nvidia-h100-sxm5-80gb.toml: sm_count: int is wanted, not bool True"),
        ({"form_class": "sxm5"}, "nvidia-h100-sxm5-80gb.toml: form_class: 'sxm5' is none of sxm, pcie"),
        ({"fp4_dense_tflops": 1.0}, "nvidia-h100-sxm5-80gb.toml: fp4_dense_tflops: no source is named for this value"),
        ({"memory_total_mib": 81559}, "nvidia-h100-sxm5-80gb.toml: memory_total_mib: a list is wanted"),
        ({"id": "nvidia-h100"}, "nvidia-h100-sxm5-80gb.toml: id: the file of nvidia-h100 is called nvidia-h100.toml"),
        ({"sources": {"name": ["hearsay"]}}, "nvidia-h100-sxm5-80gb.toml: compute_capability: no source"),
    ],
)  # fmt: skip
def test_that_a_slip_in_a_gpu_file_names_file_and_key(change, words):
    with pytest.raises(CatalogueFault) as caught:
        loaded({**a_file(), **change})
    assert str(caught.value).startswith(words)


def test_that_an_unknown_source_and_a_missing_key_are_refused():
    table = a_file()
    table["sources"] = {**table["sources"], "sm_count": ["hearsay"]}
    with pytest.raises(CatalogueFault, match="sources.sm_count: unknown source 'hearsay'"):
        loaded(table)
    table = a_file()
    del table["vendor"]
    with pytest.raises(CatalogueFault, match="vendor: the key is missing"):
        loaded(table)


@pytest.mark.parametrize(
    ("word", "id_"),
    [
        ("nvidia-h100-pcie-80gb", "nvidia-h100-pcie-80gb"), ("NVIDIA H100 80GB HBM3", "nvidia-h100-sxm5-80gb"),
        ("H100 PCIe", "nvidia-h100-pcie-80gb"), ("H100 SXM 80 GB", "nvidia-h100-sxm5-80gb"),
        ("NVIDIA H200", "nvidia-h200-sxm-141gb"), ("L40", "nvidia-l40-48gb"), ("RTX 4090", "nvidia-rtx-4090-24gb"),
        ("NVIDIA GeForce RTX 4090", "nvidia-rtx-4090-24gb"), ("GeForce RTX 4090 D", "nvidia-rtx-4090-d-24gb"),
        ("H20", "nvidia-h20-96gb"), ("A100-SXM4-80GB", "nvidia-a100-sxm4-80gb"), ("Ascend 910B3", "huawei-ascend-910b3-64gb"),
        ("nvidia-rtx-4090-48gb-modified", "nvidia-rtx-4090-48gb-modified"),
    ],
)  # fmt: skip
def test_that_a_name_that_fits_one_product_is_that_product(catalogue, word, id_):
    assert catalogue.gpus.promise(word).product.id == id_


@pytest.mark.parametrize(("word", "family", "count"), [("H100", "H100", 6), ("h200", "H200", 2), ("910B", "910B", 5), ("V100", "V100", 4)])
def test_that_a_family_leaves_the_product_open(catalogue, word, family, count):
    promise = catalogue.gpus.promise(word)
    assert (promise.product, promise.family, len(promise.products), promise.implied(8)) == (None, family, count, {})


@pytest.mark.parametrize(
    ("word", "ids"),
    [
        ("A100 80GB", ["nvidia-a100-pcie-80gb", "nvidia-a100-sxm4-80gb"]),
        ("NVIDIA H100", ["nvidia-h100-sxm5-64gb", "nvidia-h100-sxm5-94gb", "nvidia-h100-sxm5-96gb"]),
        ("L20X", ["nvidia-l20x-masked-h200"]), ("RTX 4090 48GB", ["nvidia-rtx-4090-48gb-modified"]),
        ("H1000", ["nvidia-h100-sxm5-80gb"]),
    ],
)  # fmt: skip
def test_that_an_ambiguous_or_unknown_name_lists_ids(catalogue, word, ids):
    with pytest.raises(UsageError) as caught:
        catalogue.gpus.promise(word)
    assert all(id_ in caught.value.next_step for id_ in ids)


@pytest.mark.parametrize(
    ("id_", "count", "wiring"),
    [
        ("nvidia-h100-sxm5-80gb", 8, "nvswitch"), ("nvidia-h100-sxm5-80gb", 4, "nvlink"), ("nvidia-h100-sxm5-80gb", None, "nvlink"),
        ("nvidia-h100-sxm5-80gb", 1, None), ("nvidia-h800-sxm5-80gb", 8, "nvswitch"), ("nvidia-h100-nvl-94gb", 8, None),
        ("nvidia-a100-pcie-80gb", 8, None), ("nvidia-v100-sxm2-32gb", 8, None), ("nvidia-l40s-48gb", 8, None),
        ("nvidia-gb200-186gb", 4, "nvlink"),
    ],
)  # fmt: skip
def test_that_wiring_is_implied_only_where_it_is_sure(catalogue, id_, count, wiring):
    assert catalogue.gpus.promise(id_).implied(count).get("gpu.interconnect") == wiring


def test_that_a_product_implies_form_memory_and_power(catalogue):
    implied = catalogue.gpus.promise("nvidia-h100-pcie-80gb").implied(8)
    assert implied == {"gpu.form_factor": "pcie", "gpu.memory_gb": 80, "gpu.power_w": 350}


def test_that_xids_switch_errors_and_clock_bits_are_known():
    xids = load_xids()
    assert (len(xids.xids), xids.xids[79].acceptance, xids.xids[63].acceptance) == (176, Acceptance.FAIL, Acceptance.WARN)
    assert xids.xids[144].acceptance is Acceptance.BY_TEXT and "掉卡" in xids.xids[79].meaning.zh
    assert (len(xids.sxids), xids.sxids[20001]) == (93, Severity.NON_FATAL)
    assert xids.reasons_in(0x48) == ("hw_slowdown", "hw_thermal_slowdown") and xids.reasons_in(0x400) == ("unknown_0x400",)


def test_that_drivers_have_floors_and_ends():
    cuda = load_cuda()
    assert cuda.floor_for_capability("9.0") == "520.61.05" and cuda.floor_for_cuda("12.4") == "525"
    assert cuda.ended(cuda.branch_of("535.183.01")) and not cuda.ended(cuda.branch_of("580.65.06"))
    assert cuda.branch_of("550.54.15") is None
    assert at_least("550.54.15", "550.54.9") and at_least("580", "580.0.0") and not at_least("12.2", "12.10")


def test_that_the_checklist_has_106_questions_in_both_languages():
    items = load_checklist()
    assert len(items) == 106 and items["IC-01"].checks == ("gpu.model", "gpu.pci_id")
    assert all(item.text.zh and item.evidence.en for item in items.values())


def test_that_every_toml_file_is_utf8_and_parses():
    for file in [*toml_files("gpus"), *toml_files("terms")]:
        assert tomllib.loads(file.read_bytes().decode("utf-8")), file.name


@pytest.mark.parametrize(
    ("id_", "default"),
    [("nvidia-h100-sxm5-80gb", "on"), ("nvidia-l40s-48gb", "on"), ("nvidia-rtx-a6000-48gb", "off"), ("nvidia-rtx-4090-24gb", "off"),
     ("nvidia-rtx-5090-32gb", "none"), ("nvidia-rtx-6000d-84gb", None)],
)  # fmt: skip
def test_that_the_delivered_state_of_ecc_is_known(catalogue, id_, default):
    assert catalogue.gpus.models[id_].ecc_default == default
