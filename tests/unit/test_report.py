"""Does the report say what was found, no more and no less, in every form but PDF?"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from gpulease_gui.domain.finding import CheckState, Finding, Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Language, Text, foreign
from gpulease_gui.domain.threshold import JudgedBy, Origin
from gpulease_gui.reports.as_csv import csv_bytes
from gpulease_gui.reports.as_html import html_text
from gpulease_gui.reports.as_json import json_bytes
from gpulease_gui.reports.assemble import assemble
from gpulease_gui.reports.document import (
    BarChart,
    Block,
    Document,
    Heading,
    Items,
    LineChart,
    Mark,
    SubHeading,
    Table,
    Title,
    VerdictBox,
    Words,
)
from gpulease_gui.reports.facts import EvaluationFacts, NodeFacts, loudest_first
from gpulease_gui.reports.known_notes import note_text
from gpulease_gui.reports.run_hash import finding_record, run_hash
from gpulease_gui.reports.section import builders
from gpulease_gui.reports.sections import (
    bandwidth,
    details,
    evidence,
    findings,
    handover,
    identity,
    live,
    questions,
    summary,
)
from gpulease_gui.reports.wording import (
    deviation,
    finding_name,
    grouped_hash,
    moment,
    row_name,
    short_hash,
    value_text,
    with_unit,
)

from .report_facts import BANDWIDTH, COLDER, DENIED, GOOD, POWER, START, UNPROMISED, facts_of, node_of, stretch, usual

HOSTILE = '<img src=x onerror=1>&"\x1b[31m\u202eevil\u200b'


def only(blocks: tuple[Block, ...], kind: type) -> list[Block]:
    return [block for block in blocks if isinstance(block, kind)]


def words(cell: object) -> str:
    assert isinstance(cell, Words)
    return cell.text.en


def first_table(blocks: tuple[Block, ...]) -> Table:
    table = only(blocks, Table)[0]
    assert isinstance(table, Table)
    return table


def test_that_the_sections_come_in_the_order_of_reading_and_headings_are_numbered() -> None:
    assert [b.section.id for b in builders()] == [
        "summary", "findings", "details", "bandwidth", "live", "workload", "ascend", "identity", "handover", "questions",
        "checklist", "evidence", "sign_off",
    ]  # fmt: skip
    headings = only(assemble(usual(), Language.EN).blocks, Heading)
    assert [h.number for h in headings if isinstance(h, Heading)] == list(range(1, 10))


def test_that_the_box_gives_verdict_counts_and_coverage() -> None:
    box = only(summary.build(usual()), VerdictBox)[0]
    assert isinstance(box, VerdictBox)
    assert (box.verdict, [d.en for d in box.details]) == (
        Verdict.FAIL, ["0 of 2 accepted", "6 checks: 2 fail, 2 inconclusive", "3 of 8 promises judged, coverage 37 %"]
    )  # fmt: skip


def test_that_the_box_names_what_was_not_checked() -> None:
    box = only(summary.build(facts_of(node_of((GOOD,), unjudged=("network.gbit_s", "gpu.power_w")))), VerdictBox)[0]
    assert isinstance(box, VerdictBox)
    assert box.details[-1].en == "not checked: Node-to-node bandwidth, Power limit per GPU"


def test_that_fails_come_first_and_what_nobody_promised_last() -> None:
    shuffled = (UNPROMISED, GOOD, COLDER, DENIED, POWER)
    assert loudest_first(shuffled) == (POWER, DENIED, COLDER, GOOD, UNPROMISED)


def test_that_a_row_says_promise_measurement_deviation_verdict_and_hash() -> None:
    row = first_table(findings.build(usual())).rows[0]
    assert [words(cell) for cell in (*row[:4], row[6])] == [
        "Node-to-node bandwidth target→peer, Gbit/s", "100", "24.6", "−75.4\u202f%", short_hash(BANDWIDTH.evidence[0])
    ]  # fmt: skip
    assert row[5] == Mark(Verdict.FAIL)


def test_that_a_missing_value_is_a_word() -> None:
    rows = first_table(findings.build(usual())).rows
    said = {words(row[0]): (words(row[1]), words(row[2])) for row in rows}
    assert said["Xid events in the kernel log"] == ("not stated", "not readable")
    assert said["CPU cores usable"] == ("not stated", "128")


def test_that_a_node_that_was_never_verified_is_listed_and_asked_for() -> None:
    heads = [b for b in only(findings.build(usual()), SubHeading) if isinstance(b, SubHeading)]
    assert (heads[1].text.en, heads[1].state) == ("node-08", CheckState.NOT_RUN)
    asked = only(questions.build(usual()), Items)[0]
    assert isinstance(asked, Items)
    assert "when can this node be verified? [node-08]" in [item.en for item in asked.items]


def test_that_a_promise_that_was_not_checked_is_a_row_and_a_question() -> None:
    facts = facts_of(node_of((GOOD,), unjudged=("network.gbit_s",)))
    row = first_table(findings.build(facts)).rows[-1]
    assert (words(row[0]), words(row[1]), words(row[2]), row[5]) == (
        "Node-to-node bandwidth", "100", "not read", Mark(CheckState.NOT_RUN)
    )  # fmt: skip
    asked = only(questions.build(facts), Items)[0]
    assert isinstance(asked, Items)
    assert asked.items[0].en.startswith("Node-to-node bandwidth: promised, but not checked")


def test_that_a_promise_without_any_check_is_an_open_question() -> None:
    asked = only(questions.build(usual()), Items)[0]
    assert isinstance(asked, Items)
    assert asked.items[-1].en.startswith("sla.uptime (99.9): promised; this program has no check for it")


def test_that_equal_readings_of_cards_are_said_once() -> None:
    reasons = [words(row[2]) for row in first_table(details.build(usual())).rows]
    assert reasons[1] == "limited to 350 W (reported by the node); #0–#7: 350 W"
    assert not any("nobody promised" in reason for reason in reasons)


def test_that_rates_are_drawn_by_unit_with_their_promise() -> None:
    charts = bandwidth.build(usual())
    assert len(charts) == 1
    chart = charts[0]
    assert isinstance(chart, BarChart)
    assert [(bar.measured, bar.promised, bar.verdict) for bar in chart.bars] == [(24.63, 100.0, Verdict.FAIL)]


def test_that_the_live_stretch_carries_contract_line_gap_and_unit() -> None:
    chart = only(live.build(usual()), LineChart)[0]
    assert isinstance(chart, LineChart)
    assert (chart.contract, chart.unit, chart.contract_words.zh) == (100.0, "Gbit/s", "合同 100 Gbit/s")
    assert [blank.end_s - blank.start_s for blank in chart.blanks] == [81.0]


def test_that_a_stretch_of_which_only_summaries_are_left_says_so_and_where() -> None:
    drawn = stretch()
    part = replace(drawn, coarser=((drawn.start_s, drawn.start_s + 300, 10.0),))
    whole = replace(drawn, coarser=((drawn.start_s, drawn.end_s, 300.0),))
    node = node_of((GOOD,))
    first, second = only(live.build(facts_of(replace(node, live=(part, whole)))), LineChart)
    assert isinstance(first, LineChart) and isinstance(second, LineChart)
    assert "1 line; 10 s summaries 15:30:05–15:35:05; time in" in first.caption.en
    assert "1 条曲线；15:30:05–15:35:05 为 10 秒汇总；时间为" in first.caption.zh
    assert "1 line; 5 min summaries; time in" in second.caption.en


def test_that_the_time_of_handover_is_told_by_three_clocks() -> None:
    start = first_table(handover.build(usual())).rows[0]
    assert [words(cell) for cell in start] == [
        "node-07", "start", "2026-03-02 15:30:05", "2026-03-02 07:30:05", "2026-03-02 07:30:02", "−2.5"
    ]  # fmt: skip


def test_that_a_clock_that_was_not_read_is_not_zero() -> None:
    row = first_table(handover.build(facts_of(node_of((GOOD,), clock_offset_s=None)))).rows[0]
    assert (words(row[4]), words(row[5])) == ("not read", "not read")


def test_that_every_card_and_key_decision_is_named() -> None:
    tables = [b for b in only(identity.build(usual()), Table) if isinstance(b, Table)]
    assert words(tables[0].rows[7][2]) == "GPU-5a1e0007-77aa-4b1c-9d2e-0123456789ab"
    assert [words(cell) for cell in tables[1].rows[0]][2:] == ["trusted", "compared with the supplier's fingerprint"]


def test_that_evidence_lists_command_exit_code_and_whole_hash_and_tells_of_tampering() -> None:
    node = node_of((GOOD,))
    assert node.run
    lines = (replace(node.run.evidence[0], intact=False), node.run.evidence[1])
    rows = first_table(evidence.build(facts_of(replace(node, run=replace(node.run, evidence=lines))))).rows
    assert words(rows[0][3]).endswith("changed after it was saved")
    assert [words(cell) for cell in rows[1][1:]] == ["dmesg --time-format iso", "1", lines[1].sha256]


def test_that_a_script_is_named_by_its_hash_since_its_first_lines_tell_nothing() -> None:
    node = node_of((GOOD,))
    assert node.run
    lines = (replace(node.run.evidence[0], command="say() { :; }\nsay a"), *node.run.evidence[1:])
    rows = first_table(evidence.build(facts_of(replace(node, run=replace(node.run, evidence=lines))))).rows
    assert words(rows[0][1]) == "script, SHA-256 086bfc7f…"


def test_that_notes_of_the_program_are_said_in_both_languages_and_others_as_they_are() -> None:
    assert note_text("shipped with the demo").zh == "随演示提供"
    assert note_text("taken over from offer Q-7") == Text("taken over from offer Q-7", "取自报价 Q-7")
    assert note_text("by phone").zh == "by phone"


def test_that_nothing_is_shown_in_the_words_of_the_programming_language() -> None:
    assert (value_text(None).en, value_text(True).zh, value_text("None").en) == ("–", "是", "none")
    assert value_text("none (whole GPU)").zh == "无（整卡）"
    assert with_unit(16, "lanes").zh == "16 通道"


def test_that_the_demo_is_named_in_the_title_of_both_languages() -> None:
    title = summary.build(usual(demo=True))[0]
    assert isinstance(title, Title)
    assert "DEMO" in title.text.en and "DEMO" in title.text.zh


def test_that_a_contract_without_nodes_says_so() -> None:
    facts = facts_of(verdict=Verdict.INCONCLUSIVE)
    assert facts.coverage() == (0, 0)
    text = html_text(assemble(facts, Language.EN))
    assert "the contract has no nodes" in text


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [(True, "", "yes"), (81559, "MiB", "81,559 MiB"), (-5.25, "W", "−5.2 W"), (float("nan"), "W", "nan W"), ("sxm", "W", "SXM"),
     (8, "GPUs", "8"), ("roce, ethernet", "", "RoCE, Ethernet")],
)  # fmt: skip
def test_that_values_are_written_for_people(value: float | str, unit: str, said: str) -> None:
    assert with_unit(value, unit).en == said


def test_that_choices_are_translated() -> None:
    assert value_text("bare_metal").zh == "裸金属"
    assert row_name(COLDER, usual().terms).zh == "可用内存，GiB"


def test_that_a_deviation_needs_two_figures_else_the_failing_cards_are_counted() -> None:
    worded = replace(POWER, promised="sxm", measured="pcie")
    assert (deviation(POWER).en, deviation(worded).zh, deviation(DENIED).en) == ("−50\u202f%", "8 / 8 卡", "")


def test_that_hashes_and_zones_are_readable() -> None:
    assert (short_hash("ab12" * 16), grouped_hash("ab12cd34")) == ("ab12…ab12", "ab12 cd34")
    assert moment(START, usual(utc_offset_s=-12600).zone) == "2026-03-02 04:00:05 UTC−3:30"


def test_that_the_run_hash_changes_with_every_word_and_every_output() -> None:
    base = run_hash("r", (GOOD,), ("aa",))
    assert base == run_hash("r", (GOOD,), ("aa", "aa"))
    changed = [("r", (replace(GOOD, measured=7),), ("aa",)), ("r", (GOOD,), ("ab",)), ("s", (GOOD,), ("aa",)), ("r", (), ("aa",))]
    assert base not in [run_hash(*one) for one in changed]


def test_that_json_is_the_same_bytes_and_keeps_numbers() -> None:
    once, again = json_bytes(usual()), json_bytes(usual())
    assert once == again
    whole = json.loads(once)
    finding = whole["nodes"][0]["run"]["findings"][0]
    assert (finding["measured"], finding["promised"], finding["verdict"]) == (24.63, 100, "fail")
    assert (whole["nodes"][1]["run"], whole["coverage"]) == (None, {"judged": 3, "promised": 8})


def test_that_json_holds_half_surrogates_and_infinities_of_foreign_words() -> None:
    odd = replace(GOOD, measured=float("inf"), reason=foreign("half \ud83d"))
    finding = json.loads(json_bytes(facts_of(node_of((odd,)))))["nodes"][0]["run"]["findings"][0]
    assert (finding["measured"], finding["reason"]["en"]) == ("inf", "half \ud83d")


def table_of(content: bytes) -> list[list[str]]:
    assert content.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "＝", " ="])
def test_that_no_text_cell_starts_a_formula_but_numbers_stay_numbers(start: str) -> None:
    bad = replace(COLDER, reason=foreign(f"{start}cmd|' /c calc'!A0"))
    row = table_of(csv_bytes(facts_of(node_of((bad,))), Language.EN))[1]
    assert row[9] == f"'{start}cmd|' /c calc'!A0"
    assert (row[5], row[6]) == ("2048", "-12.5")


def test_that_a_node_without_a_run_is_a_line_of_the_csv() -> None:
    rows = table_of(csv_bytes(usual(), Language.ZH))
    assert rows[0][:3] == ["节点", "检查项", "名称"]
    assert (rows[-1][0], rows[-1][8]) == ("node-08", "not_run")


def test_that_each_line_of_a_demo_says_so() -> None:
    rows = table_of(csv_bytes(usual(demo=True), Language.EN))[1:]
    assert {row[0] for row in rows} == {"DEMO node-07", "DEMO node-08"}


def hostile() -> EvaluationFacts:
    finding = Finding("gpu.model", Verdict.FAIL, Text(HOSTILE, HOSTILE), "gpu.model", HOSTILE, HOSTILE, required=True)
    node = node_of((finding,))
    return facts_of(replace(node, node=Node("n", HOSTILE)), NodeFacts(Node("m", HOSTILE)))


def test_that_foreign_words_are_escaped_in_html_and_nothing_is_loaded() -> None:
    page = html_text(assemble(hostile(), Language.ZH))
    assert "<img" not in page and "\x1b" not in page and "\u202e" not in page
    assert "&lt;img src=x onerror=1&gt;&amp;&quot;␛[31m⟨U+202E⟩evil⟨U+200B⟩" in page
    assert "http" not in page and "<script" not in page


@pytest.mark.parametrize("language", list(Language))
def test_that_html_holds_every_cell_of_every_table(language: Language) -> None:
    document: Document = assemble(usual(), language)
    page = html_text(document)
    cells = [c for t in document.tables() for row in t.rows for c in row if isinstance(c, Words)]
    assert len(cells) > 60
    assert [c.text.say(language) for c in cells if c.text.say(language).replace("'", "&#x27;") not in page] == []


def test_that_an_unknown_check_keeps_its_id_as_name() -> None:
    assert finding_name(replace(GOOD, check="new.check", direction=""), {}).zh == "new.check"


def test_that_the_figures_of_what_does_not_fit_stand_under_the_table_with_their_origin() -> None:
    figure = JudgedBy("power.limit", "lowered", Text("cut below", "压低界限"), 0.93, "share", Origin.ASSUMPTION, "", "<")
    fleet = JudgedBy("disk.seq", "fleet_median", Text("own nodes", "自有节点"), 93.1, "MB/s", Origin.FLEET, "n = 6")
    judged = [replace(POWER, judged_by=(figure,)), replace(GOOD, judged_by=(figure,)), replace(BANDWIDTH, judged_by=(figure, fleet))]
    assert [f.verdict for f in judged] == [Verdict.FAIL, Verdict.PASS, Verdict.FAIL]
    tables = [b for b in only(findings.build(facts_of(node_of(judged))), Table) if isinstance(b, Table)]
    said = [[cell.text.en for cell in row if isinstance(cell, Words)] for row in tables[1].rows]
    assert sorted(row[1] for row in said) == [
        "cut below: < 93 % (assumption)", "cut below: < 93 % (assumption); own nodes: 93.1 MB/s (own fleet: n = 6)",
    ]  # fmt: skip
    bare = only(findings.build(facts_of(node_of([replace(GOOD, judged_by=(figure,))]))), Table)
    assert len(bare) == 1


def test_that_a_finding_without_figures_keeps_the_hash_that_it_had() -> None:
    figure = JudgedBy("power.limit", "lowered", Text("cut below", "压低界限"), 0.93, "share", Origin.ASSUMPTION)
    moved = replace(POWER, judged_by=(figure,))
    assert "judged_by" not in finding_record(POWER) and "judged_by" in finding_record(moved)
    assert run_hash("r", [POWER], []) != run_hash("r", [moved], []) != run_hash("r", [replace(moved, judged_by=(replace(figure, value=0.9),))], [])
