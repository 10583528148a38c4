"""Which of the promised ports of a node can be reached from here?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import count, document, items, words

MAX_PORTS = 64
# Answers every caller with a word that only this run knows, so that another machine's open port is no pass.
_LISTENER = """\
import select, socket, sys
word, ports = sys.argv[1].encode() + b"\\n", sys.argv[2:]
held = []
for port in ports:
    try:
        try:
            s = socket.create_server(("", int(port)), family=socket.AF_INET6, dualstack_ipv6=True)
        except OSError:
            s = socket.create_server(("", int(port)))
        held.append(s)
        print("listening", port, flush=True)
    except OSError as error:
        print("refused", port, error.errno, flush=True)
print("ready", flush=True)
while held:
    for s in select.select(held, [], [])[0]:
        c = s.accept()[0]
        c.sendall(word)
        c.close()
"""

# What is printed: a run puts its word and the ports at the end.
FACT = Fact(
    id="port_reach",
    title=Text("Ports reachable from here", "可达端口"),
    command=Command("python3", "-c", _LISTENER, "WORD", "PORT"),
    seconds=120,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class PortTry:
    """One port. `outside` is what the client calls, `inside` what the node listens on.

    `listener` says what the node did: listening, taken (a service is there already), denied, failed.
    `answer` says what the client met: ours (the node's own word came back), open (connected, without that word),
    refused, timeout, unreachable.
    """

    outside: int
    inside: int
    listener: str
    answer: str


@dataclass(frozen=True, slots=True)
class PortReach:
    """All ports that were tried. `trouble` says why none could be."""

    ports: tuple[PortTry, ...] = ()
    host: str | None = None
    trouble: str = ""
    code: str = ""
    next_step: str = ""


def listener_command(word: str, ports: Sequence[int]) -> Command:
    """Listens on all `ports` at once, until it is ended."""
    return Command("python3", "-c", _LISTENER, word, *map(str, ports))


def combine(reading: PortReach) -> CommandOutput:
    """The evidence of what a client saw: our own words, since no tool of the node prints them."""
    whole = {"ports_tried": [asdict(port) for port in reading.ports], "host": reading.host}
    trouble = {"trouble": reading.trouble, "code": reading.code, "next_step": reading.next_step}
    return CommandOutput(json.dumps(whole | trouble, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> PortReach:
    """Read it. Raises Unreadable when it is no such document."""
    found = document(output.text)
    if "ports_tried" not in found:
        raise Unreadable("no port was tried", code=Reason.NOT_COLLECTED)
    ports = []
    for one in items(found, "ports_tried")[:MAX_PORTS]:
        outside, inside = count(one, "outside"), count(one, "inside")
        listener, answer = words(one, "listener"), words(one, "answer")
        if outside is not None and inside is not None and listener and answer:
            ports.append(PortTry(outside, inside, listener, answer))
    told = {name: words(found, name) or "" for name in ("trouble", "code", "next_step")}
    return PortReach(tuple(ports), words(found, "host"), **told)


def as_dict(reading: PortReach) -> dict[str, object]:
    """Per port: outside, inside, listener, answer; host, trouble."""
    return {
        "outside": [port.outside for port in reading.ports],
        "inside": [port.inside for port in reading.ports],
        "listener": [port.listener for port in reading.ports],
        "answer": [port.answer for port in reading.ports],
        "host": reading.host,
        "trouble": reading.trouble or None,
    }


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith('{"ports_tried": ') else 0
