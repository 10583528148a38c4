#!/usr/bin/env python3
"""The project's only set-up: `python3 packaging/dev.py run | test | bench`. Needs nothing but Python 3.11 or newer.

run    make .venv, install what is locked, add the system libraries that Qt needs, open the app on the demo workspace
       (without a display: drive the window offscreen through the main journey and leave pictures and PDFs in demo-output/)
test   the same, plus the tools of the tests; then lint, types, contracts, all tests
bench  the same, then the benchmarks of tests/bench
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
WINDOWS = os.name == "nt"
BIN = VENV / ("Scripts" if WINDOWS else "bin")
PYTHON = BIN / ("python.exe" if WINDOWS else "python")
# What a rented node has installed, for the tests of the built-in tasks: no dependency of ours, and not in .venv.
TORCH_VENV = ROOT / ".venv-torch"
TORCH_PACKAGES = ("torch==2.13.0", "numpy")

# What Qt loads at run time -> the Debian package that brings it.
QT_LIBRARIES = {
    "libGL.so.1": "libgl1", "libEGL.so.1": "libegl1", "libfontconfig.so.1": "libfontconfig1",
    "libxkbcommon.so.0": "libxkbcommon0", "libdbus-1.so.3": "libdbus-1-3", "libglib-2.0.so.0": "libglib2.0-0",
}  # fmt: skip
XCB_LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0", "libxcb-icccm.so.4": "libxcb-icccm4", "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0", "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}  # fmt: skip
TEST_TOOLS = {
    "/usr/sbin/sshd": "openssh-server", "ssh-keygen": "openssh-client", "iperf3": "iperf3", "fio": "fio", "Xvfb": "xvfb",
    "pdftotext": "poppler-utils", "ip": "iproute2", "fc-match": "fontconfig", "gcc": "gcc", "ps": "procps",
    "/usr/include/stdio.h": "libc6-dev", "mount": "mount", "unshare": "util-linux",
}  # fmt: skip


def main() -> int:
    """Parse the command line and do it; the exit code is the tests' or the app's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="set up and open the app on the demo workspace")
    commands.add_parser("test", help="set up and run lint, types, contracts and all tests")
    bench = commands.add_parser("bench", help="set up and run the benchmarks")
    bench.add_argument("--full", action="store_true")
    bench.add_argument("--soak-minutes", metavar="N", help="minutes of the real soak (default: 60 with --full, else 3)")
    bench.add_argument("names", nargs="*")
    options = parser.parse_args()
    if sys.version_info < (3, 11):
        return stop(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}")
    if options.command == "run":
        return run()
    if options.command == "test":
        return test()
    return run_bench(options.names, full=options.full, soak_minutes=options.soak_minutes)


def stop(message: str) -> int:
    """Say why nothing goes on."""
    print(f"dev.py: {message}", file=sys.stderr)
    return 1


def run() -> int:
    """Open the app on the demo workspace, or drive it offscreen where there is no display."""
    display = has_display()
    missing = missing_libraries({**QT_LIBRARIES, **(XCB_LIBRARIES if display else {})})
    if (code := install_system(missing)) or (code := set_up("run")):
        return code
    if display:
        return subprocess.call([str(PYTHON), "-m", "gpulease_gui", "--demo"], cwd=ROOT)
    print("No display found: driving the same window offscreen. For a window, start this from a desktop session,")
    print("or set DISPLAY (X11, for instance through `ssh -X`) or WAYLAND_DISPLAY.", flush=True)
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    target = str(ROOT / "demo-output")
    return subprocess.call([str(PYTHON), "-m", "gpulease_gui.gui.tour", target], cwd=ROOT, env=environment)


