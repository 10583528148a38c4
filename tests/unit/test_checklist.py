"""Does the checklist of an offer say what is known, by whom and how well, and what is still to be asked?"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.catalog.checklist import DIMENSIONS, ChecklistItem, Importance
from gpulease_gui.catalog.scenarios import load_scenarios
from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.domain.finding import Basis, Finding, Verdict
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.economics.claim_evidence import answer_of
from gpulease_gui.economics.scoring import Answer, EvidenceKind, Status, Waiver
from gpulease_gui.reports.document import Paragraph
from gpulease_gui.services.checklist_edit import answer_found
from gpulease_gui.services.checklist_templates import ItemEdit, Template, items_of
from gpulease_gui.services.checklist_view import ChecklistView, Outcome, checklist_of
from gpulease_gui.services.commerce import DealFacts
from gpulease_gui.services.commerce_letter import letter_document, letter_of, letter_text
from gpulease_gui.services.commerce_score import score_of, stability_of
from gpulease_gui.services.deal_tags import tags_of

from .deal_by_hand import DAY, answer, deal

SHIPPED = Template("", "")
H100 = {"gpu.model": "nvidia-h100-sxm5-80gb", "gpu.count": 8}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def view(facts: DealFacts, catalogue: Catalogue, scenario: str = "", template: Template = SHIPPED) -> ChecklistView:
    return checklist_of(facts, template, catalogue, scenario)


def test_that_every_dimension_has_its_items_in_both_languages(catalogue: Catalogue) -> None:
    items = list(catalogue.checklist.values())
    found = {dimension: sum(item.dimension == dimension for item in items) for dimension in DIMENSIONS}
    assert list(found.values()) == [15, 9, 10, 9, 11, 15, 11, 11, 6, 9]
    assert all(item.text.en and item.text.zh and item.evidence.en and item.evidence.zh for item in items)


def test_that_fields_point_at_items_that_are_there(catalogue: Catalogue) -> None:
    named = {item for field in catalogue.fields.values() for item in field.items}
    assert named <= catalogue.checklist.keys()
    assert {f"BI-{n:02}" for n in (*range(1, 11), 11, 13, 14)} - {"BI-12", "BI-15"} <= named


@pytest.mark.parametrize(("promised", "country", "expected"), [
    ({}, "", {"nvidia": None, "ascend": None, "nvlink": None, "nvswitch": None, "multi_node": None, "cn": None}),
    (H100, "CN", {"nvidia": True, "ascend": False, "nvlink": True, "nvswitch": None, "multi_node": None, "cn": True}),
    ({**H100, "node.count": 1, "gpu.interconnect": "nvswitch"}, "DE", {"nvidia": True, "nvswitch": True, "multi_node": False, "cn": False}),
    ({"gpu.model": "nvidia-l40s-48gb", "node.count": 4}, "", {"nvlink": False, "nvswitch": False, "multi_node": True}),
    ({"npu.count": 8}, "中国", {"nvidia": False, "ascend": True, "cn": True}),
])  # fmt: skip
def test_that_tags_say_yes_no_or_not_stated(promised: dict, country: str, expected: dict, catalogue: Catalogue) -> None:
    assert tags_of(deal(promised, country=country), catalogue).items() >= expected.items()


def test_that_only_what_surely_does_not_concern_an_offer_is_left_out(catalogue: Catalogue) -> None:
    assert view(deal(), catalogue).hidden == ()
    hidden = {item.id for item in view(deal({**H100, "node.count": 1}, country="DE"), catalogue).hidden}
    assert hidden == {"IC-12", "IN-05", "IN-06", "IN-07", "IN-09", "SI-06", "SC-05", "SC-06", "CO-04"}


def test_that_a_stated_minimum_answers_its_item_and_its_evidence_counts(catalogue: Catalogue) -> None:
    terms = {"billing.min_billed_s": 86400, "billing.min_scope": "session"}
    claimed, shown = (view(deal(terms=terms, evidence=e), catalogue).row("BI-03") for e in (None, "a1"))
    assert [(r.outcome, r.derived, r.answer.state) for r in (claimed, shown) if r.answer] == [
        (Outcome.PASS, True, AnswerState.ANSWERED), (Outcome.PASS, True, AnswerState.EVIDENCED),
    ]  # fmt: skip
    assert view(deal(terms={"billing.min_billed_s": 86400}), catalogue).row("BI-03").outcome is Outcome.PARTLY


def test_that_a_bad_billing_term_is_disclosed_and_a_bad_service_term_is_a_no(catalogue: Catalogue) -> None:
    found = view(deal(terms={"billing.bill_outage": True, "billing.bill_provisioning": True, "sla.degraded_counts": False, "sla.spares": 0}), catalogue)
    assert [found.row(item).outcome for item in ("BI-07", "SL-02", "SL-05")] == [Outcome.PASS, Outcome.FAIL, Outcome.FAIL]


def test_that_a_stated_term_of_another_dimension_is_no_answer_by_itself(catalogue: Catalogue) -> None:
    assert view(deal(terms={"security.transit": "none", "offer.modified_cards": True}), catalogue).totals[Outcome.UNKNOWN] == 106


def test_that_what_a_person_answered_stands_above_what_follows_from_terms(catalogue: Catalogue) -> None:
    facts = deal(terms={"sla.replace_s": 7200}, answers=(answer("SL-04", AnswerState.EVIDENCED, AnswerValue.NO),))
    row = view(facts, catalogue).row("SL-04")
    assert (row.outcome, row.derived) == (Outcome.FAIL, False)
    asked = deal(terms={"sla.replace_s": 7200}, answers=(answer("SL-04", AnswerState.ASKED, AnswerValue.UNKNOWN),))
    assert view(asked, catalogue).row("SL-04").outcome is Outcome.PASS


def test_that_a_waiver_counts_up_to_its_last_day_and_hides_no_answer(catalogue: Catalogue) -> None:
    waiver = Waiver("Wang", "one week of trial", DAY)
    on = {day: view(deal(waivers={"SL-04": waiver}, day=day), catalogue) for day in (DAY, DAY + timedelta(days=1))}
    assert [v.row("SL-04").outcome for v in on.values()] == [Outcome.WAIVED, Outcome.UNKNOWN]
    assert on[DAY + timedelta(days=1)].row("SL-04").waiver == waiver
    nameless = view(deal(waivers={"SL-04": replace(waiver, by=" ")}), catalogue)
    assert nameless.row("SL-04").outcome is Outcome.UNKNOWN


def test_that_edits_stay_apart_and_a_new_shipped_item_comes_in_by_itself(catalogue: Catalogue) -> None:
    own = ChecklistItem("OWN-01", "support", Importance.MUST, Text("Speaks Chinese", "提供中文支持"), Text("", ""), ())
    edits = {"SU-04": ItemEdit(hidden=True), "SU-02": ItemEdit(severity=Importance.MUST)}
    mine = Template("t1", "mine", edits=edits, own=(own,))
    newer = {**catalogue.checklist, "SU-07": replace(catalogue.checklist["SU-01"], id="SU-07")}
    found = {item.id: item.severity for item in items_of(newer, mine) if item.dimension == "support"}
    assert found == {
        "SU-01": Importance.MUST, "SU-02": Importance.MUST, "SU-03": Importance.SHOULD, "SU-05": Importance.SHOULD,
        "SU-06": Importance.MUST, "SU-07": Importance.MUST, "OWN-01": Importance.MUST,
    }  # fmt: skip


def test_that_a_use_leaves_out_what_does_not_count_in_it(catalogue: Catalogue) -> None:
    graphics = {row.item.id for row in view(deal(), catalogue, "graphics").rows}
    assert "SA-10" in graphics and "IN-04" not in graphics
    assert all("graphics" in catalogue.checklist[id_].scenarios for id_ in graphics)


@pytest.mark.parametrize(("written", "evidence", "state"), [
    ([], None, AnswerState.ANSWERED), ([], "a1", AnswerState.EVIDENCED),
    (["billing.min_billed_s"], None, AnswerState.ANSWERED), (["billing.min_billed_s"], "a1", AnswerState.EVIDENCED),
    (["billing.min_billed_s", "billing.min_scope"], None, AnswerState.IN_CONTRACT),
])  # fmt: skip
def test_that_a_signed_term_is_as_well_proven_as_its_weakest_part(
    written: list[str], evidence: str | None, state: AnswerState, catalogue: Catalogue
) -> None:
    terms = {"billing.min_billed_s": 86400, "billing.min_scope": "session"}
    facts = deal(terms=terms, kind=HolderOf.CONTRACT, evidence=evidence, written=frozenset(written))
    row = view(facts, catalogue).row("BI-03")
    assert row.answer is not None and row.answer.state is state


@pytest.mark.parametrize(("given", "expected"), [
    (None, (Answer.UNKNOWN, EvidenceKind.CLAIM)),
    (answer("x", AnswerState.ASKED, AnswerValue.UNKNOWN), (Answer.UNKNOWN, EvidenceKind.CLAIM)),
    (answer("x"), (Answer.PASS, EvidenceKind.CLAIM)),
    (answer("x", value=AnswerValue.PARTLY), (Answer.PARTIAL, EvidenceKind.CLAIM)),
    (answer("x", value=AnswerValue.UNKNOWN), (Answer.UNKNOWN, EvidenceKind.CLAIM)),
    (answer("x", AnswerState.EVIDENCED, AnswerValue.NO), (Answer.FAIL, EvidenceKind.DOCUMENT)),
    (answer("x", AnswerState.IN_CONTRACT), (Answer.PASS, EvidenceKind.CONTRACT)),
    (answer("x", AnswerState.VERIFIED, basis=Basis.MEASURED), (Answer.PASS, EvidenceKind.MEASURED)),
    (answer("x", AnswerState.VERIFIED, basis=Basis.REPORTED), (Answer.PASS, EvidenceKind.CONTRACT)),
    (answer("x", AnswerState.REFUTED, AnswerValue.NO), (Answer.FAIL, EvidenceKind.MEASURED)),
    (answer("x", AnswerState.NOT_APPLICABLE, AnswerValue.UNKNOWN), (Answer.NOT_APPLICABLE, EvidenceKind.CLAIM)),
])  # fmt: skip
def test_that_an_answer_weighs_as_much_as_its_evidence(given: object, expected: tuple) -> None:
    assert answer_of(given) == expected  # type: ignore[arg-type]


def test_that_an_answer_counts_on_a_contract_as_it_did_in_the_offer(catalogue: Catalogue) -> None:
    said = (answer("BI-03"), answer("SU-01", AnswerState.EVIDENCED), answer("SU-06", AnswerState.IN_CONTRACT))
    scores = [score_of(view(deal(answers=said, kind=kind), catalogue), {}) for kind in (HolderOf.OFFER, HolderOf.CONTRACT)]
    assert scores[0].items == scores[1].items
    found = {item.id: item.evidence for item in scores[1].items}
    assert [found[id_] for id_ in ("BI-03", "SU-01", "SU-06")] == [EvidenceKind.CLAIM, EvidenceKind.DOCUMENT, EvidenceKind.CONTRACT]


def test_that_a_score_of_stored_answers_is_that_of_the_method(catalogue: Catalogue) -> None:
    answers = (answer("SU-01"), answer("SU-06", AnswerState.VERIFIED, basis=Basis.MEASURED), answer("SU-02", value=AnswerValue.NO))
    only = Template("t", "support", edits={id_: ItemEdit(hidden=True) for id_, i in catalogue.checklist.items() if i.dimension != "support"})
    found = score_of(view(deal(answers=answers), catalogue, "", only), {"support": Decimal(4)}).score
    # musts 5 x 0.6 + 5 x 1.0, should 3 x 0, three should or nice items unknown: (3 + 5) / 20 and (5 + 5 + 7) / 20.
    assert (found.status, found.score_low, found.score_high, found.coverage) == (
        Status.QUALIFIED, Decimal("40.00"), Decimal("85.00"), Decimal("0.6500"),
    )  # fmt: skip


def test_that_a_leader_is_unstable_when_a_fifth_of_a_weight_decides(catalogue: Catalogue) -> None:
    weights = {d: Decimal(w) for d, w in load_scenarios().scenarios["finetune"].weights.items()}
    scores = [
        (name, score_of(view(deal(answers=tuple(answer(f"{code}-01") for code in codes)), catalogue), weights))
        for name, codes in (("a", ("IC", "SL")), ("b", ("BI", "NS")), ("c", ()))
    ]
    found = stability_of(scores)
    assert found is not None and len(found.moves) == 2 * len(DIMENSIONS)
    assert stability_of(scores[:1]) is None


# -- what a run says ----------------------------------------------------------------------------------------------------------


def finding(check: str, verdict: Verdict, basis: Basis = Basis.REPORTED, sha: str = "e1") -> Finding:
    return Finding(check, verdict, Text("x", "x"), basis=basis, evidence=(sha,))


@pytest.mark.parametrize(("said", "expected"), [
    ({"gpu.model": Verdict.PASS, "gpu.pci_id": Verdict.PASS}, AnswerState.VERIFIED),
    ({"gpu.model": Verdict.PASS, "gpu.pci_id": Verdict.FAIL}, AnswerState.REFUTED),
    ({"gpu.model": Verdict.FAIL}, AnswerState.REFUTED),
    ({"gpu.model": Verdict.PASS}, None),
    ({"gpu.model": Verdict.PASS, "gpu.pci_id": Verdict.WARN}, None),
    ({"gpu.model": Verdict.PASS, "gpu.pci_id": Verdict.INCONCLUSIVE}, None),
    ({}, None),
])  # fmt: skip
def test_that_an_item_is_verified_by_all_of_its_checks_and_refuted_by_one(
    said: dict[str, Verdict], expected: AnswerState | None, catalogue: Catalogue
) -> None:
    found = answer_found(catalogue.checklist["IC-01"], {check: [finding(check, verdict)] for check, verdict in said.items()})
    assert (None if found is None else found[0]) is expected


def test_that_an_item_is_measured_only_when_every_check_of_it_was(catalogue: Catalogue) -> None:
    item = catalogue.checklist["IC-01"]
    model, pci = (finding("gpu.model", Verdict.PASS, Basis.MEASURED, "e1"), finding("gpu.pci_id", Verdict.PASS, Basis.REPORTED, "e2"))
    assert answer_found(item, {"gpu.model": [model], "gpu.pci_id": [pci]}) == (AnswerState.VERIFIED, Basis.REPORTED, ("e1", "e2"))
    both = {"gpu.model": [model], "gpu.pci_id": [replace(pci, basis=Basis.MEASURED)]}
    assert answer_found(item, both) == (AnswerState.VERIFIED, Basis.MEASURED, ("e1", "e2"))


def test_that_an_item_without_a_check_is_moved_by_no_run(catalogue: Catalogue) -> None:
    assert answer_found(catalogue.checklist["SL-04"], {"gpu.model": [finding("gpu.model", Verdict.FAIL)]}) is None


# -- the letter ---------------------------------------------------------------------------------------------------------------


def test_that_the_letter_asks_musts_first_numbered_through_and_once(catalogue: Catalogue) -> None:
    facts = deal(H100, answers=(answer("IC-01"), answer("IC-02", AnswerState.ASKED, AnswerValue.UNKNOWN)))
    letter = letter_of(view(facts, catalogue))
    asked = [question for group in letter.groups for question in group.questions]
    assert [question.number for question in asked] == list(range(1, letter.count + 1))
    severities = [question.item.severity for question in asked]
    assert severities == sorted(severities, key=list(Importance).index)
    assert "IC-01" not in letter.items and asked[0].item.id == "IC-02" and asked[0].asked
    unknown = {row.item.id for row in view(facts, catalogue).rows if row.outcome is Outcome.UNKNOWN}
    assert len(set(letter.items)) == letter.count and set(letter.items) == unknown - OURS


# The user finds these out: whether a supplier answers says nothing.
OURS = {"NS-02", "BI-12", "BI-15", "SL-10", "SU-06"}


def test_that_every_shipped_item_is_a_question_to_a_supplier_or_ours_to_find_out(catalogue: Catalogue) -> None:
    items = catalogue.checklist.values()
    assert {item.id for item in items if item.ours} == OURS
    asked = [item for item in items if not item.ours]
    assert all(item.ask.en.endswith("?") and item.ask.zh.endswith("？") for item in asked)
    assert len({item.ask.en for item in asked}) == len({item.ask.zh for item in asked}) == len(asked) == 101
    ours = re.compile(r"\b(try|tried|measured by us|test tickets|test messages|our places|reconciliation)\b|我方实测|对账", re.IGNORECASE)
    sent = [item.asks_for if item.asks_for.en else item.evidence for item in asked]
    assert [proof for proof in sent if ours.search(f"{proof.en} {proof.zh}")] == []


def test_that_the_user_s_own_words_are_asked_as_they_stand(catalogue: Catalogue) -> None:
    own = ChecklistItem("OWN-01", "support", Importance.MUST, Text("", "提供中文支持"), Text("", ""), ())
    edits = {"SL-04": ItemEdit(text=Text("Replaced in 2 h", "2 小时内更换")), "BI-12": ItemEdit(text=Text("You give us a log", "贵方提供日志")),
             "SL-03": ItemEdit(evidence=Text("Duty plan", "值班表"))}  # fmt: skip
    letter = letter_of(view(deal(), catalogue, template=Template("t", "mine", edits=edits, own=(own,))))
    english, chinese = (letter_text(letter, language) for language in (Language.EN, Language.ZH))
    assert "Replaced in 2 h. Proof: Clause; record of replacements. [SL-04]" in english and "You give us a log." in english
    assert "提供中文支持. [OWN-01]" in english and "提供中文支持。［OWN-01］" in chinese
    assert f"{catalogue.checklist['SL-03'].ask.zh}证明材料：值班表。［SL-03］" in chinese


def test_that_the_letter_names_the_proof_in_its_language(catalogue: Catalogue) -> None:
    letter = letter_of(view(deal(H100, number="报价 7\u202e"), catalogue))
    english, chinese = (letter_text(letter, language) for language in (Language.EN, Language.ZH))
    assert "\nMust · SLA\n" in english and "\n必须 · SLA\n" in chinese
    item = catalogue.checklist["SL-04"]
    assert f"{item.ask.en} Proof: {item.asks_for.en}. [SL-04]\n" in english
    assert f"{item.ask.zh}证明材料：{item.asks_for.zh}。［SL-04］\n" in chinese
    assert "\u202e" not in english + chinese


def test_that_the_document_of_the_letter_says_what_its_text_says(catalogue: Catalogue) -> None:
    letter = letter_of(view(deal(H100), catalogue, "graphics"))
    document = letter_document(letter, Language.ZH)
    lines = [block.text.zh for block in document.blocks if isinstance(block, Paragraph)]
    assert lines[1:-1] == [line for line in letter_text(letter, Language.ZH).splitlines() if line[:1].isdigit()]


def test_that_nothing_is_asked_when_all_is_known_or_waived(catalogue: Catalogue) -> None:
    known = tuple(answer(id_) for id_ in catalogue.checklist if id_ != "SL-04")
    letter = letter_of(view(deal(answers=known, waivers={"SL-04": Waiver("Wang", "trial", date(2027, 1, 1))}), catalogue))
    assert letter.count == 0 and letter_text(letter, Language.EN).endswith("There is nothing left to ask.\n")
    assert "answer the questions" not in letter_text(letter, Language.EN)
    found = [block.text.en for block in letter_document(letter, Language.EN).blocks if isinstance(block, Paragraph)]
    assert found == ["There is nothing left to ask."]
