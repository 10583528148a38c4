"""How do tasks that ran travel in a bundle, and what may stand in their fields?"""

from __future__ import annotations

import json
import re
import zlib
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.task import SourceKind, TaskRun, TaskSpec
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.store.codec import json_text
from gpulease_gui.store.exchange.bundle_rules import MOST_FINDING
from gpulease_gui.store.task_codec import points_unpacked, run_from, run_text, spec_from, spec_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpulease_gui.store.exchange.bundle_schema import Bundle, Record

_HEX = re.compile(r"(?:[0-9A-F]{2})*")
_MOST_HEX = 64 * 1024 * 1024
_MOST_LOG = 64 * 1024 * 1024
_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)


def hexed(value: object) -> bool:
    """Bytes as capital hexadecimal digits."""
    return isinstance(value, str) and len(value) <= _MOST_HEX and _HEX.fullmatch(value) is not None


def task_spec(value: object) -> bool:
    """A task as the store keeps it, every part of its kind."""
    return _reads(value, lambda words: _sound_spec(spec_from(words)) and json.loads(spec_text(spec_from(words))) == json.loads(words))


def task_run(value: object) -> bool:
    """The run of a task as the store keeps it, every part of its kind: it is shown without another look."""
    return _reads(value, lambda words: _sound_run(run_from(words)) and json.loads(run_text(run_from(words))) == json.loads(words))


def _reads(value: object, sound: Callable[[str], bool]) -> bool:
    try:
        if not isinstance(value, str) or len(value) > MOST_FINDING:
            return False
        value.encode("utf-8")
        return sound(value)
    except _DAMAGED:
        return False


def _sound_spec(spec: TaskSpec) -> bool:
    words = (spec.name, spec.source.place, spec.command, spec.pattern, *(one.name for one in spec.environment), *(key for key, _ in spec.serves))
    boxed = (spec.container.image, spec.container.network) if spec.container else ()
    sizes = (spec.time_limit_s, *((spec.size.size_bytes, spec.size.entries) if spec.size else ()))
    return (
        _all(str, (*words, *boxed)) and _all(int, sizes) and isinstance(spec.keep_folder, bool) and isinstance(spec.scratch_gib, int | float)
        and all(isinstance(value, str | int | float | bool) for _, value in spec.serves)
    )  # fmt: skip


def _sound_run(run: TaskRun) -> bool:
    said, reading, built = (run.reason, run.next_step), run.reading, run.environment
    words = (
        run.id, run.node_id, run.kept_folder, run.remove_command, run.repeat_command, *(part for text in said for part in (text.en, text.zh)),
        built.driver, built.cuda, built.torch, built.python, built.container, *built.gpus,
    )  # fmt: skip
    sound = _sound_spec(run.spec) and all(word is None or isinstance(word, str) for word in words)
    if reading is None:
        return sound
    figures = (reading.steps, reading.last_step, reading.first_loss, reading.last_loss, reading.lines)
    rates = tuple(figure for rate in reading.rates for figure in (rate.n, rate.median, rate.p5, rate.p95, rate.drift, rate.warmup))
    return (
        sound and isinstance(reading.form, str) and all(one is None or isinstance(one, int | float) for one in (*figures, *rates))
        and all(isinstance(fault.line, str) and isinstance(fault.number, int) for fault in reading.faults)
    )  # fmt: skip


def _all(kind: type, values: tuple[object, ...]) -> bool:
    return all(isinstance(value, kind) for value in values)


def without_paths(document: str) -> str:
    """The document of a task or its run with the name of the folder that was sent, not with its path on this computer."""
    said = json.loads(document)
    spec: dict[str, Any] = said.get("spec", said)
    kind, place = spec["source"]
    if kind not in (SourceKind.SCRIPT, SourceKind.FOLDER) or not isinstance(place, str):
        return document
    name = (PureWindowsPath(place) if "\\" in place else PurePosixPath(place)).name
    spec["source"] = [kind, name]
    if place and place != name and said.get("repeat_command"):
        said["repeat_command"] = said["repeat_command"].replace(place, name)
    return json_text(said)


def refuse_damaged_tasks(bundle: Bundle) -> None:
    """Raise UserFacing for a task run that is another one than its record says, or a curve or log that can't be unpacked."""
    for record in bundle.of("task_runs", "task_curves", "task_logs", "task_specs"):
        if not _is_whole(record):
            raise UserFacing(Text("a task of the bundle is damaged", "数据包中有一个任务已损坏"), foreign(f"{record.section.name}: {record.key[0][:40]}"), Text("export it again", "请重新导出"))


def _is_whole(record: Record) -> bool:
    name = record.section.name
    try:
        if name == "task_runs":
            run = run_from(str(record.value("document")))
            return (run.id, run.node_id, run.spec.name, run.end) == (record.key[0], *(record.value(n) for n in ("node_id", "task", "ending")))
        if name == "task_specs":
            return spec_from(str(record.value("document"))).name == record.key[0]
        if name == "task_curves":
            count = int(str(record.value("count")))
            return len(points_unpacked(str(record.value("units")), count, bytes.fromhex(str(record.value("float64_hex"))))) == count > 0
        return _log_is_whole(bytes.fromhex(str(record.value("zlib_hex"))), int(str(record.value("full_size"))))
    except (*_DAMAGED, zlib.error):
        return False


def _log_is_whole(packed: bytes, size: int) -> bool:
    if not 0 < size <= _MOST_LOG:
        return False
    inflater = zlib.decompressobj()
    return len(inflater.decompress(packed, size)) == size and inflater.eof
