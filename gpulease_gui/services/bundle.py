"""What goes into the file that settles a dispute: raw outputs, commands, exit codes, clocks, hashes?"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.text import Text
from gpulease_gui.services.outcome import Outcome, outcome_json
from gpulease_gui.services.whole_file import whole_file
from gpulease_gui.store import evidence, runs
from gpulease_gui.store.workspace import Workspace


def write_bundle(workspace: Workspace, outcome: Outcome, path: Path) -> None:
    """Write the evidence of a run as a ZIP beside its JSON; an existing file is replaced only when all is written.

    Raises UserFacing for a full disk and the like; then nothing is left of it.

    `manifest.json` names every file with its SHA-256, the command, the exit code and our clock (UTC).
    """
    with workspace.read() as connection:
        lines = evidence.list_run_evidence(connection, outcome.run) if outcome.run else ()
        contents = {
            sha: evidence.get_content(connection, sha)
            for line in lines for sha in (line.stdout_sha256, line.stderr_sha256) if sha
        }  # fmt: skip
        run = runs.get_run(connection, outcome.run) if outcome.run else None
    verdict = json.dumps(outcome_json(outcome), ensure_ascii=False, indent=1).encode()
    manifest = {
        "tool_version": run.tool_version if run else None,
        "node_clock_minus_ours_s": run.clock_offset_s if run else None,
        "verdict.json": {"sha256": hashlib.sha256(verdict).hexdigest()},
        "outputs": [
            {
                "fact": line.fact_id, "command": line.command, "collected_at": line.collected_at.isoformat(),
                "exit_code": line.exit_code, "seconds": line.seconds, "stdout": line.stdout_sha256,
                "stderr": line.stderr_sha256, "stdout_cut": line.stdout_cut,
            }
            for line in lines
        ],
    }  # fmt: skip
    named = {"verdict.json": verdict, "manifest.json": json.dumps(manifest, ensure_ascii=False, indent=1).encode()}
    _write_whole(path, {**named, **{f"outputs/{sha}": content for sha, content in contents.items()}})


def refuse_bundle_path(path: Path) -> None:
    """Before a run: raise UsageError for a place where no bundle can be written."""
    folder = path.absolute().parent
    if path.is_dir():
        raise UsageError(Text(f"{path} is a folder", f"{path} 是文件夹"), next_step=Text("Name a file in it, such as evidence.zip", "请写出其中的文件名，如 evidence.zip"))
    if path.exists() and not path.is_file():
        raise UsageError(Text(f"{path} is no ordinary file", f"{path} 不是普通文件"), next_step=Text("Name a file, such as evidence.zip", "请写出文件名，如 evidence.zip"))
    if not folder.is_dir():
        raise UsageError(Text(f"there is no folder {folder}", f"没有文件夹 {folder}"), next_step=Text("Make it first, or name another file", "请先创建，或换一个文件"))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(Text(f"nothing can be written in {folder}", f"无法写入 {folder}"), next_step=Text("Check its permissions, or name another file", "请检查权限，或换一个文件"))


def _write_whole(path: Path, contents: Mapping[str, bytes]) -> None:
    try:
        with whole_file(path) as new, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as file:
            for name, content in contents.items():
                file.writestr(name, content)
    except OSError as error:
        raise UserFacing(
            Text(f"the bundle {path} was not written", f"未能写入证据包 {path}"), os_reason(error), Text("Check the disk; the run itself is saved", "请检查磁盘；验收本身已保存")
        ) from error
