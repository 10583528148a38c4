"""What does it cost to read and judge a whole node: eight GPUs, every passive fact?

`parse.node.cpu` is CPU time in milliseconds, from the bytes to the findings of all checks; `parse.node.split` the same
beside a loop that only splits the same bytes into lines and words.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.checks.check import rules
from gpulease_gui.checks.history import History
from gpulease_gui.checks.promise import Promise
from gpulease_gui.demo.answers import answer
from gpulease_gui.demo.machine import Machine
from gpulease_gui.demo.nodes import DemoNode, demo_nodes
from gpulease_gui.domain.command import CommandOutput, Impact
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.facts.fact import readers
from gpulease_gui.services.judging import Judging, evidence_of
from tests.bench.bar import Bar, absolute, paired
from tests.standin.machine import MachineTexts, machine_texts

BAR_MS = 50.0
BAR_SPLIT = 40.0
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def outputs() -> dict[str, CommandOutput]:
    """What every passive fact prints on an honest node. The report is a real one's length: 8 x 500 lines."""
    node = demo_nodes()["honest"]
    passive = [id_ for id_, reader in readers().items() if reader.fact.command and reader.fact.impact is Impact.PASSIVE]
    found = {id_: answer(node, id_, NOW) for id_ in passive}
    found["smi_xml"] = CommandOutput(_long_report(machine_texts(), node.machine).encode(), b"", 0, 1.0)
    return found


def _long_report(texts: MachineTexts, machine: Machine) -> str:
    """The stand-in's report with the names that the cards of the simulated node have."""
    assert machine.driver is not None
    report = texts.report.replace(texts.driver, machine.driver.version).replace("@NOW@", "Mon Jun  1 12:00:00 2026")
    for card, own in zip(texts.cards, machine.gpus, strict=True):
        report = report.replace(f"00000000:{card.slot[5:].upper()}", own.bus_id.replace("00000000", "~"))
        report = report.replace(card.uuid, own.uuid).replace(card.at("serial"), own.serial)
    return report.replace("~", "00000000").replace(texts.cards[0].at("vbios_version"), machine.gpus[0].vbios)


def judged(node: DemoNode, found: Mapping[str, CommandOutput], promise: Promise) -> dict[Verdict, int]:
    """All outputs read, all checks judged; how many findings have each verdict."""
    judging = Judging(rules().values(), promise)
    ready = [rule for id_, output in found.items() for rule in judging.take(id_, evidence_of(id_, output, "0" * 64))]
    counts = dict.fromkeys(Verdict, 0)
    for rule in (*ready, *judging.rest()):
        for finding in judging.findings(rule):
            counts[finding.verdict] += 1
    return counts


def split(found: Mapping[str, CommandOutput]) -> int:
    """The words of the same bytes."""
    return sum(len(line.split()) for output in found.values() for line in output.stdout.decode("utf-8", "replace").split("\n"))


def cpu_ms(work: Callable[[], object]) -> float:
    """CPU time of one call."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def bars(size: str) -> Iterator[Bar]:
    """Both bars. Everything is loaded before: a run of the program judges with warm catalogues."""
    node, found = demo_nodes()["honest"], outputs()
    promise = Promise(load_catalogue(), dict(node.terms), None, History(NOW))
    counts = judged(node, found, promise)
    assert counts[Verdict.FAIL] == 0 and counts[Verdict.PASS] > 40, counts
    rounds = {"smallest": 1, "usual": 15, "full": 60}[size]
    ours, peer = [], []
    for _ in range(rounds):
        ours.append(cpu_ms(lambda: judged(node, found, promise)))
        peer.append(cpu_ms(lambda: [split(found) for _ in range(10)]) / 10)
    yield absolute("parse.node.cpu", ours, BAR_MS, "ms")
    yield paired("parse.node.split", ours, peer, BAR_SPLIT, "ms")
