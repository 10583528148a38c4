"""Does the paper show every item of a contract's checklist, in both languages, and the letter reach a file?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.economics.scoring import Waiver
from gpulease_gui.reports.as_html import html_text
from gpulease_gui.reports.document import Document, Mark, SubHeading, Table, Words
from gpulease_gui.reports.facts import ChecklistLine, EvaluationFacts
from gpulease_gui.reports.sections import checklist
from gpulease_gui.services.checklist_edit import Given, answer_items, waive_items
from gpulease_gui.services.checklist_entry import attach_proof, detach_proof, enter_value, write_note
from gpulease_gui.services.checklist_page import first_deal, item_in, seen_in
from gpulease_gui.services.commerce_edit import save_contract, save_supplier
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.evaluate import evaluation_facts
from gpulease_gui.services.letter_file import export_letter
from gpulease_gui.services.rescoring import rescored
from gpulease_gui.store.records import EvidenceBlob

DAY = date(2026, 12, 1)
DEAL = Subject(HolderOf.CONTRACT, "c1")


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    """A workspace with one signed contract."""
    with closing(open_services(tmp_path / "own.db")) as opened:
        opened.workspace.submit(lambda db: save_supplier(db, Supplier("s1", "Haven"))).result()
        opened.workspace.submit(lambda db: save_contract(db, Contract("c1", "s1", "HV-7"))).result()
        yield opened


def facts_of(services: Services) -> EvaluationFacts:
    with services.workspace.read() as connection:
        return evaluation_facts(connection, "c1", services.catalogue)


def lines_of(services: Services) -> dict[str, ChecklistLine]:
    held = facts_of(services).checklist
    assert held is not None
    return {line.id: line for line in held.lines}


def test_that_every_item_stands_in_the_paper_with_its_verdict(services: Services) -> None:
    submit = services.workspace.submit
    submit(lambda db: enter_value(db, DEAL, ["IC-01", "IC-03"], AnswerValue.YES)).result()
    submit(lambda db: enter_value(db, DEAL, ["SL-05"], AnswerValue.NO)).result()
    submit(lambda db: enter_value(db, DEAL, ["CO-09"], AnswerValue.PARTLY)).result()
    submit(lambda db: answer_items(db, DEAL, ["SA-10"], Given(AnswerState.NOT_APPLICABLE, note="no graphics"))).result()
    submit(lambda db: waive_items(db, DEAL, ["SU-06"], Waiver("Lin", "after delivery", date(2030, 1, 31)))).result()
    submit(lambda db: write_note(db, DEAL, ["IC-03"], "asked\x1b[31m twice")).result()
    lines = lines_of(services)
    verdicts = Counter(line.verdict for line in lines.values())
    assert verdicts[Verdict.PASS] == 2 and verdicts[Verdict.FAIL] == 1 and verdicts[Verdict.WARN] == 1
    assert verdicts[Verdict.NOT_APPLICABLE] == 1 and verdicts[None] == 1 and verdicts[Verdict.INCONCLUSIVE] == len(lines) - 6
    assert lines["SU-06"].waiver == Text("waived to 2030-01-31 by Lin: after delivery", "Lin 豁免至 2030-01-31：after delivery")
    blocks = checklist.build(facts_of(services))
    rows = [row for block in blocks if isinstance(block, Table) for row in block.rows]
    assert len(rows) == len(lines) >= 90
    by_id = {row[0].text.en: row for row in rows if isinstance(row[0], Words)}
    assert by_id["SL-05"][5] == Mark(Verdict.FAIL) and by_id["SU-06"][5] == Words(Text("waived", "已豁免"))
    assert by_id["IC-03"][3] == Words(Text("yes · claimed only; asked␛[31m twice", "是 · 仅承诺；asked␛[31m twice"))
    heads = [block for block in blocks if isinstance(block, SubHeading)]
    assert [h.text.zh.partition("（")[0] for h in heads][:2] == ["身份与规格", "互联"] and len(heads) == 10
    page = html_text(Document(Text("t", "t"), Language.ZH, blocks, Text("", ""), ""))
    assert "显卡型号与 PCI 设备号与报价一致" in page and "1 不符" in page


def test_that_repeating_an_answer_keeps_the_proof_and_a_file_strengthens_a_claim_only(services: Services) -> None:
    submit = services.workspace.submit
    submit(lambda db: answer_items(db, DEAL, ["NS-08"], Given(AnswerState.IN_CONTRACT, AnswerValue.YES))).result()
    submit(lambda db: enter_value(db, DEAL, ["NS-08", "NS-09"], AnswerValue.PARTLY)).result()
    blob = EvidenceBlob.of(b"a quote")
    file = submit(lambda db: attach_proof(db, DEAL, ["NS-08", "NS-09", "NS-10"], "../quote.pdf", "pdf", blob)).result()
    assert file.name == "quote.pdf"
    with services.workspace.read() as connection:
        seen = seen_in(connection, DEAL, services.catalogue, DAY)
        held = {id_: seen.view.row(id_).answer for id_ in ("NS-08", "NS-09", "NS-10")}
        detail = item_in(connection, seen.view, "NS-09")
    states = [answer.state for answer in held.values() if answer is not None]
    assert states == [AnswerState.IN_CONTRACT, AnswerState.EVIDENCED, AnswerState.NOT_ASKED], "a file alone answers nothing"
    assert [proof.name for proof in detail.proofs] == ["quote.pdf"] and [c.answer.state for c in detail.history] == [AnswerState.ANSWERED]
    assert submit(lambda db: detach_proof(db, DEAL, "NS-09", file.id)).result() == 1
    submit(lambda db: enter_value(db, DEAL, ["NS-08"], AnswerValue.UNKNOWN)).result()
    with services.workspace.read() as connection:
        answers = seen_in(connection, DEAL, services.catalogue, DAY).view.facts.answers
        assert first_deal(connection) == DEAL
    assert answers["NS-09"].evidence == () and not answers["NS-08"].known


def test_that_other_weights_give_the_score_that_saving_them_gives(services: Services) -> None:
    from gpulease_gui.services.commerce_score import set_weights

    services.workspace.submit(lambda db: enter_value(db, DEAL, ["IC-01", "BI-01", "SL-01"], AnswerValue.YES)).result()
    with services.workspace.read() as connection:
        before = seen_in(connection, DEAL, services.catalogue, DAY).scores["finetune"]
    weights = {**before.weights, "billing": before.weights["billing"] * 3}
    services.workspace.submit(lambda db: set_weights(db, "finetune", weights)).result()
    with services.workspace.read() as connection:
        after = seen_in(connection, DEAL, services.catalogue, DAY).scores["finetune"].score
    guess = rescored(before, weights)
    assert guess.score_low is not None and after.score_low is not None
    assert abs(guess.score_low - after.score_low) <= before.score.score_low / 100  # type: ignore[operator]
    assert guess.score_high == after.score_high and after.score_low != before.score.score_low


def test_that_the_letter_is_written_as_pdf_by_a_child_process(services: Services, tmp_path: Path) -> None:
    out = tmp_path / "letter.pdf"
    export_letter(services.workspace.path, DEAL, "finetune", Language.ZH, out, CancelToken())
    assert out.read_bytes().startswith(b"%PDF-")
