"""Which columns may a table of offers have, and by which words are they known?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.commercial import Field, FieldKind, HolderOf
from gpulease_gui.domain.term import Term
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.quote_words import plain


class Part(StrEnum):
    """What of an offer a column fills."""

    SUPPLIER = "supplier"
    QUOTE_NO = "quote_no"
    TITLE = "title"
    PRICE = "price"
    CURRENCY = "currency"
    UNIT = "unit"
    TAX = "tax"
    MODE = "mode"
    VALID_FROM = "valid_from"
    VALID_UNTIL = "valid_until"
    NOTE = "note"
    TERM = "term"
    FIELD = "field"


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that a column can be: `key` is stable and is what a remembered mapping holds."""

    key: str
    part: Part
    label: Text
    term: Term | None = None
    field: Field | None = None


@dataclass(frozen=True, slots=True)
class Targets:
    """All targets by key, and the words of headings that lead to them; `alone` are words that say it only as the whole heading."""

    by_key: Mapping[str, Target]
    by_word: Mapping[str, str]
    alone: Mapping[str, str] = field(default_factory=dict)

    def guess(self, heading: str) -> str:
        """The key that a heading leads to, "" for none: its whole words first, then the longest known word inside it."""
        return self._guess(heading)[0]

    def certainty(self, heading: str) -> int:
        """2: the whole heading is known, 1: a word in it is, 0: nothing."""
        return self._guess(heading)[1]

    def _guess(self, heading: str) -> tuple[str, int]:
        for form in _forms(heading):
            if form in self.by_word or form in self.alone:
                return self.by_word.get(form) or self.alone[form], 2
        priced = _priced(heading)
        if priced is not None:
            return priced, 1 if priced else 0
        for form in _forms(heading):
            inside = [word for word in self.by_word if word in form and _within(word, form)]
            if inside:
                return self.by_word[max(inside, key=len)], 1
        return "", 0


IGNORED = ""
_BRACKETS = re.compile(r"[(\[{（【].*?[)\]}）】]")
_LONGEST_HEADING = 200
_SPREAD = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")  # "单 价" is spread for the eye
_SIGNS = re.compile(r"[\s_\-:：/*.#]+")


def _forms(heading: str) -> tuple[str, ...]:
    """A heading as it may be known: as a key, whole, and without its brackets (which hold the unit)."""
    text = _SPREAD.sub("", plain(heading[:_LONGEST_HEADING])).casefold().strip(" :：*")
    bare = _BRACKETS.sub(" ", text)
    words = [text, *(" ".join(_SIGNS.sub(" ", form).split()) for form in (text, bare, bare.split(",")[0]))]
    return tuple(word for word in dict.fromkeys(words) if word)


def _within(word: str, heading: str) -> bool:
    """Short words say nothing inside longer ones, and English ones count whole only."""
    if not word.isascii():
        return len(word) > 1
    return len(word) > 3 and re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", heading) is not None


_MONEY = r"(?:价|费|price|cost|fee|rate)"
_INSIDE = re.compile(r"含|incl|excl|\bwith|\bno\b")
_PRICED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"(?:存储|硬盘|磁盘|storage|disk|ssd).*{_MONEY}"), "storage.price_gb_month"),
    (re.compile(rf"(?:下行|入流量|ingress|inbound|incoming|download).*{_MONEY}"), "traffic.in_price_gb"),
    (re.compile(rf"(?:流量|出网|egress|outbound|outgoing|traffic|data transfer).*{_MONEY}"), "traffic.out_price_gb"),
    (re.compile(r"押金|保证金|(?<![a-z])deposit"), "deposit.amount"),
    (re.compile(rf"(?:带宽|bandwidth).*{_MONEY}"), IGNORED),  # no term of an offer
)


def _priced(heading: str) -> str | None:
    """Of what a heading names the price, "" = of nothing that is kept; None = it names none. "单价(含存储)" is the price itself."""
    bare = _BRACKETS.sub(" ", plain(heading[:_LONGEST_HEADING]).casefold())
    if _INSIDE.search(bare):
        return None
    return next((key for pattern, key in _PRICED if pattern.search(bare)), None)


