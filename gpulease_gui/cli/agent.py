"""What do the GPUs of this computer do?"""

from __future__ import annotations

import argparse
import os
import runpy
from importlib import resources
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease agent`."""
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between samples (0.1 to 60)")
    parser.add_argument("--count", type=int, default=0, help="samples to take; 0 = until stopped")


def agent_path() -> Path:
    """Where the agent's one file lies."""
    return Path(str(resources.files("gpulease_gui") / "agent" / "node_agent.py"))


def run(options: argparse.Namespace) -> int:
    """Run the agent's file in this process."""
    os.environ["GPULEASE_INTERVAL"] = str(min(60.0, max(0.1, options.interval)))
    os.environ["GPULEASE_TICKS"] = str(max(0, options.count))
    main = runpy.run_path(str(agent_path()))["main"]
    return int(main())
