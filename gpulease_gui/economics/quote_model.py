"""Which product does a supplier mean by the name of a card, and how far does the name say it?"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gpulease_gui.catalog.gpus import FormClass, GpuCatalogue, GpuModel
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.economics.quote_words import plain


@dataclass(frozen=True, slots=True)
class ModelReading:
    """What a name says: `word` is an id, or a family whose `candidates` it leaves open; None = no product is chosen.

    `memory_gb`, `form` and `count` are what stands beside the name ("H100 SXM 80G*8"). `doubt` says why the name can't
    be taken as it stands; then a person chooses among `candidates`.
    """

    word: str | None
    candidates: tuple[GpuModel, ...] = ()
    memory_gb: int | None = None
    form: FormClass | None = None
    count: int | None = None
    doubt: Text | None = None
    family: tuple[GpuModel, ...] = ()

    @property
    def is_product(self) -> bool:
        """Whether the name says one product."""
        return self.word is not None and not self.candidates


MOST_CHARACTERS = 120
_COUNT_BEFORE = re.compile(r"^(\d{1,2}) ?[x*](?![a-z]?\d{0,2}$)\s?(?=\D|\d{2,})")
_COUNT_AFTER = re.compile(r"[ ,(（]?(?<!-)[x*] ?(\d{1,2})(?:卡|张| ?gpus?| ?cards?)?\)?$|(?<![a-z0-9])(\d{1,2}) ?(?:卡|张|gpus?\b|cards?\b)")
_COUNT_WORDS = (("单卡", 1), ("双卡", 2), ("两卡", 2), ("四卡", 4), ("八卡", 8))
_MEMORY = re.compile(r"(?:(?<![a-z0-9])(\d{1,2}) ?[x*] ?)?(?<![a-z0-9.])(\d{2,3}) ?g(?:i?b)?(?![a-z0-9])")
_PCIE = re.compile(r"(?<!\bx)pci ?-?e(?: ?(?:gen ?)?[345](?:\.0)?(?![0-9]))?(?: ?x ?16)?")
_FORMS: tuple[tuple[FormClass, re.Pattern[str]], ...] = (
    (FormClass.SXM, re.compile(r"sxm ?[2-6]?(?![0-9])|\bhgx\b|\bdgx\b")), (FormClass.PCIE, _PCIE), (FormClass.NVL, re.compile(r"nvl(?![a-z0-9])")),
    (FormClass.OAM, re.compile(r"\boam\b")),
)  # fmt: skip
# Words beside a name that change nothing of the product.
_PLAIN_WORDS = frozenset(
    "nvidia tesla geforce quadro amd instinct huawei ascend nvlink nvswitch nv gpu gpus card cards server node host bare metal baremetal tensor core hbm2 "
    "hbm2e hbm3 hbm3e gddr6 gddr6x gddr7 ecc ai hopper ampere lovelace ada blackwell generation graphics accelerator vram memory cluster with per "
    "new x86 edition hgx dgx pod ib roce gb g whole".split()
)  # fmt: skip
_RACK = re.compile(r"\bnvl ?\d+\b")
_CJK = re.compile(r"[^\x00-\x7f]+")
_MODIFIED = re.compile(r"魔改|改装|改版|改卡|扩容|涡轮改|改$|双倍显存|\bmod(?:ded|ified)?\b")
_USED = re.compile(r"工程版|工程样|\bes\b|\bqs\b|拆机|矿卡")
_SERIES = ("geforce", "quadro", "tesla", "rtx", "gtx", "ascend", "instinct", "nvidia", "dcu", "mtt", "metax", "biren", "atlas")
_ALSO = {
    "rtxpro6000": "RTX PRO 6000 Blackwell", "pro6000": "RTX PRO 6000 Blackwell", "rtx6000pro": "RTX PRO 6000 Blackwell", "6000pro": "RTX PRO 6000 Blackwell",
    "rtx5880": "RTX 5880 Ada", "5880": "RTX 5880 Ada", "h20e": "H20-3e", "h203e": "H20-3e", "birentech106": "Biren106",
}  # fmt: skip
# Memory that makes a family another one in the words of the trade.
_BY_MEMORY = {("H20", 141): "H20-3e"}
_LONGEST_NAME = 4


def read_model(words: str, gpus: GpuCatalogue) -> ModelReading | None:
    """What `words` say of a card; None when they name none. Never a product that they leave open: "H100 80G" is a family."""
    text = plain(words)[:MOST_CHARACTERS].casefold()
    if not re.search(r"\w", text):
        return None
    if text in gpus.models:
        return ModelReading(text)
    exact = _exact(text, gpus)
    if exact is not None:
        return ModelReading(exact.id)
    count, memory, form, rest = _beside(text)
    found = _family_in(_tokens(rest), gpus)
    if found is None:
        return None
    family, left = found
    reading = ModelReading(None, (), memory, form, count, None, family)
    if not family[0].genuine:
        return replace(reading, candidates=family, doubt=Text("no vendor sells a card under this name", "没有厂商以此名称销售该卡"))
    altered = _MODIFIED.search(text) or _USED.search(text)
    if altered:
        return _doubtful(reading, family, Text(f"{altered[0]!r}: altered cards are never chosen by name", f"“{altered[0]}”：改装卡或非零售卡不会按名称选定"), gpus)
    chosen, strange = _by_variant(family, left)
    if strange:
        return _doubtful(reading, chosen, Text(f"{strange[0]!r} is no known part of the name", f"型号中的“{strange[0]}”无法识别"), gpus)
    return settled(replace(reading, family=chosen), gpus)


def near(words: str, gpus: GpuCatalogue) -> tuple[GpuModel, ...]:
    """The products whose names look like `words`, for a person to choose from."""
    families = {name: m.family for m in gpus.models.values() if m.genuine for name in _short(m.family)}
    tokens = [token for token in _tokens(plain(words)[:MOST_CHARACTERS].casefold()) if token not in _PLAIN_WORDS]
    close = [name for token in tokens[:4] if len(token) > 2 for name in difflib.get_close_matches(token, families, n=2, cutoff=0.7)]
    return tuple(m for family in dict.fromkeys(families[name] for name in close[:3]) for m in gpus.of_family(family))[:8]


def settled(reading: ModelReading, gpus: GpuCatalogue, memory_gb: float | None = None, form: str | None = None) -> ModelReading:
    """The reading with what other cells of its row say of memory and form factor."""
    memory = reading.memory_gb if reading.memory_gb is not None else memory_gb
    wanted = str(reading.form) if reading.form is not None else form
    if reading.doubt is not None or not reading.family:
        return reading
    moved = _BY_MEMORY.get((reading.family[0].family, int(memory))) if memory else None
    family = gpus.of_family(moved) if moved else reading.family
    fits = tuple(m for m in family if (memory is None or memory in m.listed("memory_gb_marketing")) and (wanted is None or m.form_class in (None, wanted)))
    if len(fits) == 1 and (moved or _says_enough(fits[0], family, gpus)):
        return replace(reading, word=fits[0].id, candidates=())
    if fits:
        return replace(reading, word=reading.family[0].family, candidates=fits)
    return _no_fit(reading, memory, wanted, gpus)


def _says_enough(model: GpuModel, family: Sequence[GpuModel], gpus: GpuCatalogue) -> bool:
    """The old name 910B belongs to another chip, too; then one product of the family is not the only one."""
    others = [m for m in gpus.models.values() if m not in family and m.genuine and family[0].family in m.tool_names]
    return not any(m.memory_gb_marketing == model.memory_gb_marketing for m in others)


def _no_fit(reading: ModelReading, memory: float | None, form: str | None, gpus: GpuCatalogue) -> ModelReading:
    said = " ".join(part for part in (f"{number_text(memory)} GB" if memory else "", form or "") if part)
    name = reading.family[0].family
    altered = tuple(m for m in gpus.models.values() if not m.genuine and m.family == name and memory in m.listed("memory_gb_marketing"))
    if altered:
        return replace(
            reading, word=name, candidates=altered,
            doubt=Text(f"no vendor sells a {name} with {said}; altered cards have it and are never chosen by name",
                       f"厂商未销售 {said} 的 {name}；改装卡有此显存，不会按名称选定"),
        )  # fmt: skip
    return replace(reading, word=name, candidates=reading.family,
                   doubt=Text(f"no known {name} has {said}", f"目录中没有 {said} 的 {name}"))  # fmt: skip


def _doubtful(reading: ModelReading, candidates: Sequence[GpuModel], why: Text, gpus: GpuCatalogue) -> ModelReading:
    name = candidates[0].family if candidates else ""
    altered = tuple(m for m in gpus.models.values() if not m.genuine and m.family == name)
    return replace(reading, candidates=(*candidates, *(m for m in altered if m not in candidates)), doubt=why)


def _exact(text: str, gpus: GpuCatalogue) -> GpuModel | None:
    """A name as tools print it or as the catalogue spells it, which says one product; a family says none."""
    if gpus.of_family(text) or len(text.split(" ")) + text.count("-") < 2:
        return None
    named = [m for m in gpus.models.values() if any(name.casefold() == text for name in (m.name, *m.tool_names))]
    # nvidia-smi prints "NVIDIA H100" for several boards, and suppliers write it for all of them.
    in_family = bool(named) and bool(gpus.of_family(re.sub(r"^nvidia ", "", text)))
    return named[0] if len(named) == 1 and named[0].genuine and not in_family else None


def _beside(text: str) -> tuple[int | None, int | None, FormClass | None, str]:
    """Count, memory and form factor that stand beside the name, and the text without them."""
    text = _RACK.sub(" ", text)
    text = re.sub(r"(?<=[0-9a-z])(?=sxm|pcie|oam\b|nvl\b)", " ", text)
    form = next((form for form, pattern in _FORMS if pattern.search(text)), None)
    for _, pattern in _FORMS:
        text = pattern.sub(" ", text)
    count: int | None = None
    sizes = list(_MEMORY.finditer(text))
    memory = int(sizes[0][2]) if sizes else None
    if sizes:
        count = int(sizes[0][1]) if sizes[0][1] else None
        text = text[: sizes[0].start()] + " " + text[sizes[0].end() :]
    text = text.strip(" -_/,，;")
    for pattern in (_COUNT_BEFORE, _COUNT_AFTER):
        hit = pattern.search(text)
        if hit:
            count = int(next(group for group in hit.groups() if group))
            text = (text[: hit.start()] + " " + text[hit.end() :]).strip()
    for word, number in _COUNT_WORDS:
        if word in text:
            count, text = number, text.replace(word, " ")
    return count, memory, form, text


def _tokens(text: str) -> list[str]:
    """The words in letters and digits; the maker's name, which tools put before boards of several forms, says nothing."""
    return [word for word in re.findall(r"[a-z0-9]+", _CJK.sub(" ", text)) if word != "nvidia"]


