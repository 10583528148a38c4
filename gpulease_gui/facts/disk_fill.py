"""Can the free space of the disk really be written, and does it give back what was written?"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.fio_set import FioTest, Point, fio_test, logged
from gpulease_gui.facts.json_text import count, document, words
from gpulease_gui.facts.keyed_lines import whole
from gpulease_gui.facts.raw_runs import pack, unpack

SAMPLE_PERCENT = 1
_VERIFY_MARK = "gpulease read back after"
_JOB = ("--name=gpulease", "--filename=gpulease-fio.bin", "--bs=1M", "--ioengine=libaio", "--iodepth=16", "--direct=1")


def command(size_mib: int, seconds: int) -> Command:
    """Random data with a checksum in every block, until `size_mib` or `seconds`; then a hundredth is read back.

    Random data, because zeros and patterns are packed or dropped by thin storage. The read-back takes blocks from all
    over what was written; it follows in the same folder, which goes away with the file.
    """
    size = (f"--size={size_mib}M",)
    fill = (*_JOB, *size, "--rw=write", "--verify=crc32c", "--do_verify=0", "--verify_state_save=0", f"--runtime={seconds}")
    sample = max(8, size_mib * SAMPLE_PERCENT // 100)
    read = (*_JOB, "--rw=randread", "--norandommap", "--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0", f"--io_size={sample}M")
    both = "--output-format=json"
    verify = shlex.join(("fio", *read, both)) + ' --size="$b"'
    # The file may be shorter than asked for: only what was written is read back.
    return Command(
        script=f"{logged((*fill, both))}b=$(wc -c <gpulease-fio.bin)\n"
        f"printf '\\n%s %d\\n' {shlex.quote(_VERIFY_MARK)} $c\n{verify}\n"
    )


FACT = Fact(
    id="disk_fill",
    title=Text("Disk capacity, written and read back", "磁盘容量（写入并回读）"),
    command=command(1024, 300),
    seconds=900,
    impact=Impact.DISRUPTIVE,
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class DiskFill:
    """What was written and read back; sizes in MiB, None = not told.

    `total_mib` and `free_mib` are the file system's own figures before the test. `target_mib` is what had to be written.
    """

    fill: FioTest
    verify: FioTest
    target_mib: int | None = None
    total_mib: int | None = None
    free_mib: int | None = None
    seconds: int | None = None
    filesystem: str | None = None

    @property
    def series(self) -> tuple[Point, ...]:
        """The write rate over time."""
        return self.fill.series


def combine(
    run: CommandOutput, *, target_mib: int, total_mib: int | None, free_mib: int | None, seconds: int, filesystem: str | None
) -> CommandOutput:
    """One output that holds the run and its setting."""
    whole_run = {
        "fill": pack(run), "target_mib": target_mib, "total_mib": total_mib, "free_mib": free_mib, "seconds": seconds,
        "filesystem": filesystem,
    }  # fmt: skip
    return CommandOutput(json.dumps(whole_run, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> DiskFill:
    """Read a combined output. Raises Unreadable when there is no run in it."""
    found = document(output.text)
    runs = unpack(found.get("fill"))
    if len(runs) != 1:
        raise Unreadable("the disk was not written", code=Reason.NOT_COLLECTED)
    first, mark, rest = runs[0].text.partition(f"\n{_VERIFY_MARK} ")
    told, _, second = rest.partition("\n")
    written = _part(first, runs[0], whole(told) if mark else runs[0].exit_code)
    read_back = _part(second, runs[0], runs[0].exit_code)
    return DiskFill(
        fill=fio_test(written, reads=False),
        verify=fio_test(read_back, reads=True) if mark else FioTest(trouble="nothing was read back", code=Reason.UNREADABLE),
        target_mib=count(found, "target_mib"),
        total_mib=count(found, "total_mib"),
        free_mib=count(found, "free_mib"),
        seconds=count(found, "seconds"),
        filesystem=words(found, "filesystem"),
    )


def _part(text: str, run: CommandOutput, code: int | None) -> CommandOutput:
    """One of the two runs. Their error streams are one, so its words count only where there is no document."""
    return CommandOutput(text.encode(), b"" if "{" in text else run.stderr, code)


def as_dict(reading: DiskFill) -> dict[str, object]:
    """Bytes and errors of both parts, sizes in MiB, count of points."""
    return {
        "written_bytes": reading.fill.io_bytes,
        "write_error": reading.fill.error,
        "write_trouble": reading.fill.trouble or None,
        "read_back_bytes": reading.verify.io_bytes,
        "read_back_error": reading.verify.error,
        "read_back_trouble": reading.verify.trouble or None,
        "points": len(reading.fill.series),
        "target_mib": reading.target_mib,
        "total_mib": reading.total_mib,
        "free_mib": reading.free_mib,
        "seconds": reading.seconds,
        "filesystem": reading.filesystem,
    }


def recognise(text: str) -> int:
    """Sure of our own keys."""
    return 99 if text.lstrip().startswith('{"fill": ') and '"target_mib"' in text else 0
