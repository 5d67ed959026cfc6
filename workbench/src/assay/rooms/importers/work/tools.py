"""The tools whose outputs can be imported."""

from collections.abc import Callable
from typing import Any, NamedTuple

from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work import fio, fio_measured, io500, ior, iozone, mdtest, table
from assay.rooms.importers.work.databases import hammerdb, pgbench, ycsb
from assay.rooms.importers.work.disks import (
    bonnie,
    crystaldiskmark,
    dbench,
    dd,
    diskspd,
    diskspd_spans,
    hdparm,
    ioping,
    sysbench,
)
from assay.rooms.importers.work.elbencho import importer as elbencho
from assay.rooms.importers.work.fio_text import importer as fio_text
from assay.rooms.importers.work.iperf import importer as iperf
from assay.rooms.importers.work.iperf import importer3 as iperf3
from assay.rooms.importers.work.network import ping, sockperf
from assay.rooms.importers.work.results import ImportOptions, ToolOutput
from assay.rooms.importers.work.suites import dlio, perfkit, phoronix
from assay.rooms.importers.work.vdbench import reader as vdbench
from assay.rooms.importers.work.warp import importer as warp
from assay.rooms.importers.work.warp import measured as warp_measured


class Importer(NamedTuple):
    """Reads the outputs of one tool.

    Attributes:
        name: Name of the tool.
        forms: What it reads, in words.
        recognise: Whether a text is its output, by what the text says.
        read: Returns all outputs in a text; raises `OutputError`. Arguments: the text, what is known of the file, and
            what the user states besides.
        reads_long: Reads texts of any length, and takes no more memory for a longer one.
        shorter: How a text becomes shorter that is too long to be held; only where that matters.
    """

    name: str
    forms: str
    recognise: Callable[[str], bool]
    read: Callable[[Any, ImportedFile, ImportOptions], list[ToolOutput]]
    reads_long: bool = False
    shorter: str = "give the outputs one by one"


IMPORTERS = (
    Importer(fio_measured.NAME, "fio's JSON (--output-format=json or json+)", fio.recognise, fio.read, True),
    Importer(fio_measured.NAME, "fio's normal or terse output", fio_text.recognise, fio_text.read, True),
    Importer(iozone.NAME, "iozone's text", iozone.recognise, iozone.read),
    Importer(ior.NAME, "IOR's text, JSON or CSV", ior.recognise, ior.read),
    Importer(mdtest.NAME, "mdtest's text", mdtest.recognise, mdtest.read),
    Importer(io500.NAME, "IO500's result.txt or result_summary.txt", io500.recognise, io500.read),
    Importer(
        "vdbench",
        "vdbench's console, flatfile, summary, totals or histogram.html",
        vdbench.recognise,
        vdbench.read,
        True,
    ),
    Importer(elbencho.NAME, "elbencho's text, CSV or JSON", elbencho.recognise, elbencho.read),
    Importer(warp_measured.NAME, "warp's text, JSON or log of operations", warp.recognise, warp.read, True),
    Importer(iperf.NAME, "iperf 2's text or CSV", iperf.recognise, iperf.read, True),
    Importer(iperf3.NAME, "iperf3's JSON or text", iperf3.recognise, iperf3.read, True),
    Importer(ping.NAME, "ping's text", ping.recognise, ping.read, True),
    Importer(sockperf.NAME, "sockperf's text", sockperf.recognise, sockperf.read, True),
    Importer(ycsb.NAME, "YCSB's text or JSON", ycsb.recognise, ycsb.read, True),
    Importer(pgbench.NAME, "pgbench's text", pgbench.recognise, pgbench.read, True),
    Importer(hammerdb.NAME, "HammerDB's log or timing profile", hammerdb.recognise, hammerdb.read),
    Importer(perfkit.NAME, "PerfKitBenchmarker's samples", perfkit.recognise, perfkit.read),
    Importer(dlio.NAME, "summary.json or log of DLIO (MLPerf Storage)", dlio.recognise, dlio.read),
    Importer(diskspd_spans.NAME, "diskspd's text or XML", diskspd.recognise, diskspd.read),
    Importer(crystaldiskmark.NAME, "CrystalDiskMark's text", crystaldiskmark.recognise, crystaldiskmark.read),
    Importer(dd.NAME, "dd's statistics", dd.recognise, dd.read, True),
    Importer(bonnie.NAME, "bonnie++'s table or line of values", bonnie.recognise, bonnie.read),
    Importer(dbench.NAME, "dbench's text", dbench.recognise, dbench.read),
    Importer(ioping.NAME, "ioping's text, raw statistics or JSON", ioping.recognise, ioping.read, True),
    Importer(sysbench.NAME, "sysbench's text", sysbench.recognise, sysbench.read, True),
    Importer(hdparm.NAME, "hdparm's timings", hdparm.recognise, hdparm.read),
    Importer(phoronix.NAME, "result files of the Phoronix Test Suite (XML or JSON)", phoronix.recognise, phoronix.read),
    Importer(
        table.NAME,
        "a table (CSV, Markdown, or a spreadsheet)",
        table.recognise,
        table.read,
        shorter="leave out rows or columns",
    ),
)
"""All tools; the first that recognises a text reads it. Tables are last: outputs of tools may look like tables."""