_PARTS: tuple[tuple[Part, Text, str], ...] = (
    (Part.SUPPLIER, Text("Supplier", "供应商"), "供应商|供应方|厂商|服务商|公司|supplier|vendor|provider|company"),
    (Part.QUOTE_NO, Text("Quote no.", "报价单号"), "报价单号|报价编号|单号|编号|方案编号|quote no|quote number|quote id|quote|offer no|offer id|ref|reference|sku"),
    (Part.TITLE, Text("Title", "名称"), "名称|方案|方案名称|产品|产品名称|套餐|实例规格|规格名称|配置名称|标题|title|name|product|plan|instance type|instancetype|offer|description"),
    (Part.PRICE, Text("Price", "单价"), "单价|价格|报价|租金|月租|费用|售价|金额|月租金|时租|卡时单价|整机月租|price|unit price|rate|cost|hourly price|monthly price|price per gpu hour|price per hour|rental"),
    (Part.CURRENCY, Text("Currency", "币种"), "币种|货币|currency|ccy"),
    (Part.UNIT, Text("Price per", "计价单位"), "计价单位|计费单位|单位|计价方式|price unit|unit|per|billing unit|pricing unit"),
    (Part.TAX, Text("Tax", "税"), "税|含税|是否含税|税率|发票税率|发票|税点|tax|vat|tax included|tax rate|invoice"),
    (Part.MODE, Text("Kind of price", "计价类型"), "付费方式|付费类型|租赁方式|计价类型|价格类型|billing mode|price mode|pricing model|mode|purchase option"),
    (Part.VALID_FROM, Text("Valid from", "生效日期"), "生效日期|起始日期|开始日期|valid from|from|effective date"),
    (Part.VALID_UNTIL, Text("Valid until", "报价有效期"), "报价有效期|有效期|有效期至|截止日期|失效日期|到期日|valid until|valid to|expires|expiry|expiration"),
    (Part.NOTE, Text("Note", "备注"), "备注|说明|其他|备注说明|note|notes|remark|remarks|comment|comments"),
)  # fmt: skip
_TERM_WORDS: Mapping[str, str] = {
    "gpu.model": "gpu|gpu型号|型号|显卡|显卡型号|卡型|卡型号|gpu卡|加速卡|算力卡|机型|gpu model|gpu type|model|accelerator|acceleratorname|accelerator name|card",
    "gpu.count": "卡数|单机卡数|gpu数|gpu数量|gpu卡数|数量|每台卡数|卡/台|gpus|gpu count|gpus per node|number of gpus|acceleratorcount|accelerator count|qty|gpu cards|number of cards|no of gpus|no of cards|gpus per server|cards per node",
    "gpu.memory_gb": "显存|单卡显存|gpu显存|显存大小|vram|gpu memory|gpu memory per card|memory per gpu",
    "gpu.form_factor": "封装|形态|接口|接口类型|封装形态|form factor|form",
    "gpu.interconnect": "互联|卡间互联|卡间互连|互连|nvlink|interconnect|gpu interconnect",
    "gpu.power_w": "功耗|tdp|单卡功耗|power|power limit",
    "ram_gb": "内存|主机内存|内存大小|ram|system memory|host memory|memory",
    "cpu.model": "cpu|cpu型号|处理器|processor|cpu model",
    "cpu.cores": "核数|cpu核数|vcpu|vcpus|cores|cpu cores",
    "disk.size_gb": "硬盘|磁盘|存储|本地盘|数据盘|存储容量|disk|storage|local disk|local storage|ssd|nvme",
    "network.gbit_s": "网络|带宽|网络带宽|内网带宽|互联带宽|节点互联|节点间带宽|ib|ib网络|roce|network|bandwidth|internode bandwidth|network bandwidth",
    "network.egress_mbit_s": "公网带宽|出口带宽|上行|公网上行|上行带宽|public bandwidth|internet|upload|egress bandwidth",
    "network.ingress_mbit_s": "下行|公网下行|下行带宽|download",
    "network.kind": "网络类型|组网|组网方式|network type|fabric",
    "node.count": "台数|节点数|机器数量|可供台数|库存|nodes|node count|servers",
    "isolation": "租用形态|交付形态|交付方式|类型|实例类型|isolation|delivery|deployment",
    "driver.min": "驱动|驱动版本|driver|driver version",
    "cuda.min": "cuda|cuda版本|cuda version",
    "npu.model": "npu|npu型号|昇腾型号",
}  # fmt: skip
# Headings of the commercial fields, where their own labels would not be used by a supplier.
_FIELD_WORDS: Mapping[str, str] = {
    "billing.min_billed_s": "最少租期|最短计费|最低计费|最短计费时长|最短承诺|最短承诺期|承诺期|承诺期限|最少租用|min rental|min rental period|minimum rental period|min rental time|minimum billed|minimum billing|min billing|minimum commitment|min commitment|commitment term|commitment length|commitment period|最短租期|起租|起租时间|起租时长|最低租期|最短租用|最小租期|最短租用时长|minimum term|min term|minimum rental|min billed|minimum hours",
    "billing.granularity_s": "计费周期|计费间隔|billing step|billing period|billing interval|billing cycle|billed per|increment|计费粒度|最小计费单位|计费步长|billing increment|granularity|billing granularity",
    "billing.min_gpus": "起租卡数|最少卡数|min gpus|minimum gpus",
    "billing.whole_node_only": "整机起租|是否整机|整机出租|是否整机出租|只租整机|仅整机|whole node|whole node only|whole nodes only|whole machine only|full node only",
    "deposit.amount": "押金|保证金|押金金额|deposit|deposit amount|security deposit",
    "deposit.months": "押金月数|押金(月)|deposit months|months of deposit|deposit in months",
    "deposit.pay_days": "付款方式|付款条件|支付方式|结算方式|账期|付款账期|payment terms|payment term|terms of payment|payment",
    "billing.discounts": "折扣率|discount rate",
    "storage.price_gb_month": "存储单价|存储价格|存储费|存储费用|storage price|storage cost",
    "traffic.out_price_gb": "流量费|流量费用|流量单价|出网流量费|egress price|egress fee|egress cost|traffic price",
    "sla.target": "sla|可用性|可用率|服务可用性|uptime|availability sla",
    "offer.availability": "现货|是否有货|库存状态|availability|stock",
    "offer.region": "地区|区域|机房|机房位置|地域|region|location|data center|datacenter|zone",
    "sla.replace_s": "故障替换|换机时间|替换时间|replacement time|replacement",
    "billing.auto_renew": "自动续费|自动续租|auto renew|auto renewal",
    "offer.quoted_at": "报价日期|报价时间|quote date|quoted at|date",
    "offer.delivery_date": "交付日期|交付时间|交期|delivery date|delivery",
}  # fmt: skip
# Words that mean something else inside longer headings.
_ALONE: Mapping[str, str] = {
    "billing.min_billed_s": "minimum|min|最短|最少|起订", "billing.granularity_s": "billing|计费|计费方式|billed", "billing.whole_node_only": "整机",
    "billing.discounts": "discount|discounts|折扣|优惠", "gpu.count": "count|cards",
}  # fmt: skip


