"""Which parts of a line from a chat are the model, the price, the network, the shortest term?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpulease_gui.catalog.gpus import GpuCatalogue
from gpulease_gui.economics.quote_model import ModelReading, read_model, settled
from gpulease_gui.economics.quote_words import plain


@dataclass(frozen=True, slots=True)
class Part:
    """The words of a line that say one field, at their place in the line (already `plain`)."""

    field: str
    words: str
    start: int


NOTE = "note"
MOST_CHARACTERS = 400
_NUM = r"\d[\d,]*(?:\.\d+)?"
_MONEY = r"(?:HK\$|US\$|[¥$€£]|RMB|CNY|USD|人民币)"
_PER = r"(?:\s?(?:(?:[/每]|per\s)\s?(?:个)?(?:[A-Za-z-]{1,8}|[卡张台机时天日月节点小时整服务器]{1,4})|一个?(?:月|天|小时)))"
_ABOUT = r"(?:(?:大约|约|低至|最低|从|不低于|不超过|[≥≤~]|about|from|up to)\s?)?"
_MORE = r"(?:\s?(?:起(?![租订步签售付])|左右|以上|以内|\+(?!\s?(?:税|vat|tax|\d))))?"
_SCALE = r"(?:万|[kwKW](?![A-Za-z]))"
_PRICE = re.compile(
    rf"(?:(?:单价|报价|价格|price)\s?[:：]?\s?)?{_ABOUT}(?:{_MONEY}\s?{_NUM}(?:\s?{_SCALE}?\s?[-~]\s?{_MONEY}?\s?{_NUM})?\s?{_SCALE}?\s?(?:元|块)?{_PER}{{0,3}}"
    rf"|{_NUM}(?:\s?{_SCALE}?\s?[-~]\s?{_NUM})?\s?{_SCALE}?\s?(?:元|块|美元|美金|刀|{_MONEY}|万){_PER}{{0,3}}|{_NUM}\s?{_SCALE}?\s?(?:{_PER}){{2,3}}){_MORE}",
    re.IGNORECASE,
)
_TIME = rf"(?:{_NUM}|一|半)\s?(?:个)?(?:小时|时|天|日|周|月|年|hours?|hrs?|h|days?|d|months?|years?)"
# Money that is not the price, and the least that is let: taken out before the price is looked for.
_BEFORE_PRICE: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("deposit", re.compile(rf"(?:押金|保证金|deposit)\s?[:：]?\s?(?:{_MONEY}?\s?{_NUM}\s?{_SCALE}?\s?(?:元|块)?|无|免)|(?:免|无|零)押金?", re.IGNORECASE)),
    ("min_gpus", re.compile(r"(?<![/每\d.])\d+\s?[卡张]\s?起[租订]?|(?:min(?:imum)?|at least)\s?\d+\s?gpus?", re.IGNORECASE)),
    ("min_nodes", re.compile(r"(?<![/每\d.])\d+\s?(?:台|节点)\s?起[租订]?", re.IGNORECASE)),
)  # fmt: skip
# The first pattern that fits takes its words, so the sure ones stand before the vague ones.
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("tax", r"(?:不含|未)(?:\d+(?:\.\d+)?%)?的?税(?:\s?\d+(?:\.\d+)?\s?%|\s?[,;]?\s?税[点率]\s?[:：]?\s?\d+(?:\.\d+)?\s?%?)?|含(?:\d+(?:\.\d+)?\s?%)?的?(?:增值)?(?:税|专票|普票)(?:\s?\d+(?:\.\d+)?\s?%)?"
                r"|税率?\s?[:：]?\s?\d+(?:\.\d+)?\s?%|(?:incl|excl)\w*\.?\s?(?:of\s)?(?:vat|tax)|tax (?:not )?included"),
        ("min_billed", rf"(?:起租|最短租?期?|最低租?期?|至少|起订|min(?:imum)?(?: term| rental)?)\s?[:：]?\s?{_TIME}|{_TIME}\s?(?:起租|起订|起)|minimum {_TIME}"),
        ("valid_until", r"(?:报价)?(?:有效期?|有效日期|截止|截至)\s?[:：]?\s?(?:至|到|截止)?\s?\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?(?:前|止|有效)?"
                        r"|valid (?:until|till|to|through)\s?:?\s?\d{4}[-/.]\d{1,2}[-/.]\d{1,2}"),
        ("whole", r"(?:只租|仅限?|限|按)?整机(?:起租|出租|租赁|包月|起)?|整台(?:起租|出租)|不(?:可)?拆[卖分租售零]|不单[卖租]|不零[售租]|whole[- ]?(?:node|machine|server)s? only|full[- ]node only"
                  r"|(?:支持|可)?单卡(?:可租|起租|出租|起)|可(?:单卡|拆卖|拆分|拆租|零租)|按[张卡](?:出?租|卖|计费|起租)|per[- ]gpu rental|single gpus? (?:ok|available|possible)"),
        ("granularity", r"按(?:秒|分钟|小时|天|月)计费|billed per (?:second|minute|hour|day)"),
        ("ram", rf"(?:内存|ram|memory)\s?[:：]?\s?{_NUM}\s?[GT]i?B?|{_NUM}\s?[GT]i?B?\s?(?:内存|ram|memory|DDR\d?)"),
        ("disk", rf"(?:nvme|ssd|硬盘|磁盘|存储|系统盘|数据盘|disk|storage)\s?[:：]?\s?(?:\d+\s?[*x]\s?)?{_NUM}\s?[GT]i?B?|(?:\d+\s?[*x]\s?)?{_NUM}\s?[GT]i?B?\s?(?:nvme|ssd|硬盘|磁盘|存储|disk|storage)"),
        ("network", rf"(?:ib|infiniband|roce|rdma|网络|网卡)\s?[:：]?\s?{_NUM}\s?G(?:bps|b/s)?\s?[*x]\s?\d{{1,2}}(?!\d)|(?:(?:ib|infiniband|roce|rdma|网络|带宽|内网|以太网|ethernet|网卡)\s?[:：]?\s?)?(?:\d+\s?[*x]\s?)?{_NUM}\s?[GMT](?:bps|Bps|b/s|bit/s|B/s)(?:\s?(?:ib|infiniband|roce|rdma|网络|带宽))?"
                    rf"|(?:ib|infiniband|roce|rdma|网络|带宽|内网|以太网|ethernet|网卡)\s?[:：]?\s?(?:\d+\s?[*x]\s?)?{_NUM}\s?[GMT]\b|(?:\d+\s?[*x]\s?)?{_NUM}\s?[GMT]\s?(?:ib|infiniband|roce|rdma|网络|带宽)"),
        ("sla", r"sla\s?[:：]?\s?\d+(?:\.\d+)?\s?%"),
        ("nodes", r"(?<![\d.])\d+\s?(?:台|个?节点|nodes?\b|servers?\b)"),
        ("gpus", r"(?<![\d.A-Za-z])(?:\d+|单|双|两|四|八)\s?(?:卡|张|gpus?\b|cards?\b)"),
        ("price", r"(?:价格|价)?(?:面议|电议|另议|待议|询价|电询|面谈)|\b(?:tbd|tbc|on request|call us|contact us)\b|免费|\bfree\b"),
        ("network", r"(?<![\d.*x])(?:\d+\s?[*x]\s?)?(?:10|25|40|50|100|200|400|800)\s?G(?![A-Za-z])"),
    )
)  # fmt: skip
_WORDS = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_TIMES_MODEL = re.compile(r"(?<![\d.])(\d{1,3})\s?[*x]\s?(?=[A-Za-z]+-?\d)", re.IGNORECASE)
_MODEL_TIMES = re.compile(r"\s?[*x]\s?(\d{1,3})(?![\d.]|\s?[GT])", re.IGNORECASE)
_MEMORY = re.compile(r"[ /-]?(\d{2,3}\s?Gi?B?)(?![A-Za-z0-9/])", re.IGNORECASE)
_LONGEST_MODEL = 5
_MAKER = re.compile(r"(?:昇腾|英伟达|华为|摩尔线程|沐曦|海光|寒武纪|昆仑芯|壁仞)\s?$")
_NOW = re.compile(r"现价|折后价?|优惠价|活动价")


def parts_of(line: str, gpus: GpuCatalogue) -> tuple[Part, ...]:
    """The fields that a line names, each with its words; what no field took is the note. Nothing is lost or guessed.

    Fields: gpu, memory, gpus (per node), nodes, min_gpus, min_nodes, price, deposit, tax, min_billed, valid_until, whole (node only), granularity, ram, disk,
    network, sla, note.
    """
    text = plain(line)[:MOST_CHARACTERS]
    left = text
    found: list[Part] = []
    for part in _model_parts(text, gpus):
        found.append(part)
        left = _blank(left, part)
    for field, pattern in (*_BEFORE_PRICE, ("price", _PRICE), *_FORMS):
        # "原价7万 现价5.8万元": the struck-out price stays in the note.
        now = _NOW.search(left) if field == "price" else None
        hit = pattern.search(left, now.end() if now else 0)
        if hit and hit[0].strip() and not any(part.field == field for part in found):
            found.append(Part(field, hit[0].strip(), hit.start()))
            left = left[: hit.start()] + "\0" * len(hit[0]) + left[hit.end() :]
    rest = " ".join(re.sub(r"[\0]+", " ", left).strip(" ,;|/，；。*").split())
    note = (Part(NOTE, rest, len(text)),) if re.search(r"\w", rest) else ()
    return (*sorted(found, key=lambda part: part.start), *note)


def _blank(text: str, part: Part) -> str:
    return text[: part.start] + "\0" * len(part.words) + text[part.start + len(part.words) :]


def _model_parts(text: str, gpus: GpuCatalogue) -> Iterator[Part]:
    """The longest words that name a product or a family, and a count multiplied with them."""
    times = _TIMES_MODEL.search(text)
    place = _model(text, gpus)
    if place is None:
        return
    start, end = place
    maker = _MAKER.search(text[:start])
    start = maker.start() if maker else start
    yield Part("gpu", text[start:end], start)
    memory = _MEMORY.match(text, end)
    if memory and _may_have(text[start:end], int(re.sub(r"\D", "", memory[1])), gpus):
        yield Part("memory", memory[1], memory.start(1))
    after = _MODEL_TIMES.match(text, end)
    if times and times.end() == start:
        yield Part("gpus", times[1], times.start(1))
    elif after:
        yield Part("gpus", after[0].strip(), after.start() + len(after[0]) - len(after[0].lstrip()))


def _model(text: str, gpus: GpuCatalogue) -> tuple[int, int] | None:
    words = list(_WORDS.finditer(text))
    for first, word in enumerate(words):
        if not _may_name(word[0], gpus):
            continue
        for last in range(min(len(words), first + _LONGEST_MODEL) - 1, first - 1, -1):
            if _together(text, words[first : last + 1]) and _clear(text[word.start() : words[last].end()], gpus):
                return word.start(), words[_shortest(text, words, first, last, gpus)].end()
    return None


def _shortest(text: str, words: Sequence[re.Match[str]], first: int, last: int, gpus: GpuCatalogue) -> int:
    """Words at the end that change nothing ("IB", "server") belong to what follows."""
    whole = _clear(text[words[first].start() : words[last].end()], gpus)
    while last > first and _clear(text[words[first].start() : words[last - 1].end()], gpus) == whole:
        last -= 1
    return last


def _together(text: str, words: Sequence[re.Match[str]]) -> bool:
    return all(text[a.end() : b.start()] in (" ", "-", "_", "/") for a, b in zip(words, words[1:], strict=False))


def _may_name(word: str, gpus: GpuCatalogue) -> bool:
    """Letters with digits, or a vendor's name before them; so that plain words and prices are not tried."""
    lower = word.lower()
    return lower in ("nvidia", "ascend", "amd", "tesla", "geforce", "rtx", "gtx", "昇腾") or (
        len(word) > 1 and any(c.isdigit() for c in word) and any(c.isalpha() for c in word)
    ) or bool(gpus.of_family(word)) or bool(re.fullmatch(r"[345]090|5880", word))  # fmt: skip


def _clear(words: str, gpus: GpuCatalogue) -> ModelReading | None:
    """The reading of words that name a product or a family and nothing else."""
    found = read_model(words, gpus)
    return found if found is not None and found.word is not None and found.doubt is None and found.count is None else None


def _may_have(model: str, memory_gb: int, gpus: GpuCatalogue) -> bool:
    """Whether "400G" behind a name may be its memory at all: that of a product, or of an altered card."""
    found = _clear(model, gpus)
    if found is None or found.memory_gb is not None:
        return False
    with_it = settled(found, gpus, memory_gb)
    return with_it.doubt is None or any(not product.genuine for product in with_it.candidates)


def model_word(words: str, gpus: GpuCatalogue) -> str | None:
    """What the term gpu.model takes for `words`: an id, or a family. None when they name neither, or not clearly."""
    found = read_model(words, gpus)
    return found.word if found is not None and found.doubt is None else None
