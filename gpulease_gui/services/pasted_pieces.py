"""Where does one output end and the next begin in what was pasted?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpulease_gui.domain.frame import MAX_STDOUT_BYTES
from gpulease_gui.facts.fact import recognise

MOST_PIECES = 64
_HEAD_CHARACTERS = 256 * 1024


@dataclass(frozen=True, slots=True)
class Piece:
    """One output: its bytes as they came (a part that was split off: as UTF-8). `cut`: only the head was taken.

    `kind` None = not recognised, the user must say; `command` as it stood at the prompt, if it did.
    """

    data: bytes
    kind: str | None
    source: str = ""
    command: str = ""
    cut: bool = False


_TOOLS = (
    "nvidia-smi|lspci|dmesg|journalctl|iperf3|fio|ethtool|ibstat|ibv_devinfo|lsblk|dcgmi|npu-smi|nvbandwidth|df|lscpu|free|cat|"
    "uname|hostname|systemd-detect-virt|id|all_reduce_perf|all_gather_perf|sendrecv_perf|alltoall_perf|\\./build/\\w+_perf"
)
# root@node:~#  [root@node ~]#  (base) user@node:/data$  $   then a tool: only both together make a prompt.
_PROMPT = re.compile(
    r"^(?:\([\w.-]{1,40}\) )?(?:\[[^\]\n]{1,80}\]|[\w.-]{1,40}@[\w.-]{1,80}(?::[^\n#$]{0,120})?)? ?[#$] ?"
    rf"(?P<command>(?:sudo (?:-n )?)?(?:/\S{{1,80}}/)?(?:{_TOOLS})(?: [^\n]{{0,400}})?)\s*$",
    re.MULTILINE,
)
# A prompt without a tool behind it ends the output before it and begins nothing.
_BARE = re.compile(r"^(?:\([\w.-]{1,40}\) )?(?:\[[\w.-]{1,40}@[^\]\n]{1,80}\]|[\w.-]{1,40}@[\w.-]{1,80}:[^\n#$]{0,120}) ?[#$](?: [^\n]*)?$", re.MULTILINE)
# Lines with which exactly one kind of output begins.
_HEADS = re.compile(
    r"^(?:<\?xml version=[^\n]*|=+NVSMI LOG=+|[^\n]{0,40}\n?\+-{40,}\+\n\| NVIDIA-SMI [^\n]*|Connecting to host [^\n]*"
    r"|\s*GPU0[ \t]+[^\n]*CPU Affinity[^\n]*)$",
    re.MULTILINE,
)


def pieces_of(data: bytes, source: str = "", kind: str | None = None) -> tuple[Piece, ...]:
    """The outputs in what was pasted or dropped, at most 8 MiB of it; `kind` = the user knows, nothing is split.

    Split only where it is certain: at prompts with a tool behind them, else at the first lines of known outputs when
    every part is then recognised.
    """
    cut = len(data) > MAX_STDOUT_BYTES
    data = data[:MAX_STDOUT_BYTES]
    text = data.decode("utf-8", "replace")
    if not text.strip():
        return ()
    if kind is not None:
        return (Piece(data, kind, source, "", cut),)
    found = tuple(_at_prompts(text, source)) or _at_heads(text, source) or (Piece(data, _kind(text), source),)
    return (*found[:-1], replace(found[-1], cut=cut))[:MOST_PIECES]


def _kind(text: str) -> str | None:
    """What the head of a text is: header words stand there, and mebibytes would take every recogniser a second."""
    return recognise(text[:_HEAD_CHARACTERS])


def _piece(text: str, source: str, command: str = "") -> Piece:
    return Piece(text.encode("utf-8", "replace"), _kind(text), source, command)


def _at_prompts(text: str, source: str) -> Iterator[Piece]:
    text = text.replace("\r\n", "\n")
    prompts = list(_PROMPT.finditer(text))
    if not prompts:
        return
    before = _BARE.sub("", text[: prompts[0].start()])
    if before.strip() and _kind(before) is not None:
        yield _piece(before, source)
    for prompt, after in zip(prompts, [*prompts[1:], None], strict=True):
        body = _body(text[prompt.end() : after.start() if after else len(text)])
        if body.strip():
            yield _piece(body, source, prompt["command"])


def _body(text: str) -> str:
    end = _BARE.search(text)
    return (text[: end.start()] if end else text).removeprefix("\n")


def _at_heads(text: str, source: str) -> tuple[Piece, ...]:
    starts = [match.start() for match in _HEADS.finditer(text)]
    if not starts:
        return ()
    edges = [0, *(s for s in starts if text[:s].strip()), len(text)]
    parts = [text[a:b] for a, b in zip(edges, edges[1:], strict=False) if text[a:b].strip()]
    made = tuple(_piece(part, source) for part in parts)
    return made if len(made) > 1 and all(piece.kind for piece in made) else ()
