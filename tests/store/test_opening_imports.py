"""Does the database library leave numpy alone, and numpy come all the same to who wants it?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_that_the_database_library_loads_no_numpy_and_others_still_can() -> None:
    work = (
        "import sys, gpulease_gui.store.migrations; print('sqlite_utils' in sys.modules, 'numpy' in sys.modules);"
        "import numpy; print(int(numpy.arange(3).sum()))"
    )
    said = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, check=True).stdout
    assert said == "True False\n3\n"


def test_that_a_workspace_of_the_users_own_loads_no_simulated_node(tmp_path: Path) -> None:
    work = (
        "import sys, pathlib; from gpulease_gui.services.composition import open_services;"
        "open_services(pathlib.Path(sys.argv[1])).close();"
        "print([name for name in sys.modules if name.startswith('gpulease_gui.demo') or name in ('asyncio', 'invoke.context', 'numpy')])"
    )
    words = [sys.executable, "-c", work, str(tmp_path / "own.db")]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert said == "[]\n"


def test_that_a_verification_loads_no_tasks_and_no_demo_market() -> None:
    work = (
        "import sys, gpulease_gui.cli.verify; one = 'gpulease_gui.services.';"
        "print([name for name in sys.modules if name in (one + 'task_runs', one + 'demo_data', one + 'demo_commerce')])"
    )
    said = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, check=True).stdout
    assert said == "[]\n"
