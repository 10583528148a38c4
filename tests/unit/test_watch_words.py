"""Does a Chinese window say in Chinese what our own agent says of a node?"""

from __future__ import annotations

import pytest

from gpulease_gui.services.watch_words import trouble_words


@pytest.mark.parametrize(("said", "zh"), [
    ("no NVIDIA driver answers here (NVML error 9)", "没有 NVIDIA 驱动应答（NVML error 9）"),
    ("the NVIDIA driver stopped answering (GPU is lost)", "NVIDIA 驱动停止应答（GPU is lost）"),
    ("not found any more", "已找不到此卡"),
    ("it answers nothing", "此卡无应答"),
    ("a line of more than 64 KiB was left out", "已略去一行超过 64 KiB 的数据"),
    ("a node's own word (x)", "a node's own word (x)"),
])  # fmt: skip
def test_that_what_the_agent_says_is_told_in_chinese_around_the_drivers_own_words(said: str, zh: str) -> None:
    words = trouble_words(said)
    assert (words.en, words.zh) == (said, zh)
