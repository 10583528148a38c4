"""How are the GPUs and network cards of a node wired to each other (`nvidia-smi topo -m`)?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.driver_text import failed_after, no_reading
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.smi_values import without_prefix
from gpulease_gui.facts.table_text import clean, ends_mid_line, value
from gpulease_gui.facts.topo_rows import LINK_WORD, STATUS_WORD, Matrix, Row, read_matrix

FACT = Fact(
    id="topo",
    title=Text("GPU topology", "GPU 拓扑"),
    command=Command("nvidia-smi", "topo", "-m"),
    seconds=40,
    lane="nvidia",
    ok_codes=None,
)

# Best to worst; NV# stands before all of them, more links before fewer. SOC is what drivers before 384 call SYS.
_PCIE_ORDER = ("PIX", "PXB", "PHB", "NODE", "SYS", "SOC")


@dataclass(frozen=True, slots=True)
class GpuPair:
    """The link between two GPUs, `first` < `second` as the node counts them.

    `link` is the word as printed (NV18, PIX, PXB, PHB, NODE, SYS); a word of no known class is kept.
    Where the two rows of a pair disagree, `link` is the worse word.
    """

    first: int
    second: int
    link: str

    @property
    def nvlinks(self) -> int | None:
        """Bonded NVLinks of the pair; None when another class of link joins it."""
        found = re.fullmatch(r"NV(\d+)", self.link)
        return int(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class NicLink:
    """How one GPU reaches one network card; `nic` as in the header (NIC0, mlx5_0)."""

    gpu: int
    nic: str
    link: str


@dataclass(frozen=True, slots=True)
class GpuPlace:
    """Where one GPU sits: CPU and NUMA affinity as printed; None = not told."""

    gpu: int
    cpu_affinity: str | None
    numa_affinity: str | None


@dataclass(frozen=True, slots=True)
class Topology:
    """A matrix of `topo -m` (form "links") or `topo -p2p` (form "p2p", whose words are states, no links).

    `gpu_columns` are the GPU numbers in the header; None = the header is missing. `gpu_rows` are those with a row.
    `disagreeing` are pairs whose two cells name different links. `broken_rows` have no usable cells.
    """

    gpu_columns: tuple[int, ...] | None
    gpu_rows: tuple[int, ...]
    nic_columns: tuple[str, ...] | None
    pairs: tuple[GpuPair, ...]
    nic_links: tuple[NicLink, ...] = ()
    places: tuple[GpuPlace, ...] = ()
    nic_devices: tuple[tuple[str, str], ...] = ()  # ("NIC0", "mlx5_0")
    form: str = "links"
    disagreeing: tuple[tuple[int, int], ...] = ()
    broken_rows: tuple[str, ...] = ()
    nics_hidden: int | None = None  # cards that the node has but the matrix leaves out

    @property
    def gpu_count(self) -> int | None:
        """GPUs in the header; None without a header."""
        return None if self.gpu_columns is None else len(self.gpu_columns)

    @property
    def pairs_expected(self) -> int | None:
        """Unordered pairs that the header's GPUs have; None without a header."""
        return None if self.gpu_count is None else self.gpu_count * (self.gpu_count - 1) // 2

    @property
    def complete(self) -> bool:
        """Is there a word for every pair of the GPUs in the header?"""
        return self.pairs_expected is not None and len(self.pairs) == self.pairs_expected

    @property
    def missing_rows(self) -> tuple[int, ...]:
        """GPUs of the header that have no row."""
        return tuple(gpu for gpu in self.gpu_columns or () if gpu not in self.gpu_rows)

    @property
    def link_counts(self) -> dict[str, int]:
        """Pairs by link word, best word first."""
        seen = sorted((pair.link for pair in self.pairs), key=link_rank)
        return {link: seen.count(link) for link in dict.fromkeys(seen)}

    @property
    def nvlink_all_pairs(self) -> bool | None:
        """Are all GPU pairs joined by NVLink? None when there is no pair or the missing rows could decide it."""
        if self.form != "links" or not self.pairs:
            return None
        if any(pair.nvlinks is None for pair in self.pairs):
            return False
        return True if self.complete else None

    @property
    def worst_link(self) -> str | None:
        """The worst link word; None when there is no pair, a word is unknown, or missing rows could hold a worse one."""
        if self.form != "links" or not self.pairs:
            return None
        last = max((pair.link for pair in self.pairs), key=link_rank)
        known = link_rank(last) < _UNKNOWN_RANK
        return last if known and (self.complete or last in _PCIE_ORDER[-2:]) else None

    def best_nics(self, gpu: int) -> tuple[str, tuple[str, ...]] | None:
        """The best link word of `gpu` to any network card, and the cards at it; None without cards or if some are missing."""
        own = [link for link in self.nic_links if link.gpu == gpu]
        if not own or self.nic_columns is None or len(own) < len(self.nic_columns):
            return None
        best = min((link.link for link in own), key=link_rank)
        return best, tuple(link.nic for link in own if link.link == best)


_UNKNOWN_RANK = 1000
_BARS = re.compile(r"^[ \t]*\|[^\n]*\|[ \t]*GPU0[ \t]*\|", re.MULTILINE)


def link_rank(word: str) -> int:
    """Where a link word stands, lower is better; unknown words stand last (1000)."""
    if re.fullmatch(r"NV\d{1,3}", word):
        return 100 - min(int(word[2:]), 99)
    return 200 + _PCIE_ORDER.index(word) if word in _PCIE_ORDER else _UNKNOWN_RANK


