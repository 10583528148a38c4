"""Which simulated nodes are there, and where do they answer?"""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Sequence

from gpulease_gui.cli.codes import Exit
from gpulease_gui.services.demo_host import DemoLine, demo_list, serving


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease demo`."""
    parser.add_argument("--list", action="store_true", help="only list the nodes; `gpulease verify demo:NAME` needs no server")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(options: argparse.Namespace) -> int:
    """List the nodes; serve them until interrupted unless --list."""
    if options.list:
        _print(demo_list(), as_json=options.json)
        return Exit.OK
    with serving() as nodes:
        _print(nodes, as_json=options.json)
        print("serving on this computer only; Ctrl+C ends it", flush=True)
        threading.Event().wait()
    return Exit.OK


def _print(nodes: Sequence[DemoLine], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {"name": n.name, "title": n.title.en, "story": n.story.en, "fingerprint": n.fingerprint, "address": n.address,
             "identity": n.identity_file}
            for n in nodes
        ]  # fmt: skip
        print(json.dumps(rows, indent=1), flush=True)
        return
    for node in nodes:
        print(f"demo:{node.name:14} {node.title.en}\n{'':20}{node.story.en}\n{'':20}host key {node.fingerprint}")
        if node.address:
            print(f"{'':20}gpulease verify {node.address} --identity {node.identity_file} --fingerprint {node.fingerprint}")
