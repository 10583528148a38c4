"""Every figure of a rule has an origin and bounds, and a moved one changes the verdict and says so."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.catalog.measured import Metric
from gpulease_gui.checks import power_limit, thermal_gpu
from gpulease_gui.checks.check import rules
from gpulease_gui.checks.fleet import Fleet, FleetMedian, KnownTool
from gpulease_gui.checks.history import History
from gpulease_gui.checks.judgement import Evidence, judge
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import BandMarks
from gpulease_gui.checks.thresholds import Moved, Threshold, Thresholds
from gpulease_gui.checks.yardstick import yardstick
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Basis, Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.threshold import Origin
from gpulease_gui.facts.smi_binary import SmiBinary
from gpulease_gui.facts.smi_xml import Gpu, SmiReport
from gpulease_gui.services.thresholds import all_thresholds, parse_amount
from gpulease_gui.store.codec import finding_from, finding_text

CHECKS = Path(__file__).resolve().parents[2] / "gpulease_gui" / "checks"
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def hot_card(promise: Promise) -> Finding:
    """A busy card at 84 degrees, judged by thermal.gpu."""
    report = SmiReport("570.86.15", "12.8", 1, (Gpu(index=0, uuid="GPU-1", temperature_c=84.0, gpu_util_percent=100.0),))
    (finding,) = judge(rules()["thermal.gpu"], {"smi_xml": Evidence(report)}, promise)
    return finding


def moved(threshold: Threshold, value: float) -> Thresholds:
    return Thresholds({threshold.key: Moved(value, "a hot hall (user, 2026-06-01)")})


def test_that_a_moved_figure_changes_the_verdict_and_is_kept_with_it(catalogue: Catalogue) -> None:
    shipped = hot_card(Promise(catalogue))
    assert shipped.verdict is Verdict.WARN
    used = {one.name: one for one in shipped.judged_by}
    assert (used["hot"].value, used["hot"].origin) == (83.0, Origin.ASSUMPTION)
    later = hot_card(Promise(catalogue, thresholds=moved(thermal_gpu.HOT_C, 88.0)))
    assert later.verdict is Verdict.PASS
    hot = next(one for one in later.judged_by if one.name == "hot")
    assert (hot.value, hot.origin, hot.source) == (88.0, Origin.SET, "a hot hall (user, 2026-06-01)")
    assert hot.words == Text(
        "a card is hot above: > 88 °C (set here: a hot hall (user, 2026-06-01))",
        "显卡偏热的下限：> 88 °C（自行设定：a hot hall (user, 2026-06-01)）",
    )


def test_that_a_finding_comes_back_from_the_store_with_its_figures(catalogue: Catalogue) -> None:
    found = hot_card(Promise(catalogue))
    assert finding_from(finding_text(found)) == found and len(found.judged_by) == 6
    old = finding_text(found).replace('"judged_by"', '"other"')
    assert finding_from(old) == replace(found, judged_by=())


def test_that_a_value_out_of_todays_bounds_counts_no_more(catalogue: Catalogue) -> None:
    promise = Promise(catalogue, thresholds=moved(power_limit.FULL, 1.4))
    assert promise.limit(power_limit.FULL) == 0.99
    assert promise.thresholds.judged_by([power_limit.FULL], None)[0].origin is Origin.ASSUMPTION


def test_that_what_was_not_judged_names_no_figure(catalogue: Catalogue) -> None:
    (unread,) = judge(rules()["thermal.gpu"], {}, Promise(catalogue))
    assert (unread.verdict, unread.judged_by) == (Verdict.INCONCLUSIVE, ())


def test_that_a_figure_of_one_term_is_not_named_by_another(catalogue: Catalogue) -> None:
    (tolerance,) = rules()["rdma.ports"].check.thresholds
    now = Promise(catalogue).thresholds
    assert [len(now.judged_by([tolerance], term)) for term in ("rdma.gbit_s", "rdma.ports", None)] == [1, 0, 0]


# -- every figure, everywhere -------------------------------------------------------------------------------------------


def test_that_every_figure_is_well_formed() -> None:
    for (check, name), (one, checks) in all_thresholds().items():
        assert one.key == (check, name) and one.title.en and one.title.zh, one
        assert one.accepts(one.value) and one.low < one.high, one
        assert bool(one.source) or one.origin is Origin.ASSUMPTION, f"{check} {name} names no source"
        assert check in ("fleet", "watch") or (check in rules() and checks), one


# What a rule may compare with and is no mark: zero, one and two count things, powers of ten and 1024 turn units.
COUNTED = (-1, 0, 1, 2)
UNIT_FACTORS = (100, 1024, 1e9, 1e-6)
PLAIN = {
    ("card_age.py", 6): "digits of a version",
    ("gpu_form_factor.py", 3): "three voters agree, as the design says",
    ("health_xid.py", 20): "digits of a stamp",
    ("net_iperf_multi.py", 3): "iperf3 3.16, from which each stream has a thread",
    ("net_iperf_multi.py", 16): "iperf3 3.16, from which each stream has a thread",
    ("net_ports.py", 8): "a list cut for the eye",
    ("npu_power_temp.py", 150): "no chip works at 150 degrees: the sensor is wrong",
    ("over_time.py", 3): "three points make a course",
    ("thermal_gpu.py", 150): "no card works at 150 degrees: the sensor is wrong",
    ("trust_smi_binary.py", 5): "digits of a mode",
}


def numbers_compared(tree: ast.AST) -> list[tuple[int, float]]:
    """(line, number) of every literal on a side of <, <=, >, >= , also inside sums and products."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops):
            for side in (node.left, *node.comparators):
                for leaf in ast.walk(side):
                    if isinstance(leaf, ast.Constant) and isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool):
                        found.append((leaf.lineno, leaf.value))
    return found


