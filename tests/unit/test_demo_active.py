"""Are measuring commands understood in the forms in which they can be sent?"""

from __future__ import annotations

import pytest

from gpulease_gui.demo.active import LOAD, TICKS, Call, call_of
from gpulease_gui.demo.fio_report import filled, fio_json
from gpulease_gui.demo.nodes import demo_nodes
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.facts import clock_ticks, cpu_load, disk_fill, disk_sustained, iperf3_json
from gpulease_gui.facts.fio_json import command as sequential_command
from gpulease_gui.facts.fio_set import fio_test


@pytest.mark.parametrize(
    ("argv", "call"),
    [
        (("fio", "--rw=read", "--runtime=5"), Call("fio", ("--rw=read", "--runtime=5"))),
        (("timeout", "30", "/usr/bin/iperf3", "-c", "h"), Call("iperf3", ("-c", "h"))),
        (("sh", "-c", "cd /tmp && iperf3 -c h -p 7\necho done"), Call("iperf3", ("-c", "h", "-p", "7"))),
        (("sh", "-c", "command -v fio; df -P ."), Call("", ("command", "-v", "fio", ";", "df", "-P", "."))),
        (("sh", "-c", "echo 'broken"), Call("", ())),
    ],
)
def test_that_the_tool_is_found_in_the_words(argv: tuple[str, ...], call: Call) -> None:
    assert call_of(argv) == call


def test_that_the_commands_of_the_facts_are_understood() -> None:
    server, client = iperf3_json.server_command(5203).argv, iperf3_json.client_command("peer", 5203, 7, 8, True).argv
    assert (call_of(server).is_server, call_of(server).once, call_of(server).port) == (True, True, 5203)
    assert (call_of(client).is_server, call_of(client).port, call_of(client).option("-t", "--time")) == (
        False,
        5203,
        "7",
    )
    assert call_of(sequential_command("write", 5, 256, True).argv).option("-x", "--rw") == "write"


def test_that_the_commands_of_the_other_measurements_are_understood() -> None:
    assert call_of(("ping", "-c", "50", "-i", "0.2", "-q", "peer")).option("-c", "--count") == "50"
    assert call_of(("sh", "-c", clock_ticks.command(5).line)) == Call(TICKS, ("0.25 0.25 5",))
    assert call_of(("sh", "-c", cpu_load.command(20).line)) == Call(LOAD, ("20",))
    logged = call_of(("sh", "-c", disk_sustained.command(7, 256).line))
    assert (logged.tool, logged.option("-x", "--runtime")) == ("fio", "7")
    assert call_of(("sh", "-c", disk_fill.command(500, 9).line)).option("-x", "--io_size") == "8M"
    assert call_of(("iperf3", "-s", "-p", "$port")).port == 5201


def test_that_each_form_of_fio_is_answered_in_its_own_words() -> None:
    machine = demo_nodes()["honest"].machine
    words = {"rw": "randread", "bs": "4k", "direct": "1"}
    disk = max(machine.disks, key=lambda d: d.read_mb_s)
    random = fio_test(CommandOutput(fio_json(machine, words, 5.0).encode()), reads=True)
    assert random.iops == pytest.approx(disk.read_mb_s * 0.3e6 / 4096, rel=0.02)
    flushed = fio_test(CommandOutput(fio_json(machine, {"rw": "write", "bs": "4k", "fsync": "1"}, 5.0).encode()), reads=False)
    assert flushed.sync_p99_ms is not None and 0.1 < flushed.sync_p99_ms < 5
    course = fio_test(
        CommandOutput(fio_json(machine, {"rw": "write", "write_bw_log": "x", "direct": "1"}, 4.0).encode()), reads=False
    )
    assert [point.end_s for point in course.series] == [1.0, 2.0, 3.0, 4.0]
    run = CommandOutput(filled(machine, {"rw": "randread", "verify": "crc32c", "io_size": "8M"}).encode())
    fill = disk_fill.parse(
        disk_fill.combine(run, target_mib=800, total_mib=None, free_mib=None, seconds=5, filesystem=None)
    )
    assert (fill.fill.io_bytes, fill.fill.trouble, fill.verify.trouble) == (900 * 1024 * 1024, "", "")
