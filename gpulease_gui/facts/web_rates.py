"""How fast does the node load files from the internet?"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import document, items, words
from gpulease_gui.facts.raw_runs import pack, unpack
from gpulease_gui.facts.table_text import clean, first_line

MAX_URLS = 4
# Less than this is over before TCP has found the speed of the line.
_LEAST_BYTES = 1_000_000
_TIMED_OUT = 28
_FORMAT = "gpulease-web %{http_code} %{size_download} %{time_starttransfer} %{time_total}\\n"
_LINE = re.compile(r"^gpulease-web (\d{3}) (\d{1,15}) (\d{1,6}\.\d{1,6}) (\d{1,6}\.\d{1,6})$", re.MULTILINE)
_URL = re.compile(r"https?://[^\s'\"<>\\^`{|}]{1,2000}")

# What is printed: a run puts length and address in their places.
FACT = Fact(
    id="web_rates",
    title=Text("Download from the internet", "公网下载速度"),
    command=Command("curl", "-sS", "-L", "--max-time", "SECONDS", "-o", "/dev/null", "-w", _FORMAT, "URL"),
    seconds=60,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class WebTry:
    """One download over one connection: 1e6 bit/s once data flowed; None with the `trouble` that explains it."""

    url: str
    mbit_s: float | None
    seconds: float | None = None
    trouble: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class WebRates:
    """The downloads in the order run; none when no address was given."""

    tries: tuple[WebTry, ...] = ()


def command(url: str, seconds: int) -> Command:
    """One download that is thrown away, for at most `seconds`. Raises ValueError for anything but an http(s) address."""
    if not _URL.fullmatch(url):
        raise ValueError("it is no http address")  # one with a password in it is not repeated
    return Command("curl", "-sS", "-L", "--max-time", str(seconds), "-o", "/dev/null", "-w", _FORMAT, url)


def combine(runs: Sequence[tuple[str, CommandOutput]]) -> CommandOutput:
    """One output that holds the downloads with their addresses."""
    whole = {"web": [{"url": url, "run": pack(run)} for url, run in runs]}
    return CommandOutput(json.dumps(whole, ensure_ascii=False).encode())


def runs_in(output: CommandOutput) -> tuple[tuple[str, CommandOutput], ...]:
    """The downloads of a combined output, raw. Raises Unreadable when there is no JSON."""
    found = items(document(output.text), "web")[: MAX_URLS * 4]
    return tuple((words(one, "url") or "?", run) for one in found for run in unpack(one.get("run"))[:1])


def parse(output: CommandOutput) -> WebRates:
    """Read a combined output. Raises Unreadable when it is no such document."""
    if "web" not in document(output.text):
        raise Unreadable("no download was tried", code=Reason.NOT_COLLECTED)
    return WebRates(tuple(_try(url, run) for url, run in runs_in(output)))


def _try(url: str, run: CommandOutput) -> WebTry:
    line = _LINE.search(clean(run.text))
    # The end of the time that a download may take is no failure of it.
    if line is None or run.exit_code not in (0, _TIMED_OUT):
        return _failed(url, run)
    status, size, begin, total = int(line[1]), int(line[2]), float(line[3]), float(line[4])
    if not 200 <= status < 300:
        return WebTry(url, None, trouble=f"the server answered {status}", code=Reason.UNREADABLE)
    if size < _LEAST_BYTES or total <= begin:
        return WebTry(url, None, trouble=f"only {size:,} bytes came", code="file_too_small")
    return WebTry(url, size * 8 / 1e6 / (total - begin), total - begin)


def _failed(url: str, run: CommandOutput) -> WebTry:
    codes: dict[Any, str] = {127: Reason.MISSING_TOOL, 124: Reason.TIMEOUT, 137: Reason.TIMEOUT, None: Reason.CONNECTION_LOST}
    said = first_line(run.error_text)[:200] or "curl gave no figures"
    return WebTry(url, None, trouble=said, code=str(codes.get(run.exit_code, Reason.UNREADABLE)))


def as_dict(reading: WebRates) -> dict[str, object]:
    """Per download: address, rate in Mbit/s (two decimals), trouble."""
    return {
        "urls": [one.url for one in reading.tries],
        "mbit_s": [None if one.mbit_s is None else round(one.mbit_s, 2) for one in reading.tries],
        "troubles": [one.trouble or None for one in reading.tries],
    }


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith('{"web": ') else 0
