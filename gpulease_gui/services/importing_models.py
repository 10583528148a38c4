"""Which card does a row name, with what its other cells say of memory, form factor and count?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.catalog.gpus import GpuCatalogue, GpuModel
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.economics.quote_model import ModelReading, near, read_model, settled
from gpulease_gui.economics.quote_words import Ambiguous, Option

_KEPT = 5000


@dataclass(frozen=True, slots=True)
class Named:
    """What a row's card comes to: the value of the term (None = not stated), what else its name says, what to choose from.

    `memory_gb` and `form` only where the named product does not imply them. `issue` says why the row can't be taken, `warning` what a person should see; both None = nothing to say.
    """

    value: str | None = None
    memory_gb: int | None = None
    form: str | None = None
    count: int | None = None
    choice: Ambiguous[str] | None = None
    warning: tuple[Text, Text] | None = None
    issue: tuple[Text, Text] | None = None


class Cards:
    """The names of cards read so far; equal ones are understood once."""

    def __init__(self, gpus: GpuCatalogue) -> None:
        self._gpus = gpus
        self._known: dict[tuple[str, object, object], Named] = {}
        self._kinds: dict[str, str] = {}

    def named(self, words: str, memory_gb: object, form: object) -> Named:
        """What `words` name in a row that says `memory_gb` and `form` in other cells (None = it does not)."""
        key = words, memory_gb, form
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = _named(words, memory_gb, form, self._gpus)
        return self._known[key]

    def kind_of(self, word: str) -> str | None:
        """ "npu" for a card that is judged as an NPU, "gpu" for any other; None for no card."""
        if word and word not in self._kinds:
            self._kinds[word] = "npu" if all(m.is_npu for m in self._gpus.promise(word).products) else "gpu"
        return self._kinds.get(word)


def _named(words: str, memory_gb: object, form: object, gpus: GpuCatalogue) -> Named:
    found = read_model(words, gpus)
    if found is None:
        close = near(words, gpus)
        return Named(choice=_choice(words, None, close), warning=(
            Text(_also("no product of the catalogue is called so", close), _also_zh("目录中没有该型号", close)),
            Text("the offer comes without a GPU model, unless one is chosen", "如不选择，报价导入后不含 GPU 型号"),
        ))  # fmt: skip
    memory = float(memory_gb) if isinstance(memory_gb, int | float) and not isinstance(memory_gb, bool) else None
    if found.memory_gb is not None and memory is not None and memory != found.memory_gb:
        return _against("memory", "显存", f"{found.memory_gb} GB", f"{number_text(memory)} GB")
    if found.form is not None and isinstance(form, str) and form != found.form:
        return _against("form factor", "封装", str(found.form), form)
    return _of_reading(words, settled(found, gpus, memory, form if isinstance(form, str) else None))


def _against(en: str, zh: str, name: str, column: str) -> Named:
    return Named(issue=(
        Text(f"the name says {name}, the column of the {en} says {column}", f"型号写明 {name}，{zh}列为 {column}"),
        Text("correct one of them", "请更正其中之一"),
    ))  # fmt: skip


def _of_reading(words: str, found: ModelReading) -> Named:
    if found.is_product:
        # No model of an NPU implies its memory: what the name says of it is stated.
        memory = found.memory_gb if found.family and found.family[0].is_npu else None
        return Named(found.word, memory, count=found.count)
    warning = None
    if found.doubt is not None:
        default = (Text(f"kept as {found.word}, unless another one is chosen", f"如不另选，记为 {found.word}") if found.word
                   else Text("the offer comes without a GPU model, unless one is chosen", "如不选择，报价导入后不含 GPU 型号"))  # fmt: skip
        warning = Text(_also(found.doubt.en, found.candidates), _also_zh(found.doubt.zh, found.candidates)), default
    elif found.memory_gb is not None or found.form is not None:
        warning = (
            Text(_also("the name leaves open which product it is", found.candidates), _also_zh("名称未能确定具体产品", found.candidates)),
            Text(f"kept as the family {found.word}, unless one is chosen", f"如不选择，记为 {found.word} 系列"),
        )
    form = str(found.form) if found.form is not None else None
    return Named(found.word, found.memory_gb, form, found.count, _choice(words, found.word, found.candidates), warning)


def _also(words: str, candidates: Sequence[GpuModel]) -> str:
    return f"{words} (may be {', '.join(m.id for m in candidates)})" if candidates else words


def _also_zh(words: str, candidates: Sequence[GpuModel]) -> str:
    return f"{words}（可能是 {'、'.join(m.id for m in candidates)}）" if candidates else words


AS_NAMED = "as_named"


def _choice(words: str, default: str | None, candidates: Sequence[GpuModel]) -> Ambiguous[str] | None:
    if not candidates:
        return None
    label = Text(f"{default}, the product left open", f"{default}，不指定具体产品") if default else Text("no GPU model", "不含 GPU 型号")
    options = (Option(AS_NAMED, label, default or ""), *(Option(m.id, Text(m.name, m.name), m.id) for m in candidates))
    return Ambiguous(f"model.{words[:60]}", words, Text("Which product is this?", "这是哪个产品？"), options)


def which_count(in_name: int, in_column: int, words: str) -> Ambiguous[int]:
    """The question for a row whose name says another number of cards than its column of counts."""
    def option(id_: str, count: int, en: str, zh: str) -> Option[int]:
        return Option(id_, Text(f"{count} GPUs per node, as the {en} says", f"每台 {count} 卡（按{zh}）"), count)

    return Ambiguous("gpus", words, Text("How many GPUs has a node?", "每台有几张卡？"), (
        option("name", in_name, "name", "型号"), option("column", in_column, "column", "数量列"),
    ))  # fmt: skip