def parse(output: CommandOutput) -> Topology:
    """Read the matrix by its header words. Raises Unreadable: no row of it, or the command failed (the matrix is the reading)."""
    text = _matrix_text(output.text)
    matrix = read_matrix(text, torn=ends_mid_line(text) or output.stdout_cut)
    rows = [row for row in matrix.rows if row.gpu is not None]
    if not rows:
        raise no_reading(output, "topology matrix")
    topology = _topology(text, matrix, rows)
    if output.exit_code:
        raise failed_after(output, topology, "matrix")
    return topology


def _topology(text: str, matrix: Matrix, rows: list[Row]) -> Topology:
    pairs, disagreeing = _pairs(matrix, rows)
    return Topology(
        gpu_columns=matrix.gpu_columns,
        gpu_rows=tuple(dict.fromkeys(row.gpu for row in rows if row.gpu is not None)),
        nic_columns=matrix.nic_columns,
        pairs=pairs,
        nic_links=_nic_links(matrix, rows),
        places=_places(rows),
        nic_devices=tuple(re.findall(r"^[ \t]*(NIC\d+):\s*(\S+)\s*$", text, re.MULTILINE)),
        form=_form(rows),
        disagreeing=disagreeing,
        broken_rows=matrix.broken_rows,
        nics_hidden=_hidden(text),
    )


def _matrix_text(text: str) -> str:
    """`text` cleaned, without the name of a node before every line and without the bars of a table in a chat."""
    bare = without_prefix(clean(text))
    return bare.replace("|", "\t") if _BARS.search(bare) else bare


def _pairs(matrix: Matrix, rows: list[Row]) -> tuple[tuple[GpuPair, ...], tuple[tuple[int, int], ...]]:
    found: dict[tuple[int, int], set[str]] = {}
    shown = {row.gpu for row in rows}
    for row in rows:
        for other, word in _gpu_cells(matrix, row, shown):
            if row.gpu is not None and other != row.gpu:
                found.setdefault((min(row.gpu, other), max(row.gpu, other)), set()).add(word)
    pairs = tuple(GpuPair(a, b, max(words, key=link_rank)) for (a, b), words in sorted(found.items()))
    return pairs, tuple(pair for pair, words in sorted(found.items()) if len(words) > 1)


def _gpu_cells(matrix: Matrix, row: Row, shown: set[int | None]) -> list[tuple[int, str]]:
    """The GPU cells of `row`; without a header only those of GPUs that have a row of their own are sure."""
    if matrix.columns is None:
        return [(number, word) for number, word in enumerate(row.cells) if number in shown and word]
    named = zip(matrix.columns, row.cells, strict=False)
    return [(int(name[3:]), word) for name, word in named if name.startswith("GPU") and word]


def _nic_links(matrix: Matrix, rows: list[Row]) -> tuple[NicLink, ...]:
    return tuple(
        NicLink(row.gpu, name, word)
        for row in rows
        for name, word in zip(matrix.columns or (), row.cells, strict=False)
        if row.gpu is not None and not name.startswith("GPU") and word
    )


def _places(rows: list[Row]) -> tuple[GpuPlace, ...]:
    return tuple(
        GpuPlace(row.gpu, value(row.cpu_affinity), value(row.numa_affinity)) for row in rows if row.gpu is not None
    )


def _form(rows: list[Row]) -> str:
    words = {word for row in rows for word in row.cells if word and word != "X"}
    return "p2p" if words and not any(LINK_WORD.fullmatch(w) for w in words) and words & STATUS_WORD else "links"


def _hidden(text: str) -> int | None:
    found = re.search(r"(\d{1,6}) NICs found in the topology, only displaying (\d{1,6})", text)
    return int(found[1]) - int(found[2]) if found else None


def as_dict(reading: Topology) -> dict[str, object]:
    """The keys of `gpulease parse --kind topo`; per-GPU keys are named GPU0, GPU1, ..."""
    if reading.form == "p2p":
        words = {pair.link for pair in reading.pairs}
        return {
            "form": "topo -p2p",
            "gpus": len(reading.gpu_rows),
            "all_ok": False if words - {"OK"} else (True if reading.complete and words else None),
        }
    nics = {gpu: reading.best_nics(gpu) for gpu in reading.gpu_rows}
    return {
        "gpu_columns": reading.gpu_count,
        "gpu_rows": len(reading.gpu_rows),
        "nic_columns": None if reading.nic_columns is None else len(reading.nic_columns),
        "gpu_pairs_seen": len(reading.pairs),
        "gpu_pairs_total": reading.pairs_expected,
        "gpu_pair_link_counts": reading.link_counts,
        "nvlink_all_pairs": reading.nvlink_all_pairs,
        "worst_link": reading.worst_link,
        "best_nic_link_per_gpu": {f"GPU{gpu}": best[0] for gpu, best in nics.items() if best},
        "closest_nics_per_gpu": {f"GPU{gpu}": list(best[1]) for gpu, best in nics.items() if best},
        "cpu_affinity": {f"GPU{place.gpu}": place.cpu_affinity for place in reading.places},
        "numa_affinity": {f"GPU{place.gpu}": place.numa_affinity for place in reading.places},
    }


def recognise(text: str) -> int:
    """A header of GPU columns with affinities, a legend, or rows of link words."""
    plain = _matrix_text(text[:100_000])
    if re.search(r"CPU\s*Affinity", plain) and re.search(r"\bGPU\d", plain):
        return 95
    if re.search(r"^[ \t]*X\s+=\s+Self", plain, re.MULTILINE):
        return 90
    return 80 if re.search(r"^[ \t]*GPU\d+\s+(X|NV\d+|PIX|PXB|PHB|NODE|SYS|OK)\s", plain, re.MULTILINE) else 0
