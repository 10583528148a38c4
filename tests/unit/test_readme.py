"""The two READMEs say the same, and what they say exists."""

from __future__ import annotations

import re
from pathlib import Path

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
ENGLISH = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")


def blocks(text: str) -> list[str]:
    return re.findall(r"```\w*\n(.*?)```", text, re.S)


def test_that_both_languages_have_the_same_commands_and_headings() -> None:
    assert blocks(ENGLISH) == blocks(CHINESE)
    assert re.findall(r"^#+", ENGLISH, re.M) == re.findall(r"^#+", CHINESE, re.M)
    assert len(re.findall(r"^\|", ENGLISH, re.M)) == len(re.findall(r"^\|", CHINESE, re.M))


def test_that_every_command_and_term_named_exists() -> None:
    assert set(re.findall(r"^gpulease (\w+)", "\n".join(blocks(ENGLISH)), re.M)) <= set(COMMANDS)
    terms = set(re.findall(r"`([a-z]+(?:\.[a-z_]+)+|ram_gb|isolation|tenancy)`", ENGLISH)) - {"terms.toml"}
    assert terms <= set(load_catalogue().terms)


def test_that_links_to_files_lead_somewhere() -> None:
    for text in (ENGLISH, CHINESE):
        assert all((ROOT / path).exists() for path in re.findall(r"\]\(([\w.-]+)\)", text))
