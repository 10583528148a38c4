"""Which fingerprints of host keys did the supplier name, and where in the workspace do they stand?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.services.events import StatedKey
from gpulease_gui.store import suppliers
from gpulease_gui.store.answers import list_answers
from gpulease_gui.store.deals import deal_number
from gpulease_gui.store.doors import Reader

# In free words only what says of itself that it is one: 43 letters in a row may be anything.
_NAMED = re.compile(r"(?<![A-Za-z0-9])SHA256:([A-Za-z0-9+/]{43})(?![A-Za-z0-9+/])")
_MOST = 64  # of a contract with many nodes


def stated_keys(connection: Reader, node: Node) -> tuple[StatedKey, ...]:
    """Every SHA256 fingerprint in the notes and checklist answers of the node, its contract and the offer behind that.

    A contract of several nodes names the keys of all of them: one that equals none of a host's keys says nothing by itself.
    """
    found: dict[str, StatedKey] = {}
    for where, words in _notes(connection, node):
        for match in _NAMED.finditer(words):
            fingerprint = f"SHA256:{match[1]}"
            found.setdefault(fingerprint, StatedKey(fingerprint, where))
    return tuple(found.values())[:_MOST]


def _notes(connection: Reader, node: Node) -> Iterator[tuple[Text, str]]:
    yield Text("note of the node", "节点备注"), node.note
    try:
        contract = suppliers.get_contract(connection, node.contract_id) if node.contract_id else None
        offer = suppliers.get_offer(connection, contract.offer_id) if contract and contract.offer_id else None
    except UsageError:  # it was thrown away
        return
    if contract is not None:
        of = Text(f"contract {contract.number}", f"合同 {contract.number}")
        yield of, contract.note
        yield from _answers(connection, Subject(HolderOf.CONTRACT, contract.id), of)
    if offer is not None:
        of = Text(f"offer {offer.quote_no}", f"报价 {offer.quote_no}")
        yield of, offer.note
        yield from _answers(connection, Subject(HolderOf.OFFER, offer.id), of)


def _answers(connection: Reader, subject: Subject, of: Text) -> Iterator[tuple[Text, str]]:
    try:
        answers = list_answers(connection, deal_number(connection, subject))
    except UsageError:  # it was never asked anything
        return
    for item, answer in answers.items():
        yield Text(f"{of.en}, checklist {item}", f"{of.zh}，清单 {item}"), answer.note