def _family_in(tokens: list[str], gpus: GpuCatalogue) -> tuple[tuple[GpuModel, ...], list[str]] | None:
    """The products of the longest run of tokens that is a name, and the other tokens."""
    for size in range(min(_LONGEST_NAME, len(tokens)), 0, -1):
        for start in range(len(tokens) - size + 1):
            run = tokens[start : start + size]
            # "H20 0" is no H200.
            if any(a[-1].isdigit() and b[0].isdigit() for a, b in itertools.pairwise(run)):
                continue
            found = _called("".join(run), gpus)
            if found:
                return found, [*tokens[:start], *tokens[start + size :]]
    return None


def _called(name: str, gpus: GpuCatalogue) -> tuple[GpuModel, ...]:
    family = _ALSO.get(name)
    if family:
        return gpus.of_family(family)
    if name.isdigit() and len(name) != 4:
        return ()
    families, tools = _index(tuple(gpus.models.values()))
    hits = families.get(name) or tools.get(name, ())
    return tuple(m for m in hits if m.genuine) or hits


_Index = dict[str, tuple[GpuModel, ...]]


@lru_cache(maxsize=4)
def _index(models: tuple[GpuModel, ...]) -> tuple[_Index, _Index]:
    """The products by the short forms of their families, and by those of the names that tools print."""
    families: _Index = {}
    tools: _Index = {}
    for model in models:
        for name in _short(model.family):
            families[name] = (*families.get(name, ()), model)
        for name in {short for tool in model.tool_names for short in _short(tool)}:
            tools[name] = (*tools.get(name, ()), model)
    return families, tools


def _short(name: str) -> set[str]:
    """A name without blanks, and the same without the brand before it: "rtx4090" and "4090"."""
    bare = re.sub(r"[^a-z0-9]", "", name.casefold())
    found, before = {bare}, ""
    while bare != before:
        before = bare
        bare = next((bare.removeprefix(word) for word in _SERIES if bare.startswith(word) and len(bare) > len(word) + 2), bare)
        found.add(bare)
    return found


def _by_variant(family: tuple[GpuModel, ...], left: Iterable[str]) -> tuple[tuple[GpuModel, ...], list[str]]:
    """The products whose full name holds the other words too, and the words that none of them holds."""
    strange: list[str] = []
    for token in left:
        fits = tuple(m for m in family if token in re.findall(r"[a-z0-9]+", m.name.casefold().replace("max-q", "maxq max q")))
        family = fits or family
        strange += [] if fits or token in _PLAIN_WORDS else [token]
    return family, strange
