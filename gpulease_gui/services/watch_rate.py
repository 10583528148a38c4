"""How often is each node read while it is watched?"""

from __future__ import annotations

from concurrent.futures import Future

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.store.doors import Database, Reader
from gpulease_gui.store.settings import get_setting, save_setting
from gpulease_gui.store.workspace import Workspace

LEAST_HZ, MOST_HZ, USUAL_HZ = 0.2, 10.0, 1.0
_RATES = "watch.rates"


def parse_rate(words: str) -> float:
    """Samples a second, from LEAST_HZ to MOST_HZ. Raises UsageError."""
    try:
        rate_hz = float(words.strip())
    except ValueError as error:
        raise _refused(words) from error
    if not LEAST_HZ <= rate_hz <= MOST_HZ:
        raise _refused(words)
    return rate_hz


def _refused(words: str) -> UsageError:
    return UsageError(Text(f"{words.strip()[:20]!r} is no rate at which a node can be read", f"{words.strip()[:20]!r} 不是可用的采样频率"), next_step=Text(f"{LEAST_HZ:g} to {MOST_HZ:g} samples a second", f"每秒 {LEAST_HZ:g} 至 {MOST_HZ:g} 次"))


def get_rates(connection: Reader) -> dict[str, float]:
    """Samples a second by node id, of those that are not read USUAL_HZ; what was edited by hand into something else counts as not set."""
    found: dict[str, float] = {}
    for line in get_setting(connection, _RATES, "").splitlines():
        node_id, _, words = line.partition("\t")
        try:
            found[node_id] = parse_rate(words)
        except UsageError:
            continue
    return found


def save_rate(db: Database, node_id: str, rate_hz: float) -> None:
    """Keep how often a node is read."""
    rates = {**get_rates(db.conn), node_id: rate_hz}
    save_setting(db, _RATES, "\n".join(f"{id_}\t{hz:g}" for id_, hz in sorted(rates.items()) if hz != USUAL_HZ))


class WatchRates:
    """What was chosen, at hand where no database may be asked. One thread changes it, others look."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        with workspace.read() as connection:
            self._hz = get_rates(connection)

    def hz(self, node_id: str) -> float:
        """Samples a second of a node that is watched from now on."""
        return self._hz.get(node_id, USUAL_HZ)

    def keep(self, node_id: str, rate_hz: float) -> Future[None]:
        """Choose it; done when it is saved."""
        self._hz = {**self._hz, node_id: rate_hz}
        return self._workspace.submit(lambda db: save_rate(db, node_id, rate_hz))
