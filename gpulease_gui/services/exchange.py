"""How does a whole workspace travel to another computer, and what would one that comes in change?"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gpulease_gui import __version__
from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.text import Text
from gpulease_gui.reports.run_hash import run_hash
from gpulease_gui.services.acting import recorder
from gpulease_gui.services.exchange_valid import valid_bundle
from gpulease_gui.services.whole_file import whole_file
from gpulease_gui.store import evidence, runs
from gpulease_gui.store.codec import utc_text
from gpulease_gui.store.exchange.bundle import bundle_bytes
from gpulease_gui.store.exchange.bundle_schema import MOST_BYTES, Bundle, parse_bundle
from gpulease_gui.store.exchange.merge_write import write
from gpulease_gui.store.exchange.merging import Merge, compare
from gpulease_gui.store.imported import ImportedFrom, imported_from

if TYPE_CHECKING:
    from gpulease_gui.store.doors import Database, Reader

__all__ = ["CARRIED", "KINDS", "LEFT_OUT", "ImportedFrom", "apply_merge", "export_bundle", "imported_from", "merge_in", "read_bundle", "valid_bundle", "write_private"]

KINDS = (
    "supplier", "offer", "contract", "claim", "terms", "price", "answer", "waiver", "attachment", "site", "rate", "workload", "weight", "template",
    "market", "node", "run", "threshold", "task", "mark",
)  # fmt: skip
CARRIED = Text(
    "Suppliers, sites, offers, contracts, attachments, checklists, nodes, runs with their outputs and findings, what suppliers sent, tasks that ran, saved tasks, what broke the rules of a watched node and is over, with the gaps beside it, notes, "
    "every earlier version, moved figures, the trash.",
    "供应商、机房、报价、合同、附件、清单、节点、验收记录（含原始输出与检查结果）、供应商发来的输出、任务运行记录与已存任务、已结束的监控告警事件（含其前后的缺口）与备注、全部历史版本、已调整的阈值、回收站。",
)
LEFT_OUT = Text(
    "Left out: trust in host keys (each computer decides it), keys, passwords and paths of files, proxies, samples of Live and all other gaps in them, written reports, drafts, the steps that Undo knows.",
    "不包含：主机密钥信任记录（由每台电脑自行确认）、密钥、密码与文件路径、代理、实时监控采样及其余缺口、已生成的报告、草稿、撤销记录。",
)


def _silent() -> None:
    """Nobody wants to stop it."""


def export_bundle(connection: Reader, *, at: datetime, demo: bool, tick: Callable[[], None] = _silent) -> bytes:
    """The whole workspace as one bundle of JSON: `CARRIED`, without `LEFT_OUT`. `at` is UTC.

    `tick` is called between the parts; it may raise Cancelled. Raises UserFacing for what is too large, or was tampered with.
    """
    hashes = {}
    for (run_id,) in connection.execute("SELECT id FROM runs WHERE state <> 'running'").fetchall():
        tick()
        findings = (stored.finding for stored in runs.list_current_findings(connection, run_id))
        hashes[run_id] = run_hash(run_id, findings, [line.stdout_sha256 for line in evidence.list_run_evidence(connection, run_id)])
    return bundle_bytes(connection, hashes, made_at=utc_text(at), tool_version=__version__, demo=demo, tick=tick)


def read_bundle(path: Path, catalogue: Catalogue, tick: Callable[[], None] = _silent) -> Bundle:
    """The bundle in a file, every value such as its term or field can have. Raises UserFacing; nothing is guessed.

    Promises and fields that this version does not know are left out, and named in `unknown`. `tick` may raise Cancelled.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UserFacing(Text(f"{path.name} is too large for a bundle", f"{path.name} 过大，不是数据包"), Text(f"At most {MOST_BYTES / 1e6:,.0f} MB are read", f"最多读取 {MOST_BYTES / 1e6:,.0f} MB"), Text("Copy the workspace file itself instead", "请改为复制工作区文件本身"))
        data = path.read_bytes()
    except OSError as error:
        raise UserFacing(Text(f"{path.name} can't be read", f"无法读取 {path.name}"), os_reason(error), Text("Check the file and its permissions", "请检查该文件及其权限")) from error
    return valid_bundle(parse_bundle(data, tick), catalogue)


def merge_in(connection: Reader, bundle: Bundle, *, demo: bool) -> Merge:
    """What merging the bundle would add and change; writes nothing. Raises UserFacing.

    Demo data and real data never come into one file.
    """
    if bundle.demo != demo:
        raise UserFacing(Text("demo data and real data can't be merged", "演示数据与真实数据不能合并"), Text("This bundle is of the other kind", "此数据包属于另一类"), Text("Open the workspace of its kind", "请打开同类的工作区"))
    return compare(connection, bundle)


def apply_merge(db: Database, merge: Merge, source: str = "") -> int:
    """Write what `merge_in` showed in one transaction, as one step back; how many records were added or changed.

    Runs, earlier states, rates and moved figures are only added, and stay when it is taken back.
    """
    acting = recorder(db, f"merged from {source}" if source else "merged")
    write(acting, merge, source or "a bundle")
    name = source or "a bundle"
    acting.finish(Text(f"merge of {len(merge.differences)} records from {name}", f"从 {source or '数据包'} 合并 {len(merge.differences)} 条记录"))
    return len(merge.differences)


def write_private(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; only its owner may read it. Raises UserFacing; an earlier file stays then."""
    try:
        with whole_file(path, private=True) as file:
            file.write(content)
    except OSError as error:
        raise UserFacing(Text(f"{path.name} was not written", f"未能写入 {path.name}"), os_reason(error), Text("Check the folder and the disk", "请检查文件夹与磁盘")) from error
