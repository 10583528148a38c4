"""How does a bundle from another computer come into the workspace?"""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from pathlib import Path

from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.workspace_file import services_of, wrong_input
from gpulease_gui.domain.text import visible
from gpulease_gui.services.exchange import KINDS, apply_merge, merge_in, read_bundle
from gpulease_gui.store.exchange.merging import Difference, Merge


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease import-data`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="what export-data --format json wrote")
    parser.add_argument("--dry-run", action="store_true", help="say what would be added and changed; write nothing")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="the workspace to merge into; made if it is not there")
    parser.add_argument("--demo", action="store_true", help="the workspace is the demo's")


def run(options: argparse.Namespace) -> int:
    """Merge; one step back in the window."""
    with closing(services_of(options.workspace, demo=options.demo)) as services:
        with wrong_input(), services.workspace.read() as connection:
            bundle = read_bundle(options.file, services.catalogue)
            merge = merge_in(connection, bundle, demo=services.demo)
        if merge.differences and not options.dry_run:
            services.change(lambda db: apply_merge(db, merge, visible(options.file.name)), *KINDS).result()
    _print(merge, as_json=options.json, written=not options.dry_run)
    return Exit.OK


def _print(merge: Merge, *, as_json: bool, written: bool) -> None:
    if as_json:
        print(json.dumps({
            "written": written and bool(merge.differences), "same": merge.same, "unknown": list(merge.bundle.unknown),
            "sections": {name: {"new": new, "changed": changed} for name, (new, changed) in merge.counts().items()},
            "differences": [_as_dict(d) for d in merge.differences],
        }, ensure_ascii=False, indent=1))  # fmt: skip
        return
    for name in merge.bundle.unknown:
        print(f"left out, unknown to this version: {visible(name)}")
    for difference in merge.differences:
        if not difference.new:
            changes = "; ".join(f"{name}: {visible(str(was))[:60]} -> {visible(str(now))[:60]}" for name, was, now in difference.changed)
            print(f"change {difference.record.section.name} {visible(' '.join(difference.record.key))}: {changes}")
    for name, (new, changed) in merge.counts().items():
        print(f"{name}: {new} new, {changed} changed")
    print(f"{merge.same} the same; {'written' if written and merge.differences else 'nothing written'}")


def _as_dict(difference: Difference) -> dict[str, object]:
    return {
        "section": difference.record.section.name, "key": list(difference.record.key), "new": difference.new,
        "changed": {name: [was, now] for name, was, now in difference.changed},
    }  # fmt: skip
