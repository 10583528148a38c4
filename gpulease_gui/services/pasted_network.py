"""What do iperf3, ibstat, ibv_devinfo and ethtool, as a supplier runs them, say in the words of our own facts?"""

from __future__ import annotations

from gpulease_gui.facts.ethtool import LinkSettings
from gpulease_gui.facts.ibstat import IbReport
from gpulease_gui.facts.ibv_devinfo import RdmaReport
from gpulease_gui.facts.iperf3_json import IperfRun
from gpulease_gui.facts.iperf3_text import IperfText
from gpulease_gui.facts.iperf_pair import IperfPair, IperfTry
from gpulease_gui.facts.net_links import ETHERNET_TYPE, Link, NetLinks, RdmaPort


def pair_of(run: IperfRun) -> IperfPair:
    """The direction is told by -R; without it, or both ways at once, nobody knows which way it was."""
    tried = (IperfTry(run, run.error or ""),)
    if run.reverse is None or run.bidirectional:
        return IperfPair()
    return IperfPair(backward=tried) if run.reverse else IperfPair(forward=tried)


def run_of_text(text: IperfText) -> IperfRun:
    """The summary of a plain run; a UDP one has no rate here, an interrupted one is no result."""
    sender, receiver = text.of_side("sender"), text.of_side("receiver")
    is_udp = any(summary.total_packets is not None for summary in text.summaries)
    return IperfRun(
        version=text.version, error=text.error or ("the test was interrupted" if text.interrupted else None),
        protocol="UDP" if is_udp else "TCP", streams=len(text.streams) or None, reverse=text.reverse, bidirectional=text.bidirectional,
        sent_gbit_s=sender.gbit_s if sender and not is_udp else None,
        received_gbit_s=receiver.gbit_s if receiver and not is_udp and not text.torn_row else None,
        retransmits=sender.retransmits if sender else None, whole_document=False,
    )  # fmt: skip


def ports_of_ibstat(report: IbReport) -> NetLinks:
    """Every port that the tool lists; one whose state is not told is neither up nor down."""
    ports = tuple(
        RdmaPort(
            f"{adapter.name}/{port.number}", port.link_layer, None if port.state is None else port.active, port.link_gbit_s
        )
        for adapter, port in report.ports
    )
    return NetLinks((), ports, rdma_visible=True)


def ports_of_devinfo(report: RdmaReport) -> NetLinks:
    """The ports with their states; this tool prints no rate."""
    ports = tuple(
        RdmaPort(f"{device.name}/{port.number}", port.link_layer, None if port.state is None else port.state == "PORT_ACTIVE")
        for device in report.devices
        for port in device.ports or ()
    )
    return NetLinks((), ports, rdma_visible=bool(ports))


def link_of(settings: LinkSettings) -> NetLinks:
    """One interface; the node may have faster ones, so a second port of unknown speed stands beside it."""
    up = {"yes": True, "no": False}.get((settings.link_detected or "").lower())
    state = {True: "up", False: "down"}.get(up) if up is not None else None
    link = Link(
        settings.interface or "?", ETHERNET_TYPE, state, up, None, settings.speed_mbit_s if up else None, has_device=True
    )
    others = Link("other ports", ETHERNET_TYPE, "up", has_device=True)
    return NetLinks((link, others), (), rdma_visible=False)
