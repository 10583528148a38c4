"""How does a TOML file become frozen values, so that no slip of the pen gets through?"""

from __future__ import annotations

import tomllib
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from gpulease_gui.domain.text import Text

T = TypeVar("T")


class CatalogueFault(ValueError):
    """A file of resources/ breaks its form: our own fault. The message names file and key."""

    def __init__(self, file: str, key: str, why: str) -> None:
        super().__init__(f"{file}: {key}: {why}")
        self.file = file
        self.key = key


def resource(*path: str) -> Traversable:
    """A file or folder of resources/, also inside a wheel."""
    return files("gpulease_gui.resources").joinpath(*path)


def toml_files(folder: str) -> list[Traversable]:
    """The TOML files of a folder of resources/, by name."""
    return sorted((f for f in resource(folder).iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)


def read_toml(file: Traversable) -> dict[str, Any]:
    """The tables of one file. Raises CatalogueFault."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CatalogueFault(file.name, "(whole file)", str(error)) from error


def build(cls: type[T], table: object, file: str, key: str = "(top)") -> T:
    """`table` as a frozen `cls`: every key known, every type right, nothing left out that has no default.

    Raises CatalogueFault.
    """
    if not isinstance(table, dict):
        raise CatalogueFault(file, key, f"a table is wanted, not {_kind(table)}")
    known = _shape(cast(Any, cls))
    for name in table:
        if name not in known:
            raise CatalogueFault(file, name, f"unknown key in {cls.__name__}")
    values = {
        name: _value(hint, table[name], file, name) if name in table else _missing(part, file)
        for name, (part, hint) in known.items()
    }
    return cls(**values)


@cache
def _shape(cls: Any) -> Mapping[str, tuple[Field[Any], Any]]:
    hints = get_type_hints(cls)
    return {part.name: (part, hints[part.name]) for part in fields(cls) if part.init}


def _missing(part: Field[Any], file: str) -> Any:
    if part.default is not MISSING:
        return part.default
    if part.default_factory is not MISSING:
        return part.default_factory()
    raise CatalogueFault(file, part.name, "the key is missing")


def _value(hint: Any, value: object, file: str, key: str) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _value(_without_none(inner), value, file, key)
    if origin is tuple:
        return tuple(_value(inner[0], item, file, key) for item in _list(value, file, key))
    if origin is not None:
        return _mapping(inner[1], value, file, key)
    if is_dataclass(hint):
        return _text(value, file, key) if hint is Text else build(cast(type, hint), value, file, key)
    return _plain(hint, value, file, key)


def _without_none(options: tuple[Any, ...]) -> Any:
    kept = [option for option in options if option is not type(None)]
    return kept[0] if len(kept) == 1 else float if set(kept) <= {int, float} else kept[0]


def _list(value: object, file: str, key: str) -> list[object]:
    if not isinstance(value, list):
        raise CatalogueFault(file, key, f"a list is wanted, not {_kind(value)}")
    return value


def _mapping(hint: Any, value: object, file: str, key: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise CatalogueFault(file, key, f"a table is wanted, not {_kind(value)}")
    return {name: _value(hint, item, file, f"{key}.{name}") for name, item in value.items()}


def _text(value: object, file: str, key: str) -> Text:
    text = build(Text, value, file, key) if not isinstance(value, Text) else value
    if not (text.en.strip() and text.zh.strip()):
        raise CatalogueFault(file, key, "both languages are wanted")
    return text


def _plain(hint: Any, value: object, file: str, key: str) -> Any:
    if isinstance(hint, type) and issubclass(hint, StrEnum) and isinstance(value, str):
        if value not in set(hint):
            raise CatalogueFault(file, key, f"{value!r} is none of {', '.join(hint)}")
        return hint(value)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if hint in (int, str, bool) and type(value) is hint:
        return value
    raise CatalogueFault(file, key, f"{getattr(hint, '__name__', hint)} is wanted, not {_kind(value)}")


def _kind(value: object) -> str:
    return f"{type(value).__name__} {value!r}"[:80]
