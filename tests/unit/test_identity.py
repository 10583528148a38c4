"""Is a card named by what its signs agree on, and never by one of them alone?"""

from __future__ import annotations

from dataclasses import replace
from itertools import product as every

import pytest

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.catalog.forms import form_votes, seen_form
from gpulease_gui.catalog.gpus import GpuCatalogue, GpuModel
from gpulease_gui.catalog.identity import Identity, Observed, Opinion, Voter, identify
from gpulease_gui.domain.finding import Basis, Verdict

CATALOGUE = load_catalogue()
H100 = Observed("10de:2330", "10de:16c1", "NVIDIA H100 80GB HBM3", 81559, 700.0, 700.0, 1980.0, 2619.0, 18)
PCIE = Observed("10de:2331", "10de:1626", "NVIDIA H100 PCIe", 81559, 350.0, 350.0, 1755.0, 1593.0, 12)
R4090 = Observed("10de:2684", "1043:88e2", "NVIDIA GeForce RTX 4090", 24564, 450.0, 600.0, 3105.0, 10501.0)


def of(seen: Observed, catalogue: Catalogue = CATALOGUE) -> Identity:
    return identify(catalogue.gpus, seen)


def own_signs(model: GpuModel) -> list[Observed]:
    """Every way in which a product shows itself by its own listed values."""
    parts = (model.pci_device_ids, model.pci_subsystem_ids, model.tool_names, model.memory_total_mib)
    return [
        Observed(device, board, name, mib, model.default_power_limit_w, None, model.max_sm_clock_mhz, model.memory_clock_mhz, model.nvlink_links)
        for device, board, name, mib in every(*(part or (None,) for part in parts))
    ]  # fmt: skip


# Products whose own values leave a question open, with the reason.
ONE_SIGN = {"biren-br100-64gb", "cambricon-mlu370-x8-48gb", "hygon-dcu-k100-64gb", "metax-c550-64gb", "nvidia-b100-sxm"}
FORM_OPEN = ONE_SIGN | {
    "nvidia-a100-sxm-64gb",  # no power limit is known: two signs of the form
    "nvidia-l20x-masked-h200",  # a label without PCI id
}


@pytest.mark.parametrize("id_", CATALOGUE.gpus.models)
def test_that_a_product_is_known_by_its_own_values(id_):
    model = CATALOGUE.gpus.models[id_]
    for seen in own_signs(model):
        found = of(seen)
        wanted = (Verdict.INCONCLUSIVE, "too_few_signs") if id_ in ONE_SIGN else (Verdict.PASS, "")
        assert found.product is not None and (found.product.id, found.status, found.reason_code) == (id_, *wanted)
        assert found.masked is not model.genuine


@pytest.mark.parametrize("id_", CATALOGUE.gpus.models)
def test_that_the_form_follows_from_a_products_own_values(id_):
    model = CATALOGUE.gpus.models[id_]
    for seen in own_signs(model):
        found = of(seen)
        form = seen_form(CATALOGUE.gpus, found, form_votes(CATALOGUE.gpus, seen, found))
        assert form == (None if id_ in FORM_OPEN else model.form_class)


def test_that_an_honest_h100_passes_as_reported_with_six_votes():
    found = of(H100)
    assert (found.product.id, found.status, found.basis) == ("nvidia-h100-sxm5-80gb", Verdict.PASS, Basis.REPORTED)
    assert [(v.voter, v.value) for v in found.agreeing()] == [
        (Voter.PCI_ID, "10de:2330"), (Voter.NAME, "NVIDIA H100 80GB HBM3"), (Voter.MEMORY, "81559 MiB"),
        (Voter.POWER, "700 W"), (Voter.CLOCKS, "2619 MHz"), (Voter.LINKS, "18"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"memory_total_mib": None}, Verdict.PASS, ""), ({"name": None}, Verdict.PASS, ""),
        ({"pci_device_id": None}, Verdict.PASS, ""), ({"name": None, "memory_total_mib": None}, Verdict.INCONCLUSIVE, "too_few_signs"),
        ({"pci_device_id": None, "name": None}, Verdict.INCONCLUSIVE, "unreadable"),
        ({"name": "NVIDIA H100 PCIe"}, Verdict.FAIL, "inconsistent"), ({"pci_device_id": "10de:2331"}, Verdict.FAIL, "inconsistent"),
        ({"memory_total_mib": 97871}, Verdict.INCONCLUSIVE, "contradicted"),
        ({"power_default_w": 350.0, "power_max_w": 350.0}, Verdict.INCONCLUSIVE, "contradicted"),
        ({"power_default_w": 350.0, "power_max_w": 350.0, "active_links": 8}, Verdict.FAIL, "contradicted"),
        ({"clock_max_memory_mhz": 1593.0}, Verdict.INCONCLUSIVE, "contradicted"), ({"active_links": 12}, Verdict.INCONCLUSIVE, "contradicted"),
        ({"active_links": 0}, Verdict.PASS, ""), ({"active_links": 17}, Verdict.PASS, ""), ({"power_default_w": 123.0}, Verdict.PASS, ""),
        ({"memory_total_mib": 50000}, Verdict.PASS, ""), ({"sm_count": 114}, Verdict.INCONCLUSIVE, "contradicted"),
        ({"pci_subsystem_id": "103c:9999"}, Verdict.PASS, ""), ({"pci_device_id": "10de:2333"}, Verdict.INCONCLUSIVE, "unlisted_id"),
        ({"name": "NVIDIA Q9"}, Verdict.PASS, ""), ({"name": "NVIDIA Q9", "pci_device_id": "10de:fff0"}, Verdict.INCONCLUSIVE, "unknown_card"),
    ],
)  # fmt: skip
def test_that_each_sign_weighs_what_it_should(change, status, code):
    found = of(replace(H100, **change))
    assert (found.status, found.reason_code) == (status, code), found.reason.en


