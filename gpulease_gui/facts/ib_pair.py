"""How fast does RDMA write from a node to its peer, port by port (`ib_write_bw`)?"""

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
from gpulease_gui.facts.table_text import MISSING_TOOL_WORDS, clean, first_line

MAX_DEVICES = 16
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,40}")
_RATE = re.compile(r"^(\d{1,5}(?:\.\d{1,3})?) Gb/sec")
# Sizes that a test is asked to report in Gbit/s; without --report_gbits the heading says MB/sec.
_HEADING = re.compile(r"^\s*#bytes\b.*\bBW average\[(Gb/sec|MB/sec|MiB/sec)\]", re.MULTILINE)

# What is printed: a run puts device, length and address in their places; the peer runs the same without an address.
FACT = Fact(
    id="ib_pair",
    title=Text("RDMA write bandwidth", "RDMA 写带宽"),
    command=Command("ib_write_bw", "-d", "DEVICE", "-F", "--report_gbits", "-s", "8388608", "-D", "SECONDS", "PEER"),
    seconds=60,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class IbTry:
    """One test: the average in 1e9 bit/s; None with the `trouble` that explains it."""

    gbit_s: float | None
    trouble: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class IbPort:
    """One device and its tests in the order run. `rate_gbit_s` is what its port says, `layer` InfiniBand or Ethernet."""

    device: str
    rate_gbit_s: float | None
    layer: str | None
    tests: tuple[IbTry, ...]


@dataclass(frozen=True, slots=True)
class IbPair:
    """All devices that were tried; `trouble` says why there is none."""

    ports: tuple[IbPort, ...] = ()
    trouble: str = ""
    code: str = ""


def list_command() -> Command:
    """Device names with the rate and link layer of their first ports: `DEVICE|400 Gb/sec (4X NDR)|InfiniBand`."""
    return Command(
        script="""\
for dir in /sys/class/infiniband/*; do
  if [ ! -r "$dir/ports/1/rate" ]; then continue; fi
  read -r rate <"$dir/ports/1/rate"
  read -r layer <"$dir/ports/1/link_layer"
  printf '%s|%s|%s\\n' "${dir##*/}" "$rate" "$layer"
done
"""
    )


def devices_in(text: str) -> tuple[IbPort, ...]:
    """The devices that `list_command` printed, without tests; at most 16."""
    found = []
    for line in clean(text).split("\n")[:MAX_DEVICES]:
        cells = line.split("|")
        if len(cells) == 3 and _NAME.fullmatch(cells[0]):
            rate = _RATE.match(cells[1])
            found.append(IbPort(cells[0], float(rate[1]) if rate else None, cells[2].strip() or None, ()))
    return tuple(found)


def command(device: str, seconds: int, port: int, host: str | None = None) -> Command:
    """One test on TCP port `port`: the waiting end without `host`, the writing one with it. Raises ValueError."""
    if not _NAME.fullmatch(device) or (host is not None and (not host or host.startswith("-"))):
        raise ValueError(f"{device!r} to {host!r} can't be tested")
    load = ("-d", device, "-F", "--report_gbits", "-s", "8388608", "-D", str(seconds), "-p", str(port))
    return Command("ib_write_bw", *load, *((host,) if host else ()))


def combine(ports: Sequence[tuple[IbPort, Sequence[CommandOutput]]], trouble: str = "", code: str = "") -> CommandOutput:
    """One output that holds the tests of every device."""
    listed = [
        {"device": port.device, "rate": port.rate_gbit_s, "layer": port.layer, "tests": [pack(run) for run in runs]}
        for port, runs in ports
    ]
    return CommandOutput(json.dumps({"rdma_writes": listed, "trouble": trouble, "code": code}, ensure_ascii=False).encode())


def runs_in(output: CommandOutput) -> tuple[tuple[IbPort, tuple[CommandOutput, ...]], ...]:
    """The devices of a combined output with their raw runs. Raises Unreadable when there is no JSON."""
    found = items(document(output.text), "rdma_writes")[:MAX_DEVICES]
    return tuple((_port(one), unpack(one.get("tests"))) for one in found)


def parse(output: CommandOutput) -> IbPair:
    """Read a combined output. Raises Unreadable when it is no such document."""
    found = document(output.text)
    if "rdma_writes" not in found:
        raise Unreadable("RDMA was not measured", code=Reason.NOT_COLLECTED)
    ports = tuple(_port(one) for one in items(found, "rdma_writes")[:MAX_DEVICES])
    return IbPair(ports, words(found, "trouble") or "", words(found, "code") or "")


def _port(told: dict[str, Any]) -> IbPort:
    rate = told.get("rate")
    number = float(rate) if isinstance(rate, int | float) and not isinstance(rate, bool) else None
    return IbPort(words(told, "device") or "?", number, words(told, "layer"), tuple(map(_try, unpack(told.get("tests")))))


def _try(run: CommandOutput) -> IbTry:
    text = clean(run.text)
    rate = _average_gbit_s(text)
    if rate is not None and run.exit_code == 0:
        return IbTry(rate)
    said = first_line(run.error_text) or next((line for line in text.split("\n") if "ouldn't" in line or "rror" in line), "")
    codes: dict[int | None, str] = {127: Reason.MISSING_TOOL, 124: Reason.TIMEOUT, 137: Reason.TIMEOUT,
                                    None: Reason.CONNECTION_LOST}  # fmt: skip
    code = codes.get(run.exit_code, Reason.UNREADABLE)
    if code == Reason.UNREADABLE and MISSING_TOOL_WORDS.search(said) and "ib_write_bw" in said:
        code = Reason.MISSING_TOOL
    return IbTry(None, said.strip()[:200] or "ib_write_bw printed no rate", str(code))


def _average_gbit_s(text: str) -> float | None:
    """The fourth column of the row below the heading, brought to 1e9 bit/s."""
    heading = _HEADING.search(text)
    if heading is None:
        return None
    cells = next((line.split() for line in text[heading.end() :].split("\n") if line.strip()[:1].isdigit()), [])
    if len(cells) < 4 or not cells[3].replace(".", "", 1).isdigit() or not cells[3].isascii():
        return None
    # Its "MB/sec" are 2^20 bytes.
    return float(cells[3]) * (1.0 if heading[1] == "Gb/sec" else 8 * 1024 * 1024 / 1e9)


def as_dict(reading: IbPair) -> dict[str, object]:
    """Per device: name, port rate and averages in Gbit/s, troubles; the trouble of all."""
    return {
        "devices": [port.device for port in reading.ports],
        "rates_gbit_s": [port.rate_gbit_s for port in reading.ports],
        "gbit_s": [[test.gbit_s for test in port.tests] for port in reading.ports],
        "troubles": [[test.trouble or None for test in port.tests] for port in reading.ports],
        "trouble": reading.trouble or None,
    }


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith('{"rdma_writes": ') else 0
