"""When does a run's own end say more than its output?"""

from __future__ import annotations

import pytest

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.facts.fact import read, readers

PORT = b"CA 'mlx5_4'\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n\t\tRate: 200\n\t\tLink layer: InfiniBand\n"
REFUSED = b"ibpanic: stat of IB device 'mlx5_5' failed: Permission denied\n"


def test_that_what_was_read_beside_a_refusal_is_kept() -> None:
    reading = read(readers()["ibstat"], CommandOutput(PORT, REFUSED, exit_code=255))
    assert [port.rate_gbit_s for _, port in reading.ports] == [200.0]


def test_that_a_refusal_alone_is_denied_in_its_own_words() -> None:
    with pytest.raises(Unreadable, match="Permission denied") as refused:
        read(readers()["ibstat"], CommandOutput(b"", b"ibwarn: no umad\n" + REFUSED, exit_code=255))
    assert refused.value.code == Reason.DENIED


def test_that_a_tool_whose_exit_code_is_bad_is_denied_whatever_it_printed() -> None:
    with pytest.raises(Unreadable) as refused:
        read(readers()["lspci"], CommandOutput(b"01:00.0 3D controller: NVIDIA\n", b"lspci: permission denied\n", exit_code=1))
    assert refused.value.code == Reason.DENIED

