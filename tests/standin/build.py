"""How does a machine become a compiled nvidia-smi?"""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.standin.machine import MachineTexts

SOURCE = Path(__file__).with_name("smi.c")


def build_smi(texts: MachineTexts, target: Path) -> None:
    """Write `target`, an ELF program that answers for the machine. Raises CalledProcessError when gcc refuses."""
    work = target.parent / "build"
    work.mkdir(parents=True, exist_ok=True)
    (work / "answers.h").write_text(_header(texts), "utf-8")
    target.parent.mkdir(exist_ok=True)
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", work, "-o", target, SOURCE], check=True)


def build_nvml(folder: Path) -> None:
    """Write the stand-in of the driver's library into a folder, for LD_LIBRARY_PATH. Raises CalledProcessError."""
    target, source = folder / "libnvidia-ml.so.1", Path(__file__).with_name("nvml.c")
    warnings = ["-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", "-std=gnu11", "-O1", *warnings, "-shared", "-fPIC", "-o", target, source], check=True)


def _header(texts: MachineTexts) -> str:
    answers = "".join(f"{{{_quoted(words)}, {_quoted(text)}}},\n" for words, text in texts.answers().items())
    columns = texts.columns()
    fields = "".join(f"{{{_quoted(name)}, {_quoted(about)}}},\n" for name, (about, _) in columns.items())
    rows = (
        "{" + ", ".join(f"{{{_quoted(value)}, {_quoted(unit)}}}" for value, unit in row) + "},\n"
        for row in zip(*(cells for _, cells in columns.values()), strict=True)
    )
    return (
        f"static const struct answer ANSWERS[] = {{\n{answers}}};\n"
        f"static const struct field FIELDS[] = {{\n{fields}}};\n"
        f"static const struct cell CELLS[][{len(columns)}] = {{\n{''.join(rows)}}};\n"
    )


def _quoted(text: str) -> str:
    """As one C string literal, a line each."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return "\n".join(f'"{line}\\n"' for line in escaped.split("\n")[:-1]) + f'"{escaped.split(chr(10))[-1]}"'
