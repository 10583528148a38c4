"""The README's first command without a display: the whole journey, pictures of every page, two papers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from gpulease_gui.gui.pages import find_pages


@pytest.mark.timeout(300)  # eight nodes verified and fifty pictures: on busy cores more than the usual two minutes
def test_that_the_tour_verifies_every_demo_node_and_leaves_pictures_and_papers(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "gpulease_gui.gui.tour", str(tmp_path), "--watch", "3"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=280, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    for verdict in ("honest pass", "ascend pass", "pcie-as-sxm fail", "no-nvlink fail", "slow-net-a fail", "capped fail", "sick fail", "hostile fail"):
        assert verdict in said[0]
    pictures = [Path(line) for line in said[1:] if line.endswith(".png")]
    assert len(pictures) == 4 * (len(find_pages()) + 1)  # all nodes at once, too
    sizes = {(image.width(), image.height()) for image in map(QImage, map(str, pictures))}
    assert sizes == {(1440, 900)}
    papers = [Path(line) for line in said[1:] if line.endswith(".pdf")]
    assert [paper.read_bytes()[:5] for paper in papers] == [b"%PDF-", b"%PDF-"]
    assert all("slow-net-a" in paper.name for paper in papers)  # the node that was watched
    assert done.stderr == ""
