"""Does an output of NVIDIA's tools that breaks off at any byte ever say more than the whole one, or pass what failed?"""

from __future__ import annotations

import pytest

from . import mutations
from .test_smi_parsers import KINDS

MOST_CUTS = 2000 if mutations.THOROUGH else 100  # of one output
MOST_JUDGED = 1500 if mutations.THOROUGH else 250  # over all cases of the checks that read the kind

# What may differ in a head of a text, and why that is no invention. Every other key must be the whole's or missing.
_FEWER = "a count of what stands there: a head holds less"
_LAST = "the last or best of the rows shown: a head has another one"
_MARKS = "says that the text is cut, or quotes the line that breaks off"
MAY_DIFFER: dict[str, dict[str, str]] = {
    "smi_xml": {"gpus": _FEWER},
    "smi_q": {
        "gpu_records": _FEWER,
        "process_count": "-q has no end mark: a list that breaks off between two lines looks shorter",
        "power_draw_w": "the average stands in for an instantaneous draw that is printed below it",
    },
    "smi_table": {"gpus": _FEWER, "process_count": _FEWER},
    "smi_csv": {"rows": _FEWER},
    "smi_list": {"gpus": _FEWER, "mig_devices": _FEWER},
    "smi_error": {"state": "a sentence that breaks off names the failure less closely"},
    "topo": {
        "gpus": _FEWER,
        "gpu_rows": _FEWER,
        "gpu_pairs_seen": _FEWER,
        "gpu_pair_link_counts": _FEWER,
        "gpu_columns": "a head of a p2p matrix without a word in it looks like one of links, with all columns there",
        "nic_columns": "as gpu_columns",
        "gpu_pairs_total": "as gpu_columns",
        "best_nic_link_per_gpu": "as gpu_columns, and empty",
        "closest_nics_per_gpu": "as gpu_columns, and empty",
        "cpu_affinity": "as gpu_columns, and empty",
        "numa_affinity": "as gpu_columns, and empty",
    },
    "nvlink": {
        "gpus": _FEWER, "links_listed": _FEWER, "links_active": _FEWER, "c2c_links": _FEWER, "cut_off": _MARKS,
        "messages": _MARKS,
    },
    "nvlink_errors": {"gpus": _FEWER, "counters": _FEWER, "cut_off": _MARKS, "messages": _MARKS},
    "mig": {"count": _FEWER},
    "dmon": {"samples": _FEWER, "last_sample": _LAST},
    "pmon": {"rows": _FEWER, "idle_rows": _FEWER},
    "nvbandwidth": {"ran": _FEWER, "failed": "no error is shown yet", "unfinished": "a test is still running there"},
    "nccl_tests": {
        "rows": _FEWER, "ranks": _FEWER, "hosts": _FEWER, "wrong_total": _FEWER, "finished": _MARKS,
        "last_size_bytes": _LAST, "last_row_out_of_place_busbw_gb_per_s": _LAST,
        "last_row_in_place_busbw_gb_per_s": _LAST, "max_busbw_gb_per_s": _LAST,
    },
}  # fmt: skip
# With columns told apart by p2p alone, a head of such a matrix is compared without these keys only.
ONLY_P2P = (
    "best_nic_link_per_gpu",
    "closest_nics_per_gpu",
    "cpu_affinity",
    "numa_affinity",
    "gpu_columns",
    "nic_columns",
)


@pytest.mark.parametrize("kind", KINDS)
def test_that_an_output_cut_at_any_byte_invents_nothing(kind: str) -> None:
    for raw in mutations.whole_seeds(kind):
        differ = set(MAY_DIFFER.get(kind, ()))
        if kind == "topo" and b"OK" not in raw:
            differ -= set(ONLY_P2P)
        assert mutations.inventions_of_cuts(kind, raw, MOST_CUTS, differ) == []


@pytest.mark.parametrize("kind", KINDS)
def test_that_no_cut_turns_a_fail_into_a_pass(kind: str) -> None:
    assert mutations.passes_by_a_cut(kind, MOST_JUDGED) == []
