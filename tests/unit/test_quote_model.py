"""Are cards known by the names that suppliers write, and is a product never chosen that the name leaves open?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.catalog.gpus import load_gpus
from gpulease_gui.economics.quote_model import near, read_model, settled

GPUS = load_gpus()


@pytest.mark.parametrize(
    ("words", "product"),
    [
        ("H100 80GB SXM", "nvidia-h100-sxm5-80gb"), ("H100-SXM5-80GB", "nvidia-h100-sxm5-80gb"), ("H100（80GB SXM）", "nvidia-h100-sxm5-80gb"),
        ("H100/80G/SXM", "nvidia-h100-sxm5-80gb"), ("NVIDIA H100 80GB HBM3", "nvidia-h100-sxm5-80gb"), ("nvidia-h100-sxm5-80gb", "nvidia-h100-sxm5-80gb"),
        ("H100 PCIe", "nvidia-h100-pcie-80gb"), ("H100 80GB PCIe Gen5 x16", "nvidia-h100-pcie-80gb"), ("H200 NVL", "nvidia-h200-nvl-141gb"),
        ("A800 80GB PCIe", "nvidia-a800-pcie-80gb"), ("A100_80G_SXM", "nvidia-a100-sxm4-80gb"), ("Nvidia A100 (80 GB, SXM4)", "nvidia-a100-sxm4-80gb"),
        ("A100 PCIe 4.0 80GB", "nvidia-a100-pcie-80gb"), ("V100 SXM2 32GB", "nvidia-v100-sxm2-32gb"), ("RTX 4090 24G", "nvidia-rtx-4090-24gb"),
        ("4090", "nvidia-rtx-4090-24gb"), ("4090 24G 公版", "nvidia-rtx-4090-24gb"), ("RTX4090D", "nvidia-rtx-4090-d-24gb"), ("5090D", "nvidia-rtx-5090-d-32gb"),
        ("L40s 48G", "nvidia-l40s-48gb"), ("A10G", "nvidia-a10g-24gb"), ("A10 24G", "nvidia-a10-24gb"), ("A6000", "nvidia-rtx-a6000-48gb"),
        ("6000 Ada", "nvidia-rtx-6000-ada-48gb"), ("RTX PRO 6000 Server", "nvidia-rtx-pro-6000-bw-server"), ("H20 96G NVLink", "nvidia-h20-96gb"),
        ("H20 141G", "nvidia-h20-3e-141gb"), ("H20", "nvidia-h20-96gb"), ("B200 192G", "nvidia-b200-sxm-180gb"), ("GB200 NVL72", "nvidia-gb200-186gb"),
        ("910B3", "huawei-ascend-910b3-64gb"), ("昇腾 910C", "huawei-ascend-910c-128gb"), ("寒武纪 MLU370-X8", "cambricon-mlu370-x8-48gb"),
        ("摩尔线程S4000", "moorethreads-mtt-s4000-48gb"), ("Tesla T4 16G", "nvidia-t4-16gb"), ("MI300X", "amd-mi300x-192gb"),
    ],
)  # fmt: skip
def test_that_a_name_that_says_one_product_is_its_id(words: str, product: str):
    found = read_model(words, GPUS)
    assert found is not None and found.is_product and found.word == product


@pytest.mark.parametrize(
    ("words", "family", "memory_gb", "form", "open_ones"),
    [
        ("H100", "H100", None, None, 6), ("H100 80G", "H100", 80, None, 2), ("H100 SXM", "H100", None, "sxm", 4), ("H100 SXM5", "H100", None, "sxm", 4),
        ("A100 80G", "A100", 80, None, 2), ("NVIDIA H200 141GB", "H200", 141, None, 2), ("NVIDIA H100", "H100", None, None, 6), ("昇腾910B", "910B", None, None, 5),
        ("910B 32G", "910B", 32, None, 1), ("HGX H100", "H100", None, "sxm", 4), ("V100 32G", "V100", 32, None, 2), ("RTX PRO 6000", "RTX PRO 6000 Blackwell", None, None, 3),
    ],
)  # fmt: skip
def test_that_a_name_that_leaves_a_product_open_is_its_family(words: str, family: str, memory_gb: int | None, form: str | None, open_ones: int):
    found = read_model(words, GPUS)
    assert found is not None and found.doubt is None and not found.is_product
    assert (found.word, found.memory_gb, found.form, len(found.candidates)) == (family, memory_gb, form, open_ones)


@pytest.mark.parametrize(
    ("words", "count"),
    [("H100-SXM-80GB*8", 8), ("8×H800", 8), ("H100*8", 8), ("H100 8*80GB", 8), ("h100 sxm 80g x8", 8), ("8卡H100 80G SXM", 8), ("单卡4090", 1),
     ("4090 24G*8卡", 8), ("RTX 3090 24GB *4", 4), ("H800-NVLink-8卡", 8), ("H100 80GB PCIe Gen5 x16", None), ("MLU370-X8", None)],
)  # fmt: skip
def test_that_a_count_beside_the_name_is_a_count(words: str, count: int | None):
    found = read_model(words, GPUS)
    assert found is not None and found.count == count


@pytest.mark.parametrize("words", ["4090 48G", "RTX 4090 48GB", "4090魔改48G", "4090 Ti", "L20X 141G", "H100 80G NVL", "A100 80G 工程版", "H100 Lite", "4090 D 48G"])
def test_that_altered_cards_and_strange_words_are_never_a_product(words: str):
    found = read_model(words, GPUS)
    assert found is not None and found.doubt is not None and found.candidates and not found.is_product
    assert found.word is None or found.word not in GPUS.models


@pytest.mark.parametrize("words", ["H999", "V100S", "A100X", "昇腾910", "备注", "8", "RTX 6000", "", "CPU服务器"])
def test_that_a_name_that_nobody_bears_is_none(words: str):
    assert read_model(words, GPUS) is None


def test_that_a_number_behind_a_name_is_no_part_of_it():
    found = read_model("H20 0", GPUS)
    assert found is None or found.word != "H200"
    assert [m.id for m in near("V100S", GPUS)][:1] == ["nvidia-v100-pcie-16gb"]


def test_that_other_cells_of_the_row_settle_what_the_name_leaves_open():
    open_one = read_model("H100 SXM", GPUS)
    assert open_one is not None
    assert settled(open_one, GPUS, 80).word == "nvidia-h100-sxm5-80gb"
    bare = read_model("A100", GPUS)
    assert bare is not None
    assert [m.id for m in settled(bare, GPUS, 80).candidates] == ["nvidia-a100-pcie-80gb", "nvidia-a100-sxm4-80gb"]
    assert settled(bare, GPUS, 80, "sxm").word == "nvidia-a100-sxm4-80gb"
    card = read_model("4090", GPUS)
    assert card is not None and settled(card, GPUS, 48).doubt is not None


@given(st.text(max_size=60))
def test_that_no_name_breaks_it_and_every_word_is_one_that_the_catalogue_takes(words: str):
    found = read_model(words, GPUS)
    if found is not None and found.word is not None:
        assert GPUS.promise(found.word).products
