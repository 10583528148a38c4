"""Do recorded results of the tasks reach the report with the verdict and the words that a renter needs, in both languages?

The raw outputs are those of tests/checks; nothing between them and the printed words is replaced.
"""

from __future__ import annotations

import hashlib
import html
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.checks.check import rules
from gpulease_gui.checks.fleet import Fleet, FleetMedian
from gpulease_gui.checks.history import History
from gpulease_gui.checks.judgement import Evidence, judge
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Language
from gpulease_gui.facts.fact import read, readers
from gpulease_gui.reports.as_html import html_text
from gpulease_gui.reports.assemble import assemble

from .report_facts import facts_of, node_of

CHECKS = Path(__file__).resolve().parents[1] / "checks"
SLOW = "GPU-3f1c7a52-8d0e-4b6f-9a21-5e7c04d9b1f5"


@cache
def catalogue() -> Catalogue:
    return load_catalogue()


def found(case: str, fleet: Fleet | None = None) -> tuple[Finding, ...]:
    """The findings of a recorded result, its terms as they stand there."""
    path = CHECKS / f"{case}.toml"
    said = tomllib.loads(path.read_text("utf-8"))
    evidence = {}
    for fact_id, spec in said["outputs"].items():
        output = CommandOutput(spec["text"].encode(), b"", spec.get("exit_code", 0))
        evidence[fact_id] = Evidence(read(readers()[fact_id], output), None, hashlib.sha256(output.stdout).hexdigest())
    history = History(datetime(2026, 11, 30, tzinfo=UTC), fleet=fleet) if fleet else None
    return judge(rules()[path.parent.name], evidence, Promise(catalogue(), said.get("terms", {}), history=history))


def printed(findings: tuple[Finding, ...], language: Language) -> str:
    return html.unescape(html_text(assemble(facts_of(node_of(findings)), language)))


@dataclass(frozen=True)
class Told:
    """A recorded result: the verdict of its first finding, and words of the report in English and Chinese."""

    case: str
    verdict: Verdict
    en: tuple[str, ...]
    zh: tuple[str, ...]


TOLD = (
    Told("perf.bf16/h100_sxm8_pass", Verdict.PASS, ("BF16 matrix products", "775.2"), ("BF16 矩阵乘算力", "775.2")),
    Told("perf.bf16/h100_pcie_open", Verdict.INCONCLUSIVE, ("what this product reaches elsewhere is not known", "keep this run: the median of five own nodes"),
         ("尚不知该型号在别处能达到多少", "五台同型号自有节点的中位数")),
    Told("perf.bf16/h20_pass", Verdict.PASS, ("140.9",), ("140.9",)),
    Told("perf.bf16/h20_as_h100_fail", Verdict.FAIL, ("18 % of 789.1 (median of published measurements)",), ("为 789.1（公开实测中位数）的 18%",)),
    Told("perf.fp32_fp64/h20_as_h100_fail", Verdict.FAIL, ("another die", "part number"), ("另一种芯片", "部件号")),
    Told("perf.bf16/power_capped_fail", Verdict.FAIL, ("capped at 500 W (default 700 W)", "1,290 MHz, 498 W", "set the power limit back"),
         ("功耗上限被设为 500 W（默认 700 W）", "1,290 MHz、498 W", "把功耗上限恢复为")),
    Told("perf.bf16/one_slow_of_eight_fail", Verdict.FAIL, ("#5: 630.3 TFLOP/s", "thermal slowdown by hardware from the start", "repair cooling"),
         ("#5：630.3 TFLOP/s", "一开始就有硬件过热降频", "检修该节点的散热")),
    Told("perf.uniformity/one_slow_fail", Verdict.FAIL, (f"{SLOW} (GPU 5) does 590.9 TFLOP/s, 81 % of its fastest sister", "repair or exchange this GPU"),
         (f"{SLOW}（GPU 5）为 590.9 TFLOP/s", "维修或更换这张卡")),
    Told("perf.uniformity/one_slow_once_warn", Verdict.WARN, ("one low run proves nothing",), ("单次偏低不足为据",)),
    Told("perf.soak/thermal_decay_fail", Verdict.FAIL, ("keeps 79.7 % of its rate over 20 min; thermal slowdown by hardware from minute 12",),
         ("在 20 分钟后保持 79.7% 的速率；第 12 分钟起硬件过热降频",)),
    Told("perf.soak/hardware_slowdown_fail", Verdict.FAIL, ("hardware slowdown from minute 12",), ("第 12 分钟起硬件降频",)),
    Told("perf.bf16/above_spec", Verdict.INCONCLUSIVE, ("is more than this product can do (1,187.3): the test is wrong", "the test is wrong, not the card"),
         ("超过该型号的极限（1,187.3）：测试有误", "是测试出了错")),
    Told("perf.bf16/low_busy_warn", Verdict.WARN, ("stop everything on the GPUs",), ("停掉显卡上的一切任务",)),
)  # fmt: skip


@pytest.mark.parametrize("told", TOLD, ids=lambda told: told.case)
def test_that_the_report_says_what_the_renter_needs(told: Told) -> None:
    findings = found(told.case)
    assert findings[0].verdict is told.verdict
    for language, words in ((Language.EN, told.en), (Language.ZH, told.zh)):
        page = printed(findings, language)
        assert [word for word in words if word not in page] == []


@pytest.mark.parametrize(("median", "verdict", "share"), [(620.0, Verdict.PASS, "99 %"), (700.0, Verdict.FAIL, "87 %")])
def test_that_five_own_nodes_become_the_yardstick_and_their_number_is_said(median: float, verdict: Verdict, share: str) -> None:
    (name,) = {p.name for p in catalogue().gpus.models.values() if p.id == "nvidia-h100-pcie-80gb"}
    fleet = Fleet((FleetMedian("perf.bf16", "best", name, "TFLOP/s", median, 5),))
    best = found("perf.bf16/h100_pcie_open", fleet)[0]
    assert best.verdict is (verdict if verdict is Verdict.PASS else Verdict.WARN)  # one run alone fails nobody
    assert f"{share} of {median:.0f} (median of own nodes with this product, n = 5)" in best.reason.en
    assert "同型号自有节点中位数，n = 5" in best.reason.zh
    four = found("perf.bf16/h100_pcie_open", Fleet((FleetMedian("perf.bf16", "best", name, "TFLOP/s", median, 4),)))[0]
    assert four.reason_code == "no_yardstick"
