"""Is each reason of our parsers told in Chinese, too, and does a node's text stay what it is?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpulease_gui
from gpulease_gui.domain.finding import Reason
from gpulease_gui.facts.unreadable_words import WORDS, unreadable_words
from gpulease_gui.services.judging import _WORDS

FACTS = Path(gpulease_gui.__file__).parent / "facts"


def said() -> Iterator[str]:
    """What each `Unreadable(...)` of the parsers says first: its words, with "9" for what is filled in."""
    for file in sorted(FACTS.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Unreadable" and node.args:
                yield from _words(node.args[0])


def _words(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "9" for part in node.values)
    elif isinstance(node, ast.IfExp):
        yield from _words(node.body)
        yield from _words(node.orelse)
    elif isinstance(node, ast.BoolOp):
        yield from _words(node.values[-1])


def test_that_each_reason_of_a_parser_has_chinese_words() -> None:
    found = {*said(), *_WORDS.values()}
    assert len(found) > 80
    assert {words for words in found if unreadable_words(words).zh == words} == set()
    assert all(zh.count("{") == en.count("{") for en, zh in WORDS.items())


@pytest.mark.parametrize(
    ("reason", "zh"),
    [
        ("no block device in the output: {0} <b>{x}", "输出中没有块设备：{0} <b>{x}"),
        ("no block device in the output: it is empty", "输出中没有块设备：输出为空"),
        ("nvidia-smi ended with exit code 9 after its report", "nvidia-smi 输出 report 之后以退出码 9 结束"),
        ("lspci ended with exit code 1: a\nb", "lspci 以退出码 1 结束：a\nb"),
        ("nvidia-smi gave no answer within 20 s", "nvidia-smi 在 20 秒内无应答"),
        ("Failed to initialize NVML: Unknown Error", "Failed to initialize NVML: Unknown Error"),
    ],
)
def test_that_our_words_are_told_and_the_nodes_own_are_kept(reason: str, zh: str) -> None:
    assert (unreadable_words(reason).en, unreadable_words(reason).zh) == (reason, zh)


def test_that_a_long_text_of_a_node_takes_no_time_that_grows_faster_than_it() -> None:
    assert unreadable_words("no " * 20_000).zh == "no " * 20_000
    assert Reason.CUT_OFF in _WORDS