def targets_of(catalogue: Catalogue) -> Targets:
    """Every target: the parts of an offer, the technical terms, the commercial fields that one cell can state."""
    made = [Target(str(part), part, label) for part, label, _ in _PARTS]
    made += [Target(term.key, Part.TERM, term.label, term=term) for term in catalogue.terms.values()]
    made += [Target(f.key, Part.FIELD, f.label, field=f) for f in catalogue.fields.values() if _from_a_cell(f)]
    words: dict[str, str] = {}
    for target in reversed(made):
        for word in (target.key, target.label.en, target.label.zh, *_known_words(target)):
            for form in _forms(word):
                words[form] = target.key
    # The short words of the first parts win over a label that happens to hold the same.
    for target in made[: len(_PARTS)]:
        words.update(dict.fromkeys(_known_words(target), target.key))
    alone = {word: key for key, said in _ALONE.items() for word in said.split("|")}
    return Targets({target.key: target for target in made}, words, alone)


def _from_a_cell(one: Field) -> bool:
    return HolderOf.OFFER in one.holders and (one.kind is not FieldKind.ROWS or one.key == "billing.discounts")


def _known_words(target: Target) -> tuple[str, ...]:
    for part, _, words in _PARTS:
        if target.part is part:
            return tuple(words.split("|"))
    words = (_TERM_WORDS if target.part is Part.TERM else _FIELD_WORDS).get(target.key, "")
    return tuple(words.split("|")) if words else ()
