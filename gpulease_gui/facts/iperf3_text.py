"""How fast is the network by an iperf3 output that was pasted as text?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.table_text import clean, first_line, number, whole, whole_lines

FACT = Fact(id="iperf3_text", title=Text("Network bandwidth, as text", "网络带宽(文本)"), ok_codes=None)

_ROW = re.compile(
    r"\[\s*(?P<id>\d{1,6}|SUM)\s*\](?:\[(?P<role>TX|RX)-[CS]\])?\s+(?P<start>[\d.]+)-\s*(?P<end>[\d.]+)\s*sec\s+"
    r"[\d.]+\s*[KMGT]?Bytes\s+(?P<rate>[\d.]+)\s*(?P<scale>[KMGT]?)(?P<unit>bits|Bytes)/sec(?P<rest>.*)"
)
# iperf3 counts bits by 1000 and bytes by 1024.
_SCALE = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_WHOLE_ROW = re.compile(r"(sender|receiver)\s*$|^iperf Done\.|iperf3: ")


@dataclass(frozen=True, slots=True)
class Summary:
    """One line of the closing summary; `side` sender, receiver or "" (no word), `role` TX, RX or "" ."""

    stream: str
    side: str
    role: str
    gbit_s: float
    retransmits: int | None
    jitter_ms: float | None
    lost_packets: int | None
    total_packets: int | None
    lost_percent: float | None


@dataclass(frozen=True, slots=True)
class IperfText:
    """One test. Rates are 1e9 bits per second; None = not told.

    `error`: the text that iperf3 ended with. `interrupted`: a signal ended the test, so its rates are no result.
    `torn_row`: the text breaks off in a row of a bare summary, so more streams and their sum may have followed.
    """

    version: str | None
    error: str | None
    interrupted: bool
    interval_count: int
    streams: tuple[str, ...]
    summaries: tuple[Summary, ...]
    torn_row: bool = False
    reverse: bool | None = None  # None = the head, which names a test with -R, is not there

    def of_side(self, side: str, role: str = "") -> Summary | None:
        """The sum of one side: its SUM line, else its only stream; None when streams have no sum."""
        found = [one for one in self.summaries if one.side == side and one.role == role]
        total = next((one for one in reversed(found) if one.stream == "SUM"), None)
        streams = len(self.streams) if not role else len({one.stream for one in found})
        return total or (found[-1] if found and streams == 1 and not self.torn_row else None)

    @property
    def bidirectional(self) -> bool:
        """Did both ends send (--bidir)?"""
        return any(one.role for one in self.summaries)


@dataclass(slots=True)
class _Reading:
    """What is known while going down the lines: in the summary yet, and under which word."""

    in_summary: bool = False
    side: str = ""
    rows: int = 0
    streams: list[str] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)

    def take(self, line: str) -> None:
        row = _ROW.search(line)
        if row is None:
            self._take_words(line)
            return
        if row["id"] != "SUM" and row["id"] not in self.streams:
            self.streams.append(row["id"])
        side = (re.search(r"\b(sender|receiver)\s*$", row["rest"]) or ("", ""))[1] or self.side
        if side or self.in_summary:
            self.summaries.append(_summary(row, side))
        else:
            self.rows += "(omitted)" not in row["rest"]

    def _take_words(self, line: str) -> None:
        """A dashed rule opens the summary; the first versions wrote Sent and Received on lines of their own."""
        if re.fullmatch(r"-(?: -){6,}", line.replace("^C", "").strip()):
            self.in_summary, self.side = True, ""
        elif alone := re.fullmatch(r"\s*(Sent|Received)\s*", line):
            self.side = "sender" if alone[1] == "Sent" else "receiver"
        elif re.match(r"\s*(-{20,}|Server listening|Connecting to|iperf Done)", line):
            self.in_summary, self.side = False, ""


def _summary(row: re.Match[str], side: str) -> Summary:
    rest = row["rest"]
    loss = re.search(r"(\d{1,15})/(\d{1,15})\s*\(([^%)]*)%\)", rest)
    jitter = re.search(r"([\d.]+)\s*ms\b", rest)
    retransmits = re.match(r"\s+(\d{1,12})(?!\S)", rest)
    return Summary(
        stream=row["id"],
        side=side,
        role=row["role"] or "",
        gbit_s=_gbit_s(row),
        retransmits=whole(retransmits[1]) if retransmits and not loss and side == "sender" else None,
        jitter_ms=number(jitter[1]) if jitter else None,
        lost_packets=whole(loss[1]) if loss else None,
        total_packets=whole(loss[2]) if loss else None,
        lost_percent=number(loss[3]) if loss else None,
    )


def _gbit_s(row: re.Match[str]) -> float:
    rate, scale = float(row["rate"]), _SCALE[row["scale"]]
    bits = rate * 1000.0**scale if row["unit"] == "bits" else rate * 8 * 1024.0**scale
    return bits / 1e9


def parse(output: CommandOutput) -> IperfText:
    """Read the closing summary. An error told by iperf3 and an interrupt are readings.

    Raises Unreadable: `cut_off` (with the reading) when seconds are listed but no summary follows.
    """
    text = clean(output.text + ("\n" + output.error_text if output.stderr else ""))
    state = _Reading()
    for line in whole_lines(text, _WHOLE_ROW):
        state.take(line)
    version = re.search(r"^[ \t]*iperf (\d\S*)", text, re.MULTILINE)
    error = re.search(r"iperf3: (?:parameter )?error - ([^\n]+)", text)
    reading = IperfText(
        version=version[1] if version else None,
        error=error[1].strip() if error else None,
        interrupted="^C" in text or "iperf3: interrupt" in text,
        interval_count=state.rows,
        streams=tuple(state.streams),
        summaries=tuple(state.summaries),
        torn_row=not state.rows and "connected to" not in text and _breaks_off_in_a_row(text),
        reverse=_reverse(text),
    )
    if reading.summaries or reading.error or reading.interrupted:
        return reading
    if state.rows:
        raise Unreadable("the test has no summary", code=Reason.CUT_OFF, reading=reading)
    raise Unreadable(f"no iperf3 result in the output: {first_line(text)}")


def _reverse(text: str) -> bool | None:
    if "Reverse mode, remote host" in text:
        return True
    return False if re.search(r"^[ \t]*Connecting to host ", text, re.MULTILINE) else None


def _breaks_off_in_a_row(text: str) -> bool:
    last = text.rpartition("\n")[2]
    return last.lstrip().startswith("[") and not _WHOLE_ROW.search(last)


def as_dict(reading: IperfText) -> dict[str, object]:
    """The keys of `gpulease parse --kind iperf3_text`; rates in Gbit/s, loss as the receiving side counted it."""
    sender, receiver, plain = (reading.of_side(side) for side in ("sender", "receiver", ""))
    loss = receiver or plain
    return {
        "error": reading.error,
        "interrupted": reading.interrupted,
        "version": reading.version,
        "sender_gbits_per_second": _rate(sender),
        "receiver_gbits_per_second": _rate(receiver),
        "gbits_per_second": _rate(plain),
        "retransmits": sender.retransmits if sender else None,
        "jitter_ms": loss.jitter_ms if loss else None,
        "lost_packets": loss.lost_packets if loss else None,
        "total_packets": loss.total_packets if loss else None,
        "lost_percent": loss.lost_percent if loss else None,
        "bidirectional": reading.bidirectional,
        "tx_sender_gbits_per_second": _rate(reading.of_side("sender", "TX")),
        "tx_receiver_gbits_per_second": _rate(reading.of_side("receiver", "TX")),
        "rx_sender_gbits_per_second": _rate(reading.of_side("sender", "RX")),
        "rx_receiver_gbits_per_second": _rate(reading.of_side("receiver", "RX")),
    }


def _rate(summary: Summary | None) -> float | None:
    return None if summary is None else round(summary.gbit_s, 9)


def recognise(text: str) -> int:
    """The title of the columns, a row, or an error line of iperf3."""
    if re.search(r"\[\s*ID\s*\](\[Role\])?\s+Interval\s+Transfer", text) or _ROW.search(text):
        return 90
    return 85 if re.search(r"^[^\w\n]{0,9}iperf3: ((parameter )?error|interrupt) -", text, re.MULTILINE) else 0
