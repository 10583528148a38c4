"""Is the memory of every GPU as fast as it should be?"""

from __future__ import annotations

from gpulease_gui.catalog.measured import Metric
from gpulease_gui.checks.copy_cards import copied, copy_check, copy_heads
from gpulease_gui.checks.load_words import BUSY_BEFORE, LOAD_MARKS
from gpulease_gui.checks.perf_bf16 import MEDIAN
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import band_marks
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.checks.torch_rates import RATE_MARKS, Rate, judge_rate
from gpulease_gui.domain.finding import Finding
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.torch_copy import INSIDE, TorchCopy

TERM = "gpu.memory_gb_s"
FLEET = band_marks("perf.hbm", 0.95, 0.88, MEDIAN, name="fleet")
# Others measured with other kernels.
PUBLISHED = band_marks("perf.hbm", 0.95, 0.8, Text("the published median", "公开中位数"), name="published")
OVER = Threshold(
    "perf.hbm", "over", 1.0, SHARE, Text("the test is wrong above (share of the data sheet)", "超过规格此比例即测试有误"), ">", Origin.PUBLISHED,
    "mli/transformers-benchmarks#4: a buffer inside the cache", low=0.9,
)  # fmt: skip

CHECK = copy_check(
    id="perf.hbm",
    title=Text("GPU memory bandwidth", "显存带宽"),
    why=Text("Inference lives on memory bandwidth, and cheaper cards of one name have less of it.", "推理靠显存带宽，同名的廉价版本恰恰少在这里。"),
    terms=(TERM,),
    ask=Text("How many GB/s does each GPU copy inside its memory, measured?", "每张卡实测显存拷贝带宽是多少 GB/s？"),
    writes=Text("nothing; up to 8 GiB of the memory of each GPU", "不写入；每张卡占用至多 8 GiB 显存"),
    thresholds=(*FLEET.both, *PUBLISHED.both, OVER, *RATE_MARKS, BUSY_BEFORE, *LOAD_MARKS),
)
_RATE = Rate(Text("memory copy", "显存拷贝"), "GB/s", Metric.HBM_COPY, ("memory_bandwidth_gb_s",), OVER, FLEET, PUBLISHED, "", TERM)


def judge(found: TorchCopy, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the slowest card in GB/s, read and write counted."""
    return (judge_rate(CHECK, _RATE, copied(found, INSIDE, report, promise), copy_heads(found), promise),)
