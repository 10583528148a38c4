"""How is a user's own pattern for log lines used, so that no line can hold the program up?"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.facts.train_forms.form import Form, StepLine, is_bad, speeds, value

GROUPS = ("step", "loss", "tokens_s", "samples_s", "step_s", "step_ms", "tflops")
LONGEST, LONGEST_LINE = 400, 1000
# How far a repetition may reach, by how many of them stand in one piece: their product bounds the time of a line.
_REACH = (0, 400, 80, 30, 14)
_SLOW_S = 0.25
# A number with an exponent or a size behind it: `[\d.]+` takes only a part of it, and a part is another number.
_LONG = re.compile(r"(?<![\w.])(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,6}|[kKM])(?!\w)")
_FORBIDDEN = (("(?=", "(?!", "(?<=", "(?<!", "(?P=", "(?(", "(?#"), Text("look-around, references and conditions", "环视、引用和条件"))
_TOKEN = re.compile(
    r"(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<open>\((?:\?(?:P<\w+>|:|[aiLmsux]+\)))?)|(?P<close>\))"
    r"|(?P<repeat>[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\})|(?P<plain>.)",
    re.DOTALL,
)


def own_form(pattern: str) -> Form:
    """The user's pattern as a form: named groups of GROUPS, at least one.

    `.*` means "later on the line, at the first place": what stands between two of them is looked for by itself. Refused
    are long patterns, look-around, references, repeated groups that repeat something themselves, and more than four
    repetitions in one piece: on a long line these can take for ever. Raises UsageError.
    """
    if len(pattern) > LONGEST:
        raise UsageError(Text(f"the pattern has {len(pattern)} characters", f"模式有 {len(pattern)} 个字符"), next_step=Text(f"at most {LONGEST} are taken", f"最多 {LONGEST} 个"))
    marks, words = _FORBIDDEN
    if any(mark in pattern for mark in marks) or re.search(r"\\[1-9]", pattern):
        raise UsageError(
            Text("the pattern could take for ever on a long line", "该模式遇到长行可能永远匹配不完"), Text(f"{words.en} are not taken", f"不接受{words.zh}"),
            Text("write it without them", "请去掉它们"),
        )  # fmt: skip
    try:
        re.compile(pattern)
        pieces = tuple(re.compile(piece) for piece in _pieces(pattern))
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(
            Text(f"this is no pattern: {error}", f"这不是正则表达式：{error}"),
            next_step=Text("write a regular expression with named groups: loss (?P<loss>[\\d.]+)", "请填写带命名组的正则表达式：loss (?P<loss>[\\d.]+)"),
        ) from error
    names = {name for piece in pieces for name in piece.groupindex}
    if not names or not names <= set(GROUPS):
        wrong = ", ".join(sorted(names - set(GROUPS)))
        raise UsageError(
            Text(f"the pattern names {wrong}", f"模式中的组名 {wrong} 无法使用") if wrong else Text("the pattern names none", "模式没有命名组"),
            next_step=Text(f"name groups {', '.join(GROUPS)}: (?P<loss>[\\d.]+)", f"可用的组名：{'、'.join(GROUPS)}，如 (?P<loss>[\\d.]+)"),
        )
    return Form("own pattern", 0, _reader(pieces))


def _pieces(pattern: str) -> list[str]:
    """What stands between two `.*`, each with every endless repetition given an end. Raises UsageError."""
    tokens = [(str(found.lastgroup), found[0]) for found in _TOKEN.finditer(pattern)]
    _refuse_nested(tokens)
    pieces: list[list[tuple[str, str]]] = [[]]
    depth, n = 0, 0
    while n < len(tokens):
        kind, text = tokens[n]
        depth += (kind == "open" and not text.endswith("x)")) - (kind == "close")
        if text == "." and kind == "plain" and n + 1 < len(tokens) and _is_endless(tokens[n + 1]):
            if depth:
                raise UsageError(Text("the pattern holds .* inside a group", "模式的组内含有 .*"), next_step=Text("close the group before it: (?P<loss>[\\d.]+).*", "请在它之前结束该组：(?P<loss>[\\d.]+).*"))
            n += 2 + (tokens[n + 2 : n + 3] == [("repeat", "?")])
            pieces.append([])
            continue
        pieces[-1].append(tokens[n])
        n += 1
    if len(pieces) > 1 and any(_has_choice(piece) for piece in pieces):
        raise UsageError(Text("the pattern offers a choice around .*", "模式中 | 的一侧含有 .*"), next_step=Text("put the choice in brackets: (?:a|b)", "请用括号括起可选部分：(?:a|b)"))
    return [_with_ends(piece) for piece in pieces if piece]


def _has_choice(piece: list[tuple[str, str]]) -> bool:
    """Whether `|` stands outside of all brackets."""
    depth = 0
    for kind, text in piece:
        depth += (kind == "open") - (kind == "close")
        if depth == 0 and (kind, text) == ("plain", "|"):
            return True
    return False


def _with_ends(piece: list[tuple[str, str]]) -> str:
    endless = sum(_is_endless(token) for token in piece)
    if endless >= len(_REACH):
        raise UsageError(
            Text(f"the pattern repeats {endless} things in a row", f"模式中连续有 {endless} 处重复"),
            next_step=Text(f"at most {len(_REACH) - 1} are taken; put .* between them", f"最多 {len(_REACH) - 1} 处；请用 .* 隔开"),
        )
    return "".join(_with_end(text, _REACH[endless]) if _is_endless((kind, text)) else text for kind, text in piece)


def _is_endless(token: tuple[str, str]) -> bool:
    kind, text = token
    return kind == "repeat" and (text in ("*", "+") or text.endswith(",}"))


def _with_end(text: str, reach: int) -> str:
    low = {"*": 0, "+": 1}.get(text)
    low = int(text[1:-2]) if low is None else low
    return f"{{{low},{max(low, reach)}}}"


def _refuse_nested(tokens: list[tuple[str, str]]) -> None:
    """A repeated group must hold neither a repetition nor a choice."""
    open_groups: list[bool] = []
    last_closed = False
    for kind, text in tokens:
        if kind == "repeat" and last_closed and text != "?":
            raise UsageError(
                Text("the pattern repeats a group that repeats something itself", "模式重复的组内又有重复"),
                next_step=Text("repeat single characters only, such as [\\d.]+", "请只重复单个字符，如 [\\d.]+"),
            )
        if kind == "open" and not text.endswith("x)"):
            open_groups.append(False)
        last_closed = False
        if kind == "close" and open_groups:
            last_closed = open_groups.pop()
            if open_groups:
                open_groups[-1] = open_groups[-1] or last_closed
        elif (kind == "repeat" or (kind == "plain" and text == "|")) and open_groups:
            open_groups[-1] = True


def _reader(pieces: Sequence[re.Pattern[str]]) -> Callable[[str], StepLine | None]:
    def read(line: str) -> StepLine | None:
        begin, at, told = time.thread_time(), 0, dict[str, str | None]()
        for piece in pieces:
            found = piece.search(line[:LONGEST_LINE], at)
            if time.thread_time() - begin > _SLOW_S:
                raise UsageError(
                    Text("the pattern takes too long on a line of this log", "该模式匹配此日志的某一行耗时过长"),
                    next_step=Text("make it shorter, or name more fixed words", "请缩短模式，或写出更多固定文字"),
                )
            if found is None:
                return None
            at = found.end()
            told |= {name: _whole(line, *found.span(name)) for name in found.re.groupindex}
        return _step_line(told)

    return read


def _whole(line: str, begin: int, end: int) -> str | None:
    """The words of a group; where it took a part of a number, the whole number."""
    if begin < 0:
        return None
    words = line[begin:end]
    sign = words[:1] if words[:1] in ("+", "-") else ""
    around = next((one for one in _LONG.finditer(line[:LONGEST_LINE]) if one.start() <= begin + len(sign) and end <= one.end()), None)
    return words if around is None or not words else sign + around[0]


def _step_line(told: dict[str, str | None]) -> StepLine:
    step, ms = value(told.get("step")), value(told.get("step_ms"))
    rates = speeds(
        (Unit.TOKENS_S, value(told.get("tokens_s"))), (Unit.SAMPLES_S, value(told.get("samples_s"))), (Unit.STEP_S, value(told.get("step_s"))),
        (Unit.STEP_S, ms / 1000 if ms is not None else None), (Unit.TFLOPS, value(told.get("tflops"))),
    )  # fmt: skip
    return StepLine(int(step) if step is not None and 0 <= step < 1e15 else None, value(told.get("loss")), rates, is_bad(told.get("loss")))
