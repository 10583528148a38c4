"""Does a Chinese window say in Chinese what our own agent says of a node?"""

from __future__ import annotations

import re
from importlib import resources

import pytest

from gpulease_gui.domain.text import Text
from gpulease_gui.services.nvml_words import NVML_ERRORS
from gpulease_gui.services.watch_words import trouble_words


@pytest.mark.parametrize(("said", "zh"), [
    ("the NVIDIA driver stopped answering (GPU is lost)", "NVIDIA 驱动停止应答（GPU is lost）"),
    ("not found any more", "已找不到此卡"),
    ("it answers nothing", "此卡无应答"),
    ("a line of more than 64 KiB was left out", "已略去一行超过 64 KiB 的数据"),
    ("a node's own word (x)", "a node's own word (x)"),
])  # fmt: skip
def test_that_what_the_agent_says_is_told_in_chinese_around_the_drivers_own_words(said: str, zh: str) -> None:
    words = trouble_words(said)
    assert (words.en, words.zh) == (said, zh)


@pytest.mark.parametrize(("said", "en", "zh"), [
    ("NVML error 15", "NVML error 15: GPU is lost", "NVML 错误 15：GPU 丢失"),
    ("the NVIDIA driver stopped answering (NVML error 18)",
     "the NVIDIA driver stopped answering (NVML error 18: driver/library version mismatch)",
     "NVIDIA 驱动停止应答（NVML 错误 18：驱动与库版本不匹配）"),
    ("no NVIDIA driver answers here (NVML error 9)",
     "no NVIDIA driver answers here (NVML error 9: driver not loaded)", "没有 NVIDIA 驱动应答（NVML 错误 9：驱动未加载）"),
    ("NVML error 9999999", "NVML error 9999999", "NVML 错误 9999999"),
])  # fmt: skip
def test_that_the_numbers_of_nvml_are_told_with_what_they_mean(said: str, en: str, zh: str) -> None:
    assert trouble_words(said) == Text(en, zh)


def test_that_every_error_of_nvml_has_its_words() -> None:
    assert set(NVML_ERRORS) == {*range(1, 30), 999}
    assert all(words.en and re.search("[\u4e00-\u9fff]", words.zh) for words in NVML_ERRORS.values())


FILLED = "cat x"


def said_by_us() -> list[str]:
    """What our readers and the agent say of what they can't read, with something in each place that they fill."""
    package = resources.files("gpulease_gui")
    found: list[str] = []
    for folder in ("telemetry", "facts"):
        for file in package.joinpath(folder).iterdir():
            if file.name.endswith(".py") and (folder == "telemetry" or file.name == "npu_smi.py"):
                text = file.read_text(encoding="utf-8")
                found += re.findall(r'Unreadable\(f?"([^"]+)"', text) + re.findall(r"printf '! ([^'\\]+)", text)
    agent = package.joinpath("agent", "node_agent.py").read_text(encoding="utf-8")
    found += re.findall(r'"! ([^"{]+[^" {])"', agent) + ["network can't be read: [Errno 5] Input/output error"]
    return [re.sub(r"\{[^}]*(MOST)?[^}]*\}", lambda hit: "64" if "MOST" in hit[0] else FILLED, words) for words in found]


def test_that_every_word_of_ours_of_what_can_not_be_read_has_its_chinese() -> None:
    others = {"a log is read by the task that follows it"}  # of no line of a node
    words = [said for said in said_by_us() if said not in others and said != FILLED]
    more = ["more than 1024 series: the rest is left out", "NVML error 16", "the line has an unknown form (KeyError)", "internal error: ValueError"]
    assert len(words) > 20 and [said for said in (*words, *more) if not re.search("[\u4e00-\u9fff]", trouble_words(said).zh)] == []
    assert trouble_words("not a disk row: {0} x") == Text("not a disk row: {0} x", "不是磁盘行：{0} x")
