"""Does the node load from the internet as fast as promised?"""

from __future__ import annotations

from urllib.parse import urlsplit

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.repeats import MEASURED_ONCE, PROMISE, PROMISE_ITSELF, band_marks, judged, repeat_due
from gpulease_gui.checks.thresholds import Origin
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.web_rates import WebRates, WebTry

DOWN, UP = "network.ingress_mbit_s", "network.egress_mbit_s"

BANDS = band_marks("net.egress", 1.0, 0.5, PROMISE, pass_origin=Origin.SPEC, pass_source=PROMISE_ITSELF)

CHECK = Check(
    id="net.egress",
    title=Text("Internet speed", "公网速度"),
    why=Text(
        "Images and models of hundreds of gigabytes come over this line before any work begins.",
        "动辄数百 GB 的镜像和模型都要先经这条线路下载。",
    ),
    facts=("web_rates",),
    terms=(DOWN, UP),
    impact=Impact.ACTIVE,
    level=2,
    ask=Text("How many Mbit/s does the node get from and to the internet?", "节点的公网下行和上行各是多少 Mbit/s？"),
    writes=Text(
        "nothing; loads the addresses that you name for 10 s each and throws them away",
        "不写入；逐个下载指定地址各 10 秒，内容即弃",
    ),
    takes_s=10,
    thresholds=BANDS.both,
)


def judge(rates: WebRates, promise: Promise) -> tuple[Finding, ...]:
    """A finding for loading (Mbit/s, the best of all downloads), and one that says why sending was not measured."""
    found = [_down(rates, promise)]
    if up := promise.get(UP):
        found.append(_finding(UP, Verdict.INCONCLUSIVE, _NO_UPLOAD, up, None, "not_measured", _UPLOAD_STEP))
    return tuple(found)


def to_repeat(rates: WebRates, promise: Promise) -> tuple[str, ...]:
    """`web` when all that was loaded so far is one download that would fail: it is done once more at once."""
    stated = promise.get(DOWN)
    due = repeat_due([one.mbit_s for one in rates.tries if one.mbit_s], stated.number if stated else None, BANDS.at(promise))
    return ("web",) if due else ()


def _down(rates: WebRates, promise: Promise) -> Finding:
    stated = promise.get(DOWN)
    good = sorted((one for one in rates.tries if one.mbit_s), key=lambda one: -(one.mbit_s or 0.0))
    if not rates.tries:
        return _finding(DOWN, Verdict.INCONCLUSIVE, _NO_URL, stated, None, "no_url", _NAME_URL)
    if not good:
        last = rates.tries[-1]
        reason = Text(f"nothing was loaded: {last.trouble}", f"下载失败：{last.trouble}")
        step = _INSTALL if last.code == "missing_tool" else _NAME_URL
        return _finding(DOWN, Verdict.INCONCLUSIVE, reason, stated, None, last.code or "unreadable", step)
    rate = good[0].mbit_s or 0.0
    if stated is None:
        subject = SubjectFinding(_host(good[0]), Verdict.INCONCLUSIVE, round(rate, 1))
        return CHECK.not_promised(DOWN, round(rate, 1), unit="Mbit/s", subjects=(subject,), basis=Basis.MEASURED)
    verdict, code = judged([one.mbit_s or 0.0 for one in good], stated.number, BANDS.at(promise))
    step = NO_TEXT if verdict is Verdict.PASS else _AGAIN if code == MEASURED_ONCE else _SLOW
    return _finding(DOWN, verdict, _reason(good[0], stated), stated, rate, code, step, _host(good[0]))


def _host(one: WebTry) -> str:
    """The server's name as the address writes it."""
    try:
        return urlsplit(one.url).hostname or one.url
    except ValueError:
        return one.url


def _reason(one: WebTry, stated: Stated) -> Text:
    rate, want = number_text(one.mbit_s or 0.0), number_text(stated.number)
    length, share = number_text(round(one.seconds or 0.0)), number_text((one.mbit_s or 0.0) / stated.number * 100, 0)
    host = _host(one)
    return Text(
        f"{rate} Mbit/s from {host} over one connection ({length} s), {share} % of the promised {want}",
        f"单连接从 {host} 下载 {rate} Mbit/s（{length} 秒），为承诺 {want} 的 {share}%",
    )


_NO_URL = Text("no address to load from was given", "没有给出用于测速的下载地址")
_NAME_URL = Text(
    "Name two large files on fast servers that you choose (command line: `--url https://…` twice), or run curl -o /dev/null URL on the node.",
    "请给出您信任的高速服务器上的两个大文件（命令行：两次 `--url https://…`），或在节点上运行 curl -o /dev/null URL。",
)
_INSTALL = Text("Install curl on the node: apt-get install -y curl", "请在节点上安装 curl：apt-get install -y curl")
_AGAIN = Text("Measure again, from another server too.", "请复测，并换一个服务器。")
_SLOW = Text(
    "Ask the supplier for the limit of the public line and whether all tenants share it.",
    "请询问供应商公网限速，以及是否多租户共享。",
)
_NO_UPLOAD = Text("sending to the internet was not measured", "没有测量公网上行")
_UPLOAD_STEP = Text(
    "Run iperf3 from the node to a server of yours outside.", "请在节点上用 iperf3 向您自己的外部服务器测上行。"
)


def _finding(
    term: str, verdict: Verdict, reason: Text, stated: Stated | None, mbit_s: float | None, code: str, step: Text,
    host: str = "",
) -> Finding:  # fmt: skip
    measured = round(mbit_s, 1) if mbit_s is not None else None
    subjects = (SubjectFinding(host, verdict, measured),) if host else ()
    return CHECK.finding(
        verdict, reason, term=term, promised=stated.value if stated else None, measured=measured, unit="Mbit/s",
        subjects=subjects, reason_code=str(code), next_step=step, basis=Basis.MEASURED, better="more",
    )  # fmt: skip
