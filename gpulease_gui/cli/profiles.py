"""For which uses can a run be planned, and what does each ask first and leave out?"""

from __future__ import annotations

import argparse
import json

from gpulease_gui.catalog.profiles import load_profiles
from gpulease_gui.cli.codes import Exit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease profiles`."""
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    if options.json:
        rows = [
            {"id": p.id, "title": p.title.en, "title_zh": p.title.zh, "first": list(p.first), "leaves_out": list(p.leaves_out)}
            for p in load_profiles().values()
        ]
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return Exit.OK
    for profile in load_profiles().values():
        print(f"{profile.id}: {profile.title.en}\n  {profile.why.en}")
        print(f"  first: {', '.join(profile.first)}")
        print(f"  not run unless it was promised: {', '.join(profile.leaves_out) or 'nothing'}\n")
    return Exit.OK