def test() -> int:
    """Lint, types, contracts, all tests; every step runs even if one before it failed."""
    missing = missing_libraries({**QT_LIBRARIES, **XCB_LIBRARIES}) + missing_tools(TEST_TOOLS)
    if (code := install_system(missing)) or (code := set_up("test")):
        return code
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONHASHSEED": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of children would compile the program anew each
    torch = begin_torch()  # it loads and unpacks while the linters compute
    steps = {
        "lint": [BIN / "ruff", "check", "."],
        "types": [BIN / "mypy"],
        # Nothing runs there in CI: at least no name of the system is used that Windows lacks.
        "types under Windows": [BIN / "mypy", "--platform", "win32", "--cache-dir", ".mypy_cache/win32"],
        "contracts": [BIN / "lint-imports"],
        "tests": [PYTHON, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", "--durations=15"],
    }
    failed = []
    for name, words in steps.items():
        print(f"== {name}", flush=True)
        if name == "tests" and torch is not None:
            end_torch(torch)
        if subprocess.call([str(word) for word in words], cwd=ROOT, env=environment):
            failed.append(name)
    print(f"FAILED: {', '.join(failed)}" if failed else "lint, types, contracts and tests passed", flush=True)
    return 1 if failed else 0


def begin_torch() -> subprocess.Popen[bytes] | None:
    """Start to put PyTorch into .venv-torch, beside the linters; None when it is there or not wanted."""
    if os.environ.get("GPULEASE_NO_TORCH") or torch_stamp().exists():
        return None
    shutil.rmtree(TORCH_VENV, ignore_errors=True)
    if subprocess.call([str(PYTHON), "-m", "venv", "--without-pip", str(TORCH_VENV)]):
        return None
    inside = TORCH_VENV / BIN.name / PYTHON.name
    pip = [str(PYTHON), "-m", "pip", "--python", str(inside), "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    return subprocess.Popen([*pip, *TORCH_PACKAGES], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def end_torch(install: subprocess.Popen[bytes]) -> None:
    """Wait for it. Without it the tests that need it are skipped, and this says so."""
    _, said = install.communicate()
    if install.returncode == 0:
        torch_stamp().touch()
        return
    last = said.decode("utf-8", "replace").strip().splitlines()[-1:] or ["pip says nothing"]
    print(f"PyTorch could not be installed: the tests that run the built-in tasks are skipped ({last[0]})", flush=True)


def torch_stamp() -> Path:
    """The mark of a whole installation of just these packages."""
    return TORCH_VENV / f"gpulease-{hashlib.sha256(' '.join(TORCH_PACKAGES).encode()).hexdigest()[:12]}.stamp"


def run_bench(names: list[str], *, full: bool, soak_minutes: str | None = None) -> int:
    """Run the benchmarks; one JSON line a bar."""
    missing = missing_libraries(QT_LIBRARIES) + missing_tools(TEST_TOOLS)
    if (code := install_system(missing)) or (code := set_up("test")):
        return code
    words = [str(PYTHON), "-m", "tests.bench", *(["--full"] if full else []), *(["--soak-minutes", soak_minutes] if soak_minutes else []), *names]
    return subprocess.call(words, cwd=ROOT, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})


def has_display() -> bool:
    """Whether a window can be shown."""
    if WINDOWS or sys.platform == "darwin":
        return not os.environ.get("QT_QPA_PLATFORM", "").startswith("offscreen")
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def missing_libraries(wanted: dict[str, str]) -> list[str]:
    """The packages of the libraries that can't be loaded (Linux only)."""
    if not sys.platform.startswith("linux"):
        return []
    return [package for name, package in wanted.items() if not loads(name)]


def loads(name: str) -> bool:
    """Whether the dynamic linker finds a library."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def missing_tools(wanted: dict[str, str]) -> list[str]:
    """The packages of the programs that are not there (Linux only; elsewhere the tests that need them say so)."""
    if not sys.platform.startswith("linux"):
        return []
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return [package for name, package in wanted.items() if not (Path(name).exists() or shutil.which(name, path=path))]


def install_system(packages: Iterable[str]) -> int:
    """Install Debian packages as root; otherwise print the one exact command and stop."""
    names = sorted(set(packages))
    if not names:
        return 0
    install = ["apt-get", "install", "-y", "--no-install-recommends", *names]
    if not shutil.which("apt-get"):
        return stop(f"these system packages are missing (Debian names): {' '.join(names)}")
    if os.geteuid() != 0:
        return stop(f"system packages are missing. Run this once, then start again:\n  sudo {' '.join(install)}")
    print(f"== installing {' '.join(names)}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.call(["apt-get", "update", "-q"], env=environment, stdout=subprocess.DEVNULL)
    if subprocess.call([*install, "-q"], env=environment, stdout=subprocess.DEVNULL):
        return stop(f"apt-get could not install: {' '.join(names)}")
    return 0


def set_up(purpose: str) -> int:
    """Make .venv and install what is locked for `purpose`; nothing when it is there already."""
    lock = ROOT / "packaging" / "lock" / f"{purpose}.txt"
    stamp = VENV / f"gpulease-{purpose}.stamp"
    wanted = hashlib.sha256(lock.read_bytes() + (ROOT / "pyproject.toml").read_bytes() + str(ROOT).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted and PYTHON.exists():
        return 0
    if not PYTHON.exists() and (code := make_venv()):
        return code
    print(f"== installing the locked packages ({purpose})", flush=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.call([*pip, "--require-hashes", "-r", str(lock)]):
        return stop("pip could not install the locked packages; is the package index reachable?")
    if subprocess.call([*pip, "--no-deps", "--no-build-isolation", "-e", str(ROOT)]):
        return stop("pip could not install the project itself")
    stamp.write_text(wanted)
    return 0


def make_venv() -> int:
    """Make .venv; Debian keeps the module in a package of its own."""
    print("== making .venv", flush=True)
    make = [sys.executable, "-m", "venv", str(VENV)]
    if subprocess.call(make, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0:
        return 0
    shutil.rmtree(VENV, ignore_errors=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if code := install_system([f"{version}-venv" if Path("/etc/debian_version").exists() else "python3-venv"]):
        return code
    return 0 if subprocess.call(make) == 0 else stop("could not make .venv")


if __name__ == "__main__":
    sys.exit(main())
