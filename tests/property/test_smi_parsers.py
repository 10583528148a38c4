"""Does every reader of NVIDIA's tools end in a reading or in Unreadable, fast and small, whatever it is given?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.facts import smi_xml

from . import mutations

KINDS = (
    "smi_xml", "smi_q", "smi_table", "smi_csv", "smi_list", "smi_error", "smi_extra", "topo", "nvlink", "nvlink_errors",
    "mig", "dmon", "pmon", "dcgmi", "nvbandwidth", "nccl_tests", "nvidia_proc",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@mutations.EVERY_READER
@given(data=st.data())
def test_that_a_damaged_output_is_read_or_refused(kind: str, data: st.DataObject) -> None:
    mutations.check_ends_well(kind, data.draw(mutations.damaged(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_that_a_mebibyte_costs_less_than_a_second_and_64_mib(kind: str) -> None:
    for raw in mutations.big(kind):
        mutations.check_costs_little(kind, raw)


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
DECLARATIONS = {
    "laughs": f'[<!ENTITY l0 "ha">{LAUGHS}]',
    "external": '[<!ENTITY x SYSTEM "file:///etc/hostname">]',
    "parameter": '[<!ENTITY % p SYSTEM "http://192.0.2.1/p"> %p;]',
    "unparsed": '[<!NOTATION n SYSTEM "n"><!ENTITY u SYSTEM "u" NDATA n>]',
    "attribute": '[<!ATTLIST gpu id CDATA "00000000:01:00.0">]',
}


@pytest.mark.parametrize("name", DECLARATIONS)
def test_that_an_xml_with_declarations_of_its_own_is_refused(name: str) -> None:
    used = {"laughs": "&l9;", "external": "&x;"}.get(name, "550.1")
    xml = f"<?xml version='1.0'?><!DOCTYPE nvidia_smi_log {DECLARATIONS[name]}><nvidia_smi_log><driver_version>{used}"
    with pytest.raises(Unreadable, match="declar") as refused:
        smi_xml.parse(CommandOutput((xml + "</driver_version></nvidia_smi_log>").encode()))
    assert refused.value.reading is None
