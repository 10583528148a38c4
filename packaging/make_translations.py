"""How are the window's Chinese strings collected and compiled?

    python packaging/make_translations.py            collect strings into the .ts, compile the .qm
    python packaging/make_translations.py --check    change nothing; exit 1 when either would change

New strings come into the .ts unfinished: write their translation there and run this again. Texts of class `Text` are
not in it: they hold both languages themselves.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import PySide6

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "i18n"
TS, QM = FOLDER / "gpulease_zh_CN.ts", FOLDER / "gpulease_zh_CN.qm"


def tool(name: str) -> str:
    """The Qt tool that comes with PySide6."""
    found = shutil.which(name, path=str(Path(PySide6.__file__).parent))
    if found is None:
        raise SystemExit(f"{name} is not in this installation of PySide6")
    return found


def collect(target: Path) -> None:
    """Bring the strings of all modules of the window into `target`; finished ones stay."""
    sources = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "gpulease_gui" / "gui").rglob("*.py"))
    command = [tool("lupdate"), "-silent", "-locations", "none", "-no-obsolete", *sources, "-source-language", "en",
               "-target-language", "zh_CN", "-ts", str(target)]  # fmt: skip
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def compile_strings(source: Path, target: Path) -> None:
    """Make the file that the program loads."""
    subprocess.run([tool("lrelease"), "-silent", str(source), "-qm", str(target)], check=True, stdout=subprocess.DEVNULL)


def unfinished(source: Path) -> list[str]:
    """The strings without a finished translation."""
    messages = ElementTree.parse(source).getroot().iter("message")
    return [m.findtext("source", "") for m in messages if _is_unfinished(m)]


def _is_unfinished(message: ElementTree.Element) -> bool:
    translation = message.find("translation")
    return translation is None or translation.get("type") == "unfinished" or not "".join(translation.itertext()).strip()


def fresh() -> tuple[bytes, bytes]:
    """What .ts and .qm would hold after a run, without touching them."""
    with tempfile.TemporaryDirectory() as folder:
        ts, qm = Path(folder) / TS.name, Path(folder) / QM.name
        if TS.exists():
            shutil.copy(TS, ts)
        collect(ts)
        compile_strings(ts, qm)
        return ts.read_bytes(), qm.read_bytes()


def main(argv: list[str]) -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    ts, qm = fresh()
    if "--check" in argv:
        same = TS.read_bytes() == ts and QM.read_bytes() == qm
        print("up to date" if same else "run packaging/make_translations.py")
        return 0 if same else 1
    TS.write_bytes(ts)
    QM.write_bytes(qm)
    missing = unfinished(TS)
    for words in missing:
        print(f"unfinished: {words}")
    print(f"{TS.relative_to(ROOT)}, {QM.relative_to(ROOT)}: {len(missing)} unfinished")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
