"""Is a chip that gets another number while nobody watches still the same curve for the next program?"""

from __future__ import annotations

from pathlib import Path

from gpulease_gui.store.card_names import get_names, keep_names
from tests.unit.test_telemetry import npus

from .test_watch_scripted import Scripted

HEAT = "npu.temperature_c"
Chips = tuple[tuple[int, str, str], ...]


def watched(folder: Path, from_s: int, chips: Chips) -> dict[str, list[float]]:
    """A program of its own watches for twelve seconds; then, of each chip, the different degrees that are stored, as they came."""
    node = Scripted(folder)
    node.at = from_s
    node.watch._recall()
    for node.at in range(from_s, from_s + 12):
        node.say("npu", npus(*chips))
    stored = node.end()
    node.services.close()
    return {subject: list(dict.fromkeys(v for v in told.values() if v is not None)) for (metric, subject), told in stored.items() if metric == HEAT}


def test_that_chips_that_were_renumbered_between_two_programs_keep_their_curves(tmp_path: Path) -> None:
    first = ((0, "0000:9D:00.0", "40"), (1, "0000:C1:00.0", "50"), (2, "0000:D1:00.0", "60"))
    assert watched(tmp_path, 0, first) == {"0/0": [40], "1/0": [50], "2/0": [60]}
    found = watched(tmp_path, 100, ((0, "0000:C1:00.0", "51"), (1, "0000:D1:00.0", "61")))
    assert found == {"0/0": [40], "1/0": [50, 51], "2/0": [60, 61]}, "0 is gone, and 1 and 2 are called 0 and 1 by the node"


def test_that_a_chip_that_was_replaced_in_its_place_goes_on_and_one_elsewhere_takes_nobodys_name(tmp_path: Path) -> None:
    assert watched(tmp_path, 0, ((0, "0000:9D:00.0", "40"), (1, "0000:C1:00.0", "50"))) == {"0/0": [40], "1/0": [50]}
    found = watched(tmp_path, 100, ((0, "0000:9D:00.0", "41"), (1, "0000:E1:00.0", "70")))
    assert found == {"0/0": [40, 41], "1/0": [50], "1@0000:E1:00.0/0": [70]}
    found = watched(tmp_path, 200, ((0, "0000:E1:00.0", "71"), (1, "0000:C1:00.0", "52"), (2, "0000:9D:00.0", "42")))
    assert found == {"0/0": [40, 41, 42], "1/0": [50, 52], "1@0000:E1:00.0/0": [70, 71]}


def test_that_names_are_bounded_plain_and_stay_with_the_first(tmp_path: Path) -> None:
    node = Scripted(tmp_path)
    workspace = node.services.workspace
    told = {"npu": {"0000:C1:00.0": "0/0", "x\ty": "1/0", "": "2/0", "y" * 200: "3/0", "0000:D1:00.0": "4\n/0"}}
    workspace.submit(lambda db: keep_names(db, "scripted", told)).result()
    workspace.submit(lambda db: keep_names(db, "scripted", {"npu": {"0000:C1:00.0": "7/0", "0000:E1:00.0": "5/0"}})).result()
    workspace.submit(lambda db: keep_names(db, "scripted", {"many": {str(n): str(n) for n in range(5000)}})).result()
    with workspace.read() as connection:
        found = get_names(connection, "scripted")
        assert found["npu"] == {"0000:C1:00.0": "0/0", "0000:E1:00.0": "5/0"} and sum(map(len, found.values())) <= 1024
        assert get_names(connection, "another") == {}
    node.services.close()
