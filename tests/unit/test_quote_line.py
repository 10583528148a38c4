"""Are the parts of a supplier's chat line found, and is the rest kept?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.catalog.gpus import load_gpus
from gpulease_gui.economics.quote_line import model_word, parts_of
from gpulease_gui.economics.quote_words import plain

GPUS = load_gpus()


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("H100 80G SXM 8卡 ¥12.5/卡/小时 含税 100G 起租24小时",
         {"gpu": "H100 80G SXM", "gpus": "8卡", "price": "¥12.5/卡/小时", "tax": "含税", "network": "100G", "min_billed": "起租24小时"}),
        ("8*H800 整机 7.5万/月 不含税 IB 8*400G 最短1个月",
         {"gpus": "8", "gpu": "H800", "whole": "整机", "price": "7.5万/月", "tax": "不含税", "network": "IB 8*400G", "min_billed": "最短1个月"}),
        ("A100-SXM4-80GB x8, $1.6/gpu/h, min 24h, 100Gbps",
         {"gpu": "A100-SXM4-80GB", "gpus": "x8", "price": "$1.6/gpu/h", "min_billed": "min 24h", "network": "100Gbps"}),
        ("4090 24G 单卡 1.8元/卡/时 按小时计费 面议折扣",
         {"gpu": "4090 24G", "gpus": "单卡", "price": "1.8元/卡/时", "granularity": "按小时计费", "note": "面议折扣"}),
        ("910B 8卡 内存 2T 硬盘 4*3.84T 6.5元/卡时 含6%税 起租1天",
         {"gpu": "910B", "gpus": "8卡", "ram": "内存 2T", "disk": "硬盘 4*3.84T", "price": "6.5元/卡时", "tax": "含6%税", "min_billed": "起租1天"}),
        ("H20 141G 8卡 10台 2.2万/台/月 SLA 99.9%",
         {"gpu": "H20 141G", "gpus": "8卡", "nodes": "10台", "price": "2.2万/台/月", "sla": "SLA 99.9%"}),
        ("在吗？报价稍后发", {"note": "在吗?报价稍后发"}),
    ],
)  # fmt: skip
def test_that_a_chat_line_falls_into_its_parts_with_the_words_they_came_from(line, parts):
    assert {part.field: part.words for part in parts_of(line, GPUS)} == parts


def test_that_a_bare_number_is_a_card_only_where_one_bears_it():
    assert model_word("4090", GPUS) == "nvidia-rtx-4090-24gb"
    assert model_word("2024", GPUS) is None
    assert model_word("H999", GPUS) is None


@given(st.text(max_size=80))
def test_that_no_line_breaks_it_and_every_part_stands_in_the_line(line):
    for part in parts_of(line, GPUS):
        assert part.field == "note" or part.words in plain(line)