def bare_constants(tree: ast.Module) -> set[str]:
    """Names of module constants that hold a bare number."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else node.targets
            for target, value in zip(targets, values, strict=False):
                if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and type(value.value) in (int, float):
                    names.add(target.id)
    return names


# Constants that a rule compares with and that are facts of a format, not marks.
FORMATS = {
    ("drv_gdr.py", "DMA_BUF_KERNEL"): "the kernel that has it",
    ("drv_framework.py", "_BLACKWELL"): "the first compute capability of an architecture",
    ("gpu_mig.py", "FULL_SIZE"): "slices of a whole card",
    ("health_recovery_action.py", "FIRST_BRANCH"): "the driver that prints the field",
    ("health_sram_threshold.py", "FIRST_BRANCH"): "the driver that prints the field",
    ("iso_idle_activity.py", "FEWEST"): "fewer samples are none",
    ("load_seen.py", "SAMPLES"): "fewer samples are none",
    ("npu_memory.py", "MB_PER_GB"): "a unit",
    ("ram_shm_limits.py", "KIB"): "a unit",
    ("topo_matrix.py", "_KNOWN_RANK"): "how classes of a link are ordered",
    ("net_ports.py", "_MAX_PORT"): "the highest port there is",
    ("over_time.py", "WINDOW_S"): "how a course is cut, not judged",
    ("watch_line.py", "STEADY_S"): "how a ramp is cut off, not judged",
    ("watch_line.py", "_GROWTH"): "how a ramp is cut off, not judged",
    ("watch_rules.py", "_APART_S"): "which readings are of one stretch",
}


def test_that_no_rule_compares_with_a_number_that_is_no_mark() -> None:
    loose: list[tuple[str, int, object]] = []
    ignored = COUNTED + UNIT_FACTORS
    for path in sorted(CHECKS.glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        constants = bare_constants(tree)
        loose += [(path.name, line, n) for line, n in numbers_compared(tree) if n not in ignored and (path.name, n) not in PLAIN]
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) and any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops):
                used = {leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name)} & constants
                loose += [(path.name, node.lineno, name) for name in used if (path.name, name) not in FORMATS]
    assert loose == []


def figures_read(module: ModuleType) -> set[Threshold]:
    """What a module asks the promise for, by `promise.limit(NAME)` or `NAME.at(promise)`."""
    found: set[Threshold] = set()
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name = node.args[0] if node.func.attr == "limit" and node.args else node.func.value if node.func.attr == "at" else None
        value = getattr(module, name.id, None) if isinstance(name, ast.Name) else None
        found |= set(value.both) if isinstance(value, BandMarks) else {value} if isinstance(value, Threshold) else set()
    return found


def test_that_a_check_names_every_figure_that_its_rule_reads() -> None:
    read = 0
    for id_, rule in rules().items():
        figures = figures_read(sys.modules[rule.judge.__module__])
        read += len(figures)
        assert figures <= set(rule.check.thresholds), f"{id_} reads a figure that it does not list"
    assert read > 60


# -- fleet and published figures ----------------------------------------------------------------------------------------


def with_fleet(catalogue: Catalogue, fleet: Fleet) -> Promise:
    return Promise(catalogue, history=History(NOW, fleet=fleet))


def test_that_own_nodes_come_before_published_figures_and_nothing_is_a_share_of_the_sheet(catalogue: Catalogue) -> None:
    product = catalogue.gpus.models["nvidia-h100-sxm5-80gb"]
    published = yardstick(Promise(catalogue), "perf.bf16", product, Metric.BF16)
    assert published is not None
    assert (published.value, published.origin, "n = 2" in published.source) == (789.1, Origin.PUBLISHED, True)
    few = FleetMedian("perf.bf16", "", product.name, "TFLOP/s", 771.0, 4)
    assert yardstick(with_fleet(catalogue, Fleet((few,))), "perf.bf16", product, Metric.BF16) == published
    enough = yardstick(with_fleet(catalogue, Fleet((replace(few, nodes=5),))), "perf.bf16", product, Metric.BF16)
    assert enough is not None and (enough.value, enough.origin, enough.source) == (771.0, Origin.FLEET, "n = 5")
    unknown = catalogue.gpus.models["nvidia-l4-24gb"]
    assert yardstick(Promise(catalogue), "perf.bf16", unknown, Metric.BF16) is None


def test_that_a_measured_finding_shows_the_median_of_own_nodes_beside_it() -> None:
    median = FleetMedian("net.iperf_multi", "target->peer", "", "Gbit/s", 93.1, 6)
    found = Finding(
        median.check, Verdict.PASS, Text("x", "x"), measured=94.0, unit="Gbit/s", basis=Basis.MEASURED, direction="target->peer"
    )
    fleet = Fleet((median,))
    assert [(one.value, one.source) for one in fleet.beside(found, 5.0)] == [(93.1, "n = 6")]
    assert fleet.beside(found, 7.0) == fleet.beside(replace(found, direction="peer->target"), 5.0) == ()
    assert fleet.beside(replace(found, unit="Mbit/s"), 5.0) == fleet.beside(replace(found, basis=Basis.REPORTED), 5.0) == ()


DIGEST = "ab" * 32


def binary_judged(catalogue: Catalogue, tool: KnownTool, driver: str = "570.86.15") -> Finding:
    place = "/usr/bin/nvidia-smi"
    binary = SmiBinary(
        place, place, "7f454c46", DIGEST, "root", "755", "root", "755", (place,), False, None, None, None, False, ()
    )  # fmt: skip
    evidence = {
        "smi_binary": Evidence(binary), "environment": Evidence(None),
        "smi_xml": Evidence(SmiReport(driver, "12.8", 0, ())),
    }  # fmt: skip
    (finding,) = judge(rules()["trust.smi_binary"], evidence, with_fleet(catalogue, Fleet(tools=(tool,))))
    return finding


def test_that_a_file_that_several_suppliers_have_is_known(catalogue: Catalogue) -> None:
    known = KnownTool("570.86.15", DIGEST, 3, 2)
    assert binary_judged(catalogue, known).verdict is Verdict.PASS
    assert "3 other nodes of 2 suppliers" in binary_judged(catalogue, known).reason.en


@pytest.mark.parametrize(
    "tool",
    [KnownTool("570.86.15", DIGEST, 2, 2), KnownTool("570.86.15", DIGEST, 9, 1), KnownTool("570.86.15", "cd" * 32, 9, 4)],
    ids=["two nodes", "one supplier", "another file"],
)
def test_that_fewer_witnesses_prove_nothing(catalogue: Catalogue, tool: KnownTool) -> None:
    found = binary_judged(catalogue, tool)
    assert (found.verdict, found.reason_code) == (Verdict.WARN, "hash_unknown")


def test_that_the_driver_must_be_the_same(catalogue: Catalogue) -> None:
    assert binary_judged(catalogue, KnownTool("570.86.15", DIGEST, 3, 2), driver="550.54.15").verdict is Verdict.WARN


def test_that_every_published_figure_is_of_a_product_of_the_catalogue(catalogue: Catalogue) -> None:
    for (model, metric), window in catalogue.measured.windows.items():
        assert model in catalogue.gpus.models and window.metric is metric and window.sources
        assert 0 < window.low <= window.median <= window.high and window.n >= 1
    h100 = catalogue.measured.of("nvidia-h100-sxm5-80gb", Metric.HBM_COPY)
    assert h100 is not None and (h100.median, h100.unit) == (2900, "GB/s")
    assert catalogue.measured.of("nvidia-h100-pcie-80gb", Metric.HBM_COPY) is None


# -- what a user may write ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "value"), [("97 %", 0.97), ("97%", 0.97), ("0.97", 0.97), (" 9.7e-1 ", 0.97)])
def test_that_a_share_is_read_in_both_ways_of_writing(words: str, value: float) -> None:
    assert parse_amount(power_limit.FULL, words) == pytest.approx(value, abs=0)


@pytest.mark.parametrize("words", ["", "much", "83 K", "nan", "inf", "1e999", "1,5", "0x10", "９５", "5" * 400])
def test_that_what_is_no_number_in_the_unit_is_refused_in_words(words: str) -> None:
    with pytest.raises(UsageError, match="is no value of thermal.gpu hot"):
        parse_amount(thermal_gpu.HOT_C, words)
