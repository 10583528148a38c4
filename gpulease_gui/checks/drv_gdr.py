"""Can network cards reach GPU memory directly?"""

from __future__ import annotations

import re

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.device_nodes import DeviceNodes
from gpulease_gui.facts.net_links import NetLinks

DMA_BUF_KERNEL = (5, 12)

CHECK = Check(
    id="drv.gdr",
    title=Text("GPUDirect RDMA", "GPUDirect RDMA"),
    why=Text(
        "Without it every byte between nodes goes through main memory first.",
        "没有它，节点间每个字节都要先经过主机内存。",
    ),
    facts=("device_nodes",),
    optional=("net_links",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_LOAD = Text("ask the supplier to load nvidia_peermem, or to install the open kernel modules", "请供应商加载 nvidia_peermem，或安装开源内核模块")
_PROBE = Text("measure it: run ib_write_bw with --use_cuda between two nodes", "请实测：在两节点间运行 ib_write_bw --use_cuda")
_PEERS = frozenset(["nvidia_peermem", "nv_peer_mem"])


def judge(devices: DeviceNodes, net: NetLinks | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured names the way in. The node only says that the way is there, not that it is fast."""
    rented = any(promise.get(term) for term in ("rdma.ports", "rdma.gbit_s")) or _kind(promise) in ("infiniband", "roce")
    loaded = sorted(_PEERS & set(devices.modules)) or list(devices.peers)
    if loaded:
        return (_finding(Verdict.PASS, Text(f"{loaded[0][:40]} is loaded", f"已加载 {loaded[0][:40]}"), loaded[0][:40]),)
    if net is not None and not net.rdma and not rented:
        return (CHECK.finding(Verdict.NOT_APPLICABLE, Text("no RDMA port is here, none was promised", "此处没有 RDMA 端口，也未承诺")),)
    version = _kernel(devices.kernel)
    if version is None or not devices.modules:
        hidden = Text("the loaded modules can't be seen here", "此处看不到已加载的内核模块")
        return (_finding(Verdict.INCONCLUSIVE, hidden, None, "not_visible", _PROBE),)
    if version < DMA_BUF_KERNEL:
        old = Text("no peer module is loaded, and the kernel is too old for DMA-BUF", "未加载 peer 模块，且内核过旧不支持 DMA-BUF")
        return (_finding(Verdict.WARN, old, "none", "no_gdr", _LOAD),)
    perhaps = Text("no peer module is loaded; DMA-BUF may serve instead", "未加载 peer 模块；可能走 DMA-BUF")
    return (_finding(Verdict.INCONCLUSIVE, perhaps, "dma-buf?", "dma_buf_unproven", _PROBE),)


def _kind(promise: Promise) -> str:
    stated = promise.get("network.kind")
    return str(stated.value) if stated else ""


def _kernel(words: str | None) -> tuple[int, int] | None:
    found = re.match(r"(\d{1,3})\.(\d{1,3})", words or "", re.ASCII)
    return (int(found[1]), int(found[2])) if found else None


def _finding(verdict: Verdict, reason: Text, way: str | None, code: str = "", step: Text = NO_TEXT) -> Finding:
    return CHECK.finding(verdict, reason, measured=way, reason_code=code, next_step=step)
