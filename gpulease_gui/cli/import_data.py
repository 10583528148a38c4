"""How does a bundle from another computer come into the workspace?"""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from pathlib import Path

from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.workspace_file import services_of, wrong_input
from gpulease_gui.domain.text import visible
from gpulease_gui.services.exchange import KINDS, LEFT_OUT, apply_merge, merge_in, read_bundle
from gpulease_gui.store.exchange.merging import Difference, Merge


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease import-data`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="what export-data --format json wrote")
    parser.add_argument("--prefer", choices=("later", "file"), default="later", help="what counts where both sides changed a record (default: the later change)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be added and changed; write nothing (without it the bundle is merged)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="the workspace to merge into; made if it is not there")
    parser.add_argument("--demo", action="store_true", help="the workspace is the demo's")


def run(options: argparse.Namespace) -> int:
    """Merge; one step back in the window."""
    with closing(services_of(options.workspace, demo=options.demo)) as services:
        with wrong_input(), services.workspace.read() as connection:
            bundle = read_bundle(options.file, services.catalogue)
            merge = merge_in(connection, bundle, demo=services.demo)
        merge = merge.taking_all if options.prefer == "file" else merge
        if merge.has_work and not options.dry_run:
            services.change(lambda db: apply_merge(db, merge, visible(options.file.name)), *KINDS).result()
    _print(merge, as_json=options.json, written=not options.dry_run)
    return Exit.OK


def _print(merge: Merge, *, as_json: bool, written: bool) -> None:
    if as_json:
        print(json.dumps({
            "written": written and merge.has_work, "same": merge.same, "unknown": list(merge.bundle.unknown),
            "sections": {name: {"new": new, "changed": changed} for name, (new, changed) in merge.counts().items()}, "removed": merge.removed(),
            "differences": [_as_dict(d) for d in merge.differences], "kept": [_as_dict(d) for d in merge.kept],
        }, ensure_ascii=False, indent=1))  # fmt: skip
        return
    for name in merge.bundle.unknown:
        print(f"left out, unknown to this version: {visible(name)}")
    for difference in merge.differences:
        if difference.removed_at:
            print(f"remove {_name(difference)}: {_said(difference)} was taken back there at {visible(difference.removed_at)}{_both(difference)}")
        elif not difference.new:
            print(f"change {_name(difference)}: {_changes(difference)}{_both(difference)}")
    for difference in merge.kept:
        if difference.removed_at or difference.new:
            why = f"it was taken back there at {visible(difference.removed_at)}; here it was changed later" if difference.removed_at else "it was removed here later"
            print(f"keep {'' if difference.removed_at else 'out '}{_name(difference)}: {why}")
            continue
        print(f"keep {_name(difference)}: {_changes(difference)} is not taken (changed here later{'; it stays in the history' if difference.both else ''})")
    for name, (new, changed) in merge.counts().items():
        print(f"{name}: {new} new, {changed} changed")
    for name, gone in merge.removed().items():
        print(f"{name}: {gone} removed")
    if any(merge.bundle.of("runs")):
        print(f"runs of the file are shown as imported, not measured by this computer; {LEFT_OUT.en[0].lower()}{LEFT_OUT.en[1:]}")
    print(f"{merge.same} the same, {len(merge.kept)} kept; {'written' if written and merge.has_work else 'nothing written'}")


def _both(difference: Difference) -> str:
    if difference.theirs is not None:
        return " (changed on both sides: the edits are joined)"
    return " (changed here, too; the change in the file is later)" if difference.both else ""


def _said(difference: Difference) -> str:
    return ", ".join(f"{name} {visible(str(value))[:60]}" for name, value in difference.record.fields if value not in (None, ""))


def _name(difference: Difference) -> str:
    return f"{difference.record.section.name} {visible(' '.join(difference.record.key))}"


def _changes(difference: Difference) -> str:
    changes = [f"{name}: {visible(str(was))[:60]} -> {visible(str(now))[:60]}" for name, was, now in difference.changed]
    return "; ".join([*(["out of the trash"] if difference.back else []), *changes])


def _as_dict(difference: Difference) -> dict[str, object]:
    return {
        "section": difference.record.section.name, "key": list(difference.record.key), "new": difference.new,
        "both_changed": difference.both, "from_trash": difference.back, "removed_at": difference.removed_at or None,
        "changed": {name: [was, now] for name, was, now in difference.changed},
    }  # fmt: skip
