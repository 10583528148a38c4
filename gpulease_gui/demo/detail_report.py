"""What do the finer shell facts find on a simulated node?"""

from __future__ import annotations

from gpulease_gui.demo.host_report import keyed
from gpulease_gui.demo.machine import Machine

_CAPABILITY = {"Hopper": "9.0", "Ampere": "8.0"}


def edac(machine: Machine) -> str:
    """Two memory controllers for each socket without an error."""
    pairs = [("edac", "yes")]
    for n in range(machine.host.sockets * 2):
        pairs += [("controller", f"mc{n}"), ("mc_name", "i10nm_edac"), ("ce_count", "0"), ("ue_count", "0")]
    return keyed(pairs)


def smi_extra(machine: Machine) -> str:
    """The columns that no XML report has; the card that can't repair itself has an intact inforom all the same."""
    rows = [
        ("row", f"{card.index}, {card.uuid}, {_CAPABILITY[card.board.architecture]}, valid") for card in machine.gpus
    ]
    return keyed([("columns", "index,uuid,compute_cap,inforom.checksum_validation"), ("smi_code", "0"), *rows])
