"""Which lines of a public price list can offers be held against?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from gpulease_gui.catalog.gpus import GpuCatalogue
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.offer_facts import MarketPrice, PriceMode
from gpulease_gui.economics.quote_line import model_word
from gpulease_gui.economics.rounding import half_up
from gpulease_gui.store.exchange.sheet import Sheet, cell_text

# The headings of the public lists in CSV form, in any case of letters.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "gpu": ("acceleratorname", "gpu_name", "gpu", "gpu_model", "accelerator", "model"),
    "count": ("acceleratorcount", "gpu_count", "gpus", "count", "num_gpus"),
    "price": ("price", "on_demand", "ondemandprice", "on_demand_price", "hourly_price", "price_per_hour"),
    "spot_price": ("spotprice", "spot_price"),
    "spot": ("spot", "is_spot", "interruptible"),
    "memory": ("gpu_memory", "gpumemory", "gpu_memory_gb"),
    "currency": ("currency", "ccy"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MarketReading:
    """The prices of a list; equal ones (of several regions) count once. `unknown` are names that no product bears.

    `without_gpu` are lines of machines without a GPU, `bad` the addresses of lines whose figures can't be read.
    """

    prices: tuple[MarketPrice, ...]
    lines: int
    unknown: tuple[tuple[str, int], ...] = ()
    without_gpu: int = 0
    bad: tuple[str, ...] = ()


def read_market(sheet: Sheet, gpus: GpuCatalogue, source: str, day: date, currency: str = "USD") -> MarketReading:
    """The lines of a public price list as prices per GPU-hour. `source` and `day` are kept with each of them.

    A line's price is that of the whole machine and hour; it is divided by its GPUs. Raises UsageError when the headings
    are not those of a price list.
    """
    places = _places(sheet)
    found: dict[tuple[str, Decimal, str, PriceMode], MarketPrice] = {}
    words: dict[str, str | None] = {}
    unknown: Counter[str] = Counter()
    bad: list[str] = []
    without = 0
    for row in range(1, len(sheet.rows)):
        said = {name: cell_text(sheet.cell(row, column)) for name, column in places.items()}
        name = said["gpu"].strip()
        if not name:
            without += 1
            continue
        if name not in words:
            words[name] = _model(name, said.get("memory", ""), gpus)
        model = words[name]
        if model is None:
            unknown[name] += 1
            continue
        try:
            for price, mode in _prices(said):
                code = said.get("currency") or currency
                found.setdefault((model, price, code, mode), MarketPrice(model, price, code, mode, source, day))
        except (InvalidOperation, ValueError):
            bad.append(sheet.address(row, places["price"]))
    return MarketReading(tuple(found.values()), max(len(sheet.rows) - 1, 0), tuple(unknown.most_common()), without, tuple(bad))


def _places(sheet: Sheet) -> dict[str, int]:
    headings = [cell_text(cell).strip().casefold() for cell in (sheet.rows[0] if sheet.rows else ())]
    places = {
        name: next(headings.index(word) for word in known if word in headings)
        for name, known in _COLUMNS.items() if any(word in headings for word in known)
    }  # fmt: skip
    missing = [name for name in ("gpu", "count", "price") if name not in places]
    if missing:
        raise UsageError(
            Text(f"{sheet.name} is no price list: it has no column for {', '.join(missing)}", f"{sheet.name} 不是价目表：缺少 {', '.join(missing)} 列"), Text(f"its columns are {', '.join(headings[:12]) or 'none'}", f"其列为 {', '.join(headings[:12]) or '无'}"),
            Text("the list needs columns such as AcceleratorName, AcceleratorCount, Price", "价目表需要 AcceleratorName、AcceleratorCount、Price 等列"),
        )  # fmt: skip
    return places


def _model(name: str, memory: str, gpus: GpuCatalogue) -> str | None:
    """Names of lists run words together: RTX4090, A100-80GB, H100SXM."""
    spaced = name.replace("_", " ").replace("-", " ")
    tries = (f"{name} {memory.split('.')[0]}GB",) if memory else ()
    for word in (*tries, name, spaced, name.upper().replace("RTX", "RTX ").replace("SXM", " SXM").replace("PCIE", " PCIE")):
        if (found := model_word(word.strip(), gpus)) is not None:
            return found
    # Several products bear the name: prices are held against its family.
    family = spaced.split(" ")[0]
    return family if gpus.of_family(family) else None


def _prices(said: Mapping[str, str]) -> list[tuple[Decimal, PriceMode]]:
    count = Decimal(said["count"])
    if count <= 0 or not count.is_finite():
        raise ValueError("no GPUs")
    is_spot = said.get("spot", "").casefold() in ("true", "1", "yes")
    pairs = [(said["price"], PriceMode.SPOT if is_spot else PriceMode.ON_DEMAND), (said.get("spot_price", ""), PriceMode.SPOT)]
    found = []
    for words, mode in pairs:
        price = Decimal(words) if words.strip() else Decimal(0)
        if not price.is_finite() or price < 0:
            raise ValueError("no price")
        # Lists write 0 for machines that are not sold this way.
        if price:
            found.append((half_up(Fraction(price) / Fraction(count), 6).normalize(), mode))
    return found
