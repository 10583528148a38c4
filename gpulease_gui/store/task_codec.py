"""How is the run of a task written as text and bytes that come back exactly, without its secrets?"""

from __future__ import annotations

import json
import math
import sys
from array import array
from collections.abc import Sequence
from typing import Any

from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.task import (
    DOTS,
    ContainerTool,
    SourceKind,
    TaskContainer,
    TaskEnd,
    TaskEnvironment,
    TaskFault,
    TaskPoint,
    TaskRate,
    TaskReading,
    TaskRun,
    TaskSize,
    TaskSource,
    TaskSpec,
    TaskVariable,
)
from gpulease_gui.domain.text import Text
from gpulease_gui.store.codec import (
    json_text,
    maybe_utc_from,
    maybe_utc_text,
    pairs_from,
    pairs_text,
    utc_from,
    utc_text,
)


def spec_text(spec: TaskSpec) -> str:
    """A task as JSON; of a secret variable only the name is written."""
    return json_text(_spec(spec))


def spec_from(text: str) -> TaskSpec:
    """The task that `spec_text` wrote; a secret variable comes back as an empty secret, to be asked for."""
    return _spec_from(json.loads(text), Secret(""))


def run_text(run: TaskRun) -> str:
    """The whole run but the points of its curve."""
    return json_text({
        "id": run.id, "spec": _spec(run.spec), "node_id": run.node_id, "started_at": utc_text(run.started_at),
        "ended_at": maybe_utc_text(run.ended_at), "end": run.end, "exit_code": run.exit_code, "reason": [run.reason.en, run.reason.zh],
        "next_step": [run.next_step.en, run.next_step.zh], "seconds": _finite(run.seconds), "log_sha256": run.log_sha256,
        "log_bytes": run.log_bytes, "log_left_out": run.log_left_out, "reading": _reading(run.reading),
        "environment": [run.environment.driver, run.environment.cuda, run.environment.torch, run.environment.python, run.environment.container,
                        list(run.environment.gpus)],
        "kept_folder": run.kept_folder, "kept_bytes": run.kept_bytes, "remove_command": run.remove_command,
        "repeat_command": run.repeat_command, "left_processes": run.left_processes, "clean": run.clean,
    })  # fmt: skip


def run_from(text: str, points: Sequence[TaskPoint] = ()) -> TaskRun:
    """The run that `run_text` wrote, with the points of its curve."""
    said = json.loads(text)
    driver, cuda, torch, python, container, gpus = said["environment"]
    return TaskRun(
        said["id"], _spec_from(said["spec"], DOTS), said["node_id"], utc_from(said["started_at"]), maybe_utc_from(said["ended_at"]),
        None if said["end"] is None else TaskEnd(said["end"]), said["exit_code"], Text(*said["reason"]), Text(*said["next_step"]),
        said["seconds"], said["log_sha256"], said["log_bytes"], said["log_left_out"], _reading_from(said["reading"], points),
        TaskEnvironment(driver, cuda, torch, python, container, tuple(gpus)), said["kept_folder"], said["kept_bytes"], said["remove_command"], said["repeat_command"],
        said["left_processes"], said["clean"],
    )  # fmt: skip


def _spec(spec: TaskSpec) -> dict[str, Any]:
    container, size = spec.container, spec.size
    return {
        "name": spec.name, "source": [spec.source.kind, spec.source.place], "command": spec.command,
        "environment": [[v.name, None if _hides(v) else v.value] for v in spec.environment], "time_limit_s": spec.time_limit_s,
        "keep_folder": spec.keep_folder, "pattern": spec.pattern, "serves": pairs_text(spec.serves),
        "container": [container.image, container.tool, container.network] if container else None,
        "size": [size.size_bytes, size.entries] if size else None, "scratch_gib": spec.scratch_gib,
    }  # fmt: skip


def _hides(one: TaskVariable) -> bool:
    """Whether the value is a secret, or the dots that stand for one."""
    return isinstance(one.value, Secret) or one.value == DOTS


def _spec_from(said: dict[str, Any], hidden: str | Secret) -> TaskSpec:
    kind, place = said["source"]
    box = said["container"]
    return TaskSpec(
        said["name"], TaskSource(SourceKind(kind), place), said["command"],
        tuple(TaskVariable(name, hidden if value is None else value) for name, value in said["environment"]), said["time_limit_s"],
        said["keep_folder"], said["pattern"], tuple((key, value) for key, value in pairs_from(said["serves"]) if value is not None),
        TaskContainer(box[0], ContainerTool(box[1]), box[2]) if box else None, TaskSize(*said["size"]) if said["size"] else None,
        said["scratch_gib"],
    )  # fmt: skip


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _reading(reading: TaskReading | None) -> dict[str, Any] | None:
    if reading is None:
        return None
    return {
        "form": reading.form, "steps": reading.steps, "last_step": reading.last_step, "first_loss": _finite(reading.first_loss),
        "last_loss": _finite(reading.last_loss), "lines": reading.lines,
        "rates": [[r.unit, r.n, r.median, r.p5, r.p95, r.drift, r.warmup] for r in reading.rates],
        "faults": [[f.kind, f.number, f.line] for f in reading.faults],
    }  # fmt: skip


def _reading_from(said: dict[str, Any] | None, points: Sequence[TaskPoint]) -> TaskReading | None:
    if said is None:
        return None
    return TaskReading(
        said["form"], said["steps"], said["last_step"], said["first_loss"], said["last_loss"], tuple(TaskRate(*r) for r in said["rates"]),
        tuple(TaskFault(*f) for f in said["faults"]), said["lines"], tuple(points),
    )  # fmt: skip


def points_packed(points: Sequence[TaskPoint]) -> tuple[str, bytes]:
    """(units as JSON, columns of little-endian float64: second, step, loss, one per unit); NaN = not told."""
    units = tuple(dict.fromkeys(unit for point in points for unit, _ in point.speeds))
    columns: list[float | None] = [p.at_s for p in points]
    columns += [None if p.step is None else float(p.step) for p in points]
    columns += [p.loss for p in points]
    for unit in units:
        columns += [dict(p.speeds).get(unit) for p in points]
    values = array("d", (math.nan if value is None else value for value in columns))
    if sys.byteorder == "big":
        values.byteswap()
    return json_text(list(units)), values.tobytes()


def points_unpacked(units_text: str, count: int, content: bytes) -> tuple[TaskPoint, ...]:
    """The points that `points_packed` wrote. Raises ValueError for bytes of another length."""
    units, values = json.loads(units_text), array("d")
    values.frombytes(content)
    if sys.byteorder == "big":
        values.byteswap()
    if len(values) != count * (3 + len(units)):
        raise ValueError("the block has another length than its columns")
    at, step, loss, *speeds = ([_told(v) for v in values[n * count : (n + 1) * count]] for n in range(3 + len(units)))
    told = [[(unit, v) for unit, column in zip(units, speeds, strict=True) if (v := column[n]) is not None] for n in range(count)]
    return tuple(TaskPoint(at[n], _whole(step[n]), loss[n], tuple(told[n])) for n in range(count))


def _told(value: float) -> float | None:
    return None if math.isnan(value) else value


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
