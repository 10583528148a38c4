"""A workspace with one supplier, offer, contract, node and run, for the tests of the store."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import pytest
from sqlite_utils import Database

from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.domain.supplier import Contract, Offer, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.services import commerce_edit
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import EvidenceBlob, Run, StoredFinding
from gpulease_gui.store.runs import save_finding, save_run
from gpulease_gui.store.suppliers import save_contract, save_offer, save_supplier
from gpulease_gui.store.workspace import Workspace

T = TypeVar("T")
NOON = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)


@dataclass
class Desk:
    """A workspace with records in it, and short ways to write and read."""

    workspace: Workspace
    supplier: Supplier
    offer: Offer
    contract: Contract
    node: Node
    run: Run
    noon: datetime = NOON

    def write(self, work: Callable[[Database], T]) -> T:
        return self.workspace.submit(work).result(timeout=30)

    def find(self, verdict: Verdict = Verdict.PASS, term: str | None = "gpu.count", output: bytes = b"8 GPUs") -> StoredFinding:
        blob = EvidenceBlob.of(output)
        finding = Finding("gpu.count", verdict, Text("eight cards", "八张卡"), term, 8, 8, evidence=(blob.sha256,))
        return self.write(lambda db: save_finding(db, self.run.id, finding, [blob], saved_at=self.noon))

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        with self.workspace.read() as connection:
            return connection.execute(sql).fetchall()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "work.gpulease"


@pytest.fixture
def workspace(path: Path) -> Iterator[Workspace]:
    opened = Workspace.open(path)
    yield opened
    opened.close()


@pytest.fixture
def desk(workspace: Workspace) -> Desk:
    supplier = Supplier("s1", "北辰算力", "CN", "sales@example.com", "met in May")
    price = Money(Decimal("16.2050"), "CNY")
    offer = Offer("o1", supplier.id, "007", "8 cards", price, "gpu_hour", date(2026, 4, 1), "valid for a month")
    contract = Contract("c1", supplier.id, "2026-031", offer.id, date(2026, 3, 1), date(2026, 9, 1), price)
    node = Node("n1", "node-07", Reach.SSH, Address("fd00::7", 2222, "ops"), contract.id, identity_file="~/.ssh/id")
    run = Run("r1", node.id, NOON, contract.id, terms=(("gpu.count", 8), ("driver.min", "535.104")))
    filled = Desk(workspace, supplier, offer, contract, node, run)
    filled.write(lambda db: save_supplier(db, supplier))
    filled.write(lambda db: save_offer(db, offer))
    filled.write(lambda db: save_contract(db, contract))
    filled.write(lambda db: save_node(db, node))
    filled.write(lambda db: save_run(db, run))
    return filled


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a workspace that holds one supplier and its offer, from which two people begin."""
    path = tmp_path_factory.mktemp("begun") / "a.db"
    with closing(Workspace.open(path)) as workspace:
        workspace.submit(lambda db: commerce_edit.save_supplier(db, Supplier("s1", "Haven"))).result(30)
        workspace.submit(lambda db: commerce_edit.save_offer(db, Offer("o1", "s1", "Q-7", "8 cards"))).result(30)
    return path


@contextmanager
def pair(begun: Path, folder: Path) -> Iterator[tuple[Workspace, Workspace]]:
    """Two workspaces that hold the same."""
    here, there = (Workspace.open(Path(shutil.copy(begun, folder / f"{name}.db"))) for name in ("here", "there"))
    with closing(here), closing(there):
        yield here, there


@pytest.fixture
def both(begun: Path, tmp_path: Path) -> Iterator[tuple[Workspace, Workspace]]:
    """Those of two people."""
    with pair(begun, tmp_path) as workspaces:
        yield workspaces