def test_that_a_value_listed_nowhere_is_only_noted():
    assert of(replace(H100, active_links=17)).vote(Voter.LINKS).opinion is Opinion.UNLISTED


def test_that_a_disputed_figure_of_the_product_itself_contradicts_nothing():
    a100 = Observed("10de:20b2", "10de:147f", "NVIDIA A100-SXM4-80GB", 81920, 275.0, 275.0, 1410.0, 1593.0, 12)
    assert of(a100).status is Verdict.PASS


def test_that_a_driver_reserve_is_the_same_card():
    assert of(replace(H100, memory_total_mib=81200)).vote(Voter.MEMORY).opinion is Opinion.AGREES


def test_that_a_probed_sm_count_raises_the_basis():
    assert of(replace(H100, sm_count=132)).basis is Basis.MEASURED


@pytest.mark.parametrize(
    ("seen", "id_", "code"),
    [
        (replace(R4090, memory_total_mib=49140), "nvidia-rtx-4090-48gb-modified", ""),
        (Observed("10de:2685", None, "NVIDIA GeForce RTX 4090 D", 49140), "nvidia-rtx-4090-48gb-modified", ""),
        (Observed(None, None, "NVIDIA L20X", 143771), "nvidia-l20x-masked-h200", ""),
        (Observed("10de:2324", None, "NVIDIA H800", 143771), "nvidia-h800-sxm5-80gb", "masked_identity"),
    ],
)
def test_that_a_masked_card_is_called_masked(seen, id_, code):
    found = of(seen)
    assert (found.product.id, found.masked, found.reason_code) == (id_, True, code)


@pytest.mark.parametrize("mib", [24564, 23028, None])
def test_that_a_genuine_4090_is_not_called_masked(mib):
    found = of(replace(R4090, memory_total_mib=mib))
    assert (found.product.id, found.status, found.masked) == ("nvidia-rtx-4090-24gb", Verdict.PASS, False)


def test_that_memory_tells_cards_of_one_name_apart():
    plain = Observed(None, None, "NVIDIA H100", 95830)
    assert of(plain).product.id == "nvidia-h100-sxm5-94gb"
    assert of(replace(plain, memory_total_mib=None)).reason_code == "ambiguous"
    assert of(replace(plain, memory_total_mib=None)).family == "H100"


def test_that_a_pcie_card_votes_pcie_by_id_name_power_and_memory_clock():
    votes = form_votes(CATALOGUE.gpus, PCIE, of(PCIE))
    assert [(v.voter, v.value, str(v.form)) for v in votes] == [
        (Voter.PCI_ID, "10de:2331", "pcie"), (Voter.NAME, "NVIDIA H100 PCIe", "pcie"),
        (Voter.POWER, "350 W", "pcie"), (Voter.CLOCKS, "1593 MHz", "pcie"),
    ]  # fmt: skip


def test_that_two_signs_are_no_form_unless_the_family_has_one_only():
    few = replace(H100, power_default_w=None, power_max_w=None)
    assert seen_form(CATALOGUE.gpus, of(few), form_votes(CATALOGUE.gpus, few, of(few))) is None
    l40s = Observed("10de:26b9", None, "NVIDIA L40S", 46068)
    assert seen_form(CATALOGUE.gpus, of(l40s), form_votes(CATALOGUE.gpus, l40s, of(l40s))) == "pcie"


def test_that_the_board_tells_products_of_one_device_id_apart():
    h100 = CATALOGUE.gpus.models["nvidia-h100-sxm5-80gb"]
    sister = replace(h100, id="sister", tool_names=("NVIDIA H100 S",), pci_subsystem_ids=("10de:9999",), memory_total_mib=(81559,))
    both = GpuCatalogue.of([h100, sister])
    assert identify(both, Observed("10de:2330", "10de:9999", None, 81559)).product is sister
    assert identify(both, Observed("10de:2330", "10de:16c1", None, 81559)).product is h100
    assert identify(both, Observed("10de:2330", "10de:0001", None, 81559)).reason_code == "ambiguous"


def test_that_zero_links_and_an_unknown_figure_are_no_vote():
    assert of(replace(H100, active_links=0)).vote(Voter.LINKS) is None
    a10 = Observed("10de:2236", None, "NVIDIA A10", 23028, active_links=4)
    assert of(a10).vote(Voter.LINKS) is None


def test_that_a_disputed_figure_of_ones_own_counts_as_ones_own():
    # Data sheets give the H20 400 W, which is otherwise the figure of the H100 NVL.
    h20 = Observed("10de:2329", None, "NVIDIA H20", 97871, 400.0, 400.0)
    assert of(h20).vote(Voter.POWER).opinion is Opinion.AGREES
