"""Is a bandwidth such as "100G" written without bit or byte?"""

from __future__ import annotations

import re

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("bandwidth_without_unit", Text("Bandwidth without unit", "带宽未写单位"), FlagSeverity.SERIOUS, "network.gbit_s")
# "100GE", "100Gbps" and "12.5 GB/s" say what they mean; "100G", "100 G/s" do not.
_BARE = re.compile(r"\d\s*[KMGTkmgt](?![A-Za-z])")
_RATES = ("network.", "rdma.")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when the supplier's own words of a network term leave out the unit; they differ by a factor of 8."""
    for key, words in facts.words.items():
        if key.startswith(_RATES) and _BARE.search(words):
            said = words.strip()[:40]
            return Flagged(Text(f'"{said}" may be bits or bytes: a factor of 8', f"“{said}”没有写明是比特还是字节，相差 8 倍"))
    return None
