"""Totals that are known, each predicted from others of the same table."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.analyse.growth.known_limits import KnownLimit
from assay.analyse.growth.predict import Prediction, predict

HERE = Path(__file__).resolve().parent
PAPERS = HERE.parent.parent / "studies" / "papers"
LINK = 1250.0
"""MB/s of 10 Gbit/s, of each client and server of the BeeGFS paper."""

Totals = dict[int, list[float]]
"""Number of hosts, or of disks -> total of each repeat."""


@dataclass(frozen=True)
class Table:
    """A table of totals.

    Attributes:
        source: Where it is from.
        what: The operation and what it was done to.
        growing: What grows: hosts, disks, tasks.
        limits: What is known to limit it.
        splits: Numbers that are measured, and numbers that are held out.
    """

    source: str
    what: str
    growing: str
    totals: Totals
    limits: tuple[KnownLimit, ...]
    splits: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


@dataclass(frozen=True)
class HeldOut:
    """A total that is known, and its prediction.

    Attributes:
        actual: The mean of its repeats.
    """

    table: Table
    measured: tuple[int, ...]
    actual: float
    prediction: Prediction


def held_out(table: Table) -> Iterator[HeldOut]:
    """Yield each held-out total of a table with its prediction."""
    for measured, asked in table.splits:
        found = predict({count: table.totals[count] for count in measured}, asked, table.limits)
        for count, prediction in zip(asked, found, strict=True):
            repeats = table.totals[count]
            yield HeldOut(table, measured, sum(repeats) / len(repeats), prediction)


def tables() -> Iterator[Table]:
    """Yield all tables: those of papers, and runs of our own."""
    yield from _beegfs(False)
    yield from _beegfs(True)
    yield from _nfs_sizes()
    yield from _render()
    yield from _own()


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def _beegfs(with_links: bool) -> Iterator[Table]:
    rows = [row for row in _read(PAPERS / "beegfs-2016" / "scaling.csv") if row["mb_s"]]
    for option in sorted({row["option"] for row in rows}):
        for operation in ("write", "read"):
            chosen = [row for row in rows if (row["option"], row["operation"]) == (option, operation)]
            totals = {int(row["clients"]): [float(row["mb_s"])] for row in chosen}
            servers = int(chosen[0]["server_count"])
            links = (
                KnownLimit("server link", servers * LINK, False, "10 Gbit/s each"),
                KnownLimit("client link", LINK, True, "10 Gbit/s each"),
            )
            splits = [((2, 4, 8), tuple(count for count in (16, 24) if count in totals))]
            splits += [((2, 4, 8, 16), (24,))] if 24 in totals else []
            source = f"BeeGFS 2016, {'links known' if with_links else 'no limit known'}"
            yield Table(source, f"{option}, {operation}", "hosts", totals, links if with_links else (), tuple(splits))


def _nfs_sizes() -> Iterator[Table]:
    """Yield NFS servers of four sizes, by the disks of each or, on volumes, by tenths of a TB."""
    disks = {row["server"]: int(row["disk_count"]) for row in _read(PAPERS / "nfs-2016" / "servers.csv")}
    rows = _read(PAPERS / "nfs-2016" / "logs.csv")
    for storage in ("instance_store", "ebs_st1"):
        for operation in ("write", "rewrite", "read", "reread"):
            totals: Totals = {}
            for row in rows:
                if (row["storage_kind"], row["operation"]) == (storage, operation):
                    size = disks.get(row["server_type"]) or round(10 * float(row["exported_tb"]))
                    totals[size] = [float(row["children_kb_s"]) * 1024 / 1e6]
            growing = "disks" if storage == "instance_store" else "0.1 TB"
            splits = tuple(_leave_one_out(sorted(totals)))
            yield Table("NFS 2016, servers of other sizes", f"{storage}, {operation}", growing, totals, (), splits)


def _render() -> Iterator[Table]:
    totals: Totals = {}
    for row in _read(PAPERS / "powerscale-2020" / "render-jobs.csv"):
        totals.setdefault(int(row["tasks"]), []).append(float(row["throughput_gbit_s"]) * 125)
    splits = tuple(_leave_one_out(sorted(totals)))
    yield Table("PowerScale 2020, rendering", "mix of reads and writes", "tasks", totals, (), splits)


def _own() -> Iterator[Table]:
    """Yield runs of `studies/nfs-scaling` in clusters in a box, with the limits that the runs measured."""
    rows = _read(HERE / "own.csv")
    for run in dict.fromkeys(row["run"] for row in rows):
        for operation in ("write", "read"):
            chosen = [row for row in rows if (row["run"], row["operation"]) == (run, operation)]
            totals: Totals = {}
            limits: list[KnownLimit] = []
            for row in chosen:
                if row["hosts"]:
                    totals.setdefault(int(row["hosts"]), []).append(float(row["mb_s"]))
                else:
                    limits.append(KnownLimit(row["limit"], float(row["mb_s"]), row["limit"] == "client link", "iperf3"))
            counts = sorted(totals)
            splits = [
                *_leave_one_out(counts),
                (tuple(counts[:-2]), tuple(counts[-2:])),
                (tuple(counts[:-3]), tuple(counts[-3:])),
            ]
            for known in ((), tuple(limits)):
                source = f"our boxes, {'links known' if known else 'no limit known'}"
                yield Table(source, f"{run}, {operation}", "hosts", totals, known, tuple(splits))


def _leave_one_out(counts: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield all other numbers and the one that is left out; the smallest one stays."""
    for count in counts[1:]:
        yield tuple(other for other in counts if other != count), (count,)
