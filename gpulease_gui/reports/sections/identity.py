"""Who are the parties, and which machines exactly were looked at?"""

from __future__ import annotations

from gpulease_gui.domain.node import Reach
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.reports.document import Block, Cell, Column, ColumnKind, Pair, Pairs, SubHeading, Table, Tone, Words
from gpulease_gui.reports.facts import EvaluationFacts, KeyLine, NodeFacts
from gpulease_gui.reports.known_notes import note_text
from gpulease_gui.reports.section import Section
from gpulease_gui.reports.wording import NOT_READ, moment

SECTION = Section("identity", 60, Text("Parties and node identity", "双方与节点身份"))
_UNKNOWN = Words(Text("not stated", "未填写"), Tone.MISSING)
_DEVICES = (
    Column(Text("No.", "序号"), ColumnKind.NUMBER, 0.5),
    Column(Text("Name", "名称"), ColumnKind.TEXT, 2.2),
    Column(Text("UUID", "UUID"), ColumnKind.HASH, 4.0),
    Column(Text("Serial", "序列号"), ColumnKind.HASH, 1.6),
)
_KEYS = (
    Column(Text("Time", "时间"), ColumnKind.TEXT, 1.7),
    Column(Text("Host key", "主机密钥"), ColumnKind.HASH, 4.6),
    Column(Text("Decision", "决定"), ColumnKind.TEXT, 0.7),
    Column(Text("Compared with, reason", "核对依据与理由"), ColumnKind.TEXT, 1.9),
)


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """Supplier and contract, then each node with its address, host key, driver and cards."""
    blocks: list[Block] = [Pairs(_parties(facts))]
    for node in facts.nodes:
        blocks += _of_node(facts, node)
    return tuple(blocks)


def _parties(facts: EvaluationFacts) -> tuple[Pair, ...]:
    supplier, contract = facts.supplier, facts.contract
    term = None
    if contract.start or contract.end:
        term = f"{contract.start or '…'} – {contract.end or '…'}"
    return (
        Pair(Text("Supplier", "供应商"), Words(foreign(supplier.name))),
        Pair(Text("Contract", "合同"), Words(foreign(contract.number))),
        Pair(Text("Country", "国家/地区"), _said(supplier.country)),
        Pair(Text("Term", "租期"), _said(term)),
        Pair(Text("Contact", "联系人"), _said(supplier.contact)),
        Pair(Text("Program", "程序版本"), Words(foreign(f"GPULease {facts.tool_version}"))),
    )


def _said(words: str | None) -> Words:
    return Words(foreign(words)) if words else _UNKNOWN


def _of_node(facts: EvaluationFacts, node: NodeFacts) -> list[Block]:
    blocks: list[Block] = [SubHeading(foreign(node.node.name)), Pairs(_machine(node), 3), Pairs(_key_seen(node), 1)]
    if node.run and node.run.devices:
        rows = tuple(
            (Words(foreign(str(d.index))), _said(d.name), _code(d.uuid), _code(d.serial)) for d in node.run.devices
        )
        blocks.append(Table(_DEVICES, rows))
    if node.keys:
        blocks.append(Table(_KEYS, tuple(_key(facts, line) for line in node.keys)))
    return blocks


def _machine(node: NodeFacts) -> tuple[Pair, ...]:
    run = node.run
    return (
        Pair(Text("Address", "地址"), Words(_address(node))),
        Pair(Text("Driver", "驱动版本"), _read(run.driver if run else None)),
        Pair(Text("CUDA", "CUDA 版本"), _read(run.cuda if run else None)),
    )


def _key_seen(node: NodeFacts) -> tuple[Pair, ...]:
    key = node.run.host_key if node.run else None
    words = Words(foreign(f"{key.kind} {key.fingerprint}"), Tone.CODE) if key else NOT_READ
    origin = node.run.origin if node.run else NO_TEXT
    return (Pair(Text("Host key", "主机密钥"), words), *((Pair(Text("Run", "验收记录"), Words(origin)),) if origin.en else ()))


def _address(node: NodeFacts) -> Text:
    place = node.node
    if place.reach is Reach.LOCAL:
        return Text("this computer", "本机")
    return foreign(place.address.host_port if place.address else place.target)


def _read(words: str | None) -> Words:
    return Words(foreign(words)) if words else NOT_READ


def _code(words: str | None) -> Words:
    return Words(foreign(words), Tone.CODE) if words else NOT_READ


def _key(facts: EvaluationFacts, line: KeyLine) -> tuple[Cell, ...]:
    how = note_text(line.compared_with)
    why = Text(*(" · ".join(word for word in (said, line.why) if word) for said in (how.en, how.zh)))
    return (
        Words(foreign(moment(line.at, facts.zone)), Tone.CODE), Words(foreign(f"{line.key.kind} {line.key.fingerprint}"), Tone.CODE),
        Words(line.decision), Words(why) if why.en else _UNKNOWN,
    )  # fmt: skip
