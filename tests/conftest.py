"""Guards that every test lives under: no thread left behind, no unexpected log line."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from gpulease_gui.services.composition import Services

settings.register_profile("ci", deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("GPULEASE_HYPOTHESIS", "ci"))

SETTLE_S = 5.0
TORCH_VENV = Path(__file__).resolve().parent.parent / ".venv-torch"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "allows_log(text): this test provokes a log line that contains text")


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + SETTLE_S
    left = _left(before)
    while left and time.monotonic() < deadline:
        left[0].join(0.05)
        left = _left(before)
    assert not left, f"threads left running: {[thread.name for thread in left]}"


def _left(before: set[threading.Thread]) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread not in before and thread.is_alive()]


class _Loud(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name}: {record.getMessage()}")


@pytest.fixture(autouse=True)
def no_unexpected_log_line(request: pytest.FixtureRequest) -> Iterator[None]:
    handler, logger = _Loud(), logging.getLogger("gpulease_gui")
    logger.addHandler(handler)
    yield
    logger.removeHandler(handler)
    allowed = [str(mark.args[0]) for mark in request.node.iter_markers("allows_log")]
    surprising = [line for line in handler.lines if not any(text in line for text in allowed)]
    assert not surprising, f"unexpected log lines: {surprising}"


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Services]:
    """The program without a window, on the demo workspace as it is before anything was verified or watched."""
    from gpulease_gui.services.composition import open_services

    opened = open_services(tmp_path / "demo.gpulease.db", demo=True)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def torch_bin() -> Path:
    """The folder of a `python3` that has PyTorch, as on a rented node; skips where it could not be installed."""
    if not any(TORCH_VENV.glob("gpulease-*.stamp")):
        pytest.skip("there is no PyTorch to stand in for a node's: python3 packaging/dev.py test installs it")
    return TORCH_VENV / "bin"
