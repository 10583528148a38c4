"""The built-in tasks with a real PyTorch over a real OpenSSH server, on processors; and over the simulated nodes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.demo.nodes import demo_nodes
from gpulease_gui.demo.server import DemoServer
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.facts.fact import read, readers
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.targets import node_of
from gpulease_gui.services.verify import Request
from gpulease_gui.store import evidence

pytestmark = pytest.mark.sshd

# The first check of each task, with what one finding of it says on processors.
ON_CPU = ("perf.bf16", "perf.hbm", "work.train")
WORDS = ("the task ran on processors: PyTorch sees no GPU here", "任务跑在 CPU 上：PyTorch 看不到显卡")


@pytest.fixture
def server(make_sshd: Callable[..., Any], torch_bin: Path) -> Any:
    return make_sshd(env={"PATH": f"{torch_bin}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"})


@pytest.fixture
def services(server: Any, tmp_path: Path) -> Iterator[Services]:
    opened = open_services(tmp_path / "w.db", fingerprints=tuple(key.fingerprint for key in server.keys.host_keys()))
    yield opened
    opened.close()


@pytest.mark.timeout(300)
def test_that_the_three_tasks_run_on_processors_and_say_that_this_judges_no_gpu(server: Any, services: Services) -> None:
    node = node_of(services.workspace, str(server.address), server.key_file)
    outcome = services.verification.run(node, Request({}, only=ON_CPU, seconds=1), CancelToken())
    told: dict[str, list[Finding]] = {}
    for finding in outcome.findings:
        told.setdefault(finding.check, []).append(finding)
    assert set(told) == set(ON_CPU)
    for found in told.values():
        assert {(f.verdict, f.reason_code, f.reason.en, f.reason.zh) for f in found} == {(Verdict.INCONCLUSIVE, "no_gpu", *WORDS)}
        assert all("torch.cuda.is_available()" in f.next_step.zh for f in found)
    readings = {fact_id: readings_of(services, outcome.run, fact_id) for fact_id in ("torch_matmul", "torch_copy", "torch_train")}
    assert all(run.head.complete and run.head.cards[0].key == "cpu" and run.head.torch for run in readings.values())
    assert (readings["torch_matmul"].rate("cpu", "fp32") or 0) > 0 and readings["torch_matmul"].course("cpu")
    assert {copy.event for copy in readings["torch_copy"].copies} == {"device_copy", "h2d", "d2h"} and all(c.correct for c in readings["torch_copy"].copies)
    steps = readings["torch_train"].steps
    assert (readings["torch_train"].tokens_s or 0) > 0 and (steps[-1].loss or 9) < (steps[0].loss or 0)
    assert [name for _, _, names in os.walk(server.home) for name in names if "gpulease" in name] == []


def readings_of(services: Services, run_id: str, fact_id: str) -> Any:
    """The only run of a task, read from the evidence that was kept of it."""
    with services.workspace.read() as connection:
        (line,) = [line for line in evidence.list_run_evidence(connection, run_id) if line.fact_id == fact_id]
        output = evidence.get_output(connection, line)
    (run,) = read(readers()[fact_id], CommandOutput(output.stdout)).runs
    return run


def test_that_a_low_rate_of_a_simulated_node_is_measured_twice_and_then_fails_with_its_cause(tmp_path: Path) -> None:
    with DemoServer({"capped": demo_nodes()["capped"]}, pace=0) as demo:
        services = open_services(tmp_path / "d.db", fingerprints=(demo.host_key("capped").fingerprint,))
        try:
            node = node_of(services.workspace, str(demo.address("capped")), str(demo.client_key_path))
            request = Request({"gpu.model": "nvidia-h100-sxm5-80gb"}, only=("perf.bf16", "perf.soak"), seconds=5)
            outcome = services.verification.run(node, request, CancelToken())
        finally:
            services.close()
    best, held, soak = outcome.findings
    assert (best.verdict, held.verdict, soak.verdict) == (Verdict.FAIL, Verdict.FAIL, Verdict.PASS)
    assert "capped at 500 W (default 700 W)" in best.reason.en and "功耗上限被设为 500 W（默认 700 W）" in best.reason.zh
