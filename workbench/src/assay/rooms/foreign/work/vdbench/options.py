"""Every parameter of vdbench's definitions, and what becomes of it in a study.

Names are those of the sources of 5.04.06 (MiscParms, HostParms, SD_entry, WD_entry, RD_entry, For_loop, FsdEntry,
FwdEntry, Dedup.java) and of the user guide of 5.04.07. vdbench takes any beginning of a name; the first in the order of
its sources counts.
"""

from typing import Literal, NamedTuple

GENERAL = "general"
KINDS = {"sd": "sd", "wd": "wd", "rd": "rd", "fsd": "fsd", "fwd": "fwd", "hd": "hd", "host": "hd", "rg": "rg"}
"""Word that begins a definition -> its kind."""

Fate = Literal["mapped", "left out", "no effect"]


class VdbenchOption(NamedTuple):
    """What becomes of a parameter.

    Attributes:
        fate: `mapped` to fields of a study; `left out`, which changes the work and is noted; `no effect` on the work.
        why: Where it goes, or why it is left out.
    """

    fate: Fate
    why: str


def _mapped(why: str) -> VdbenchOption:
    return VdbenchOption("mapped", why)


def _left(why: str) -> VdbenchOption:
    return VdbenchOption("left out", why)


def _idle(why: str) -> VdbenchOption:
    return VdbenchOption("no effect", why)


_REPORT = _idle("the run keeps everything: report, assay export")
_HOSTS = _left("name the hosts in the study: hosts: [a, b], and hosts: 2 in its workloads")
_JVM = _idle("engines use all CPUs without several JVMs")
_HITS = _left("there are no cache hits by design: lower file_size for data that fits a cache")
_COMMAND = _left("study files run no commands: run it before, or between two studies")
_JOURNAL = _left("no journal: verify checks the bytes of this run")
_REPLAY = _left("no replay of traces")
_DEDUP = _left("duplicate is a share of copies of a few blocks, without sets")
_ARRIVALS = _mapped("arrivals")
_SHARE = _left("workloads are measured one after another, each alone: how they share the work is left out")
_PART = _left("the whole of file_size is used")
_STREAMS = _left("one stream of offsets for each lane: raise lanes for more")

OPTIONS: dict[str, dict[str, VdbenchOption]] = {
    GENERAL: {
        "compression": _mapped("compressible"),
        "compratio": _mapped("compressible"),
        "compressionseed": _idle("contents follow from the study's seed"),
        "pattern": _left("contents follow from seed, compressible and duplicate"),
        "port": _idle("engines are started over ssh, without a port of their own"),
        "data_errors": _idle("a repeat with errors is no result; all are counted"),
        "dataerrors": _idle("a repeat with errors is no result; all are counted"),
        "swat": _REPORT,
        "validate": _mapped("verify"),
        "journal": _JOURNAL,
        "start_cmd": _COMMAND,
        "startcmd": _COMMAND,
        "end_cmd": _COMMAND,
        "endcmd": _COMMAND,
        "heartbeat_error": _idle("engines that are lost are noticed"),
        "debug": _idle("a matter of vdbench's own"),
        "unix2windows": _left("paths are those of this system"),
        "formatxfersize": _mapped("record_size of format=only; other data is prepared outside the timing"),
        "create_anchors": _idle("the folder is made; the one above it must exist"),
        "formatsds": _idle("data that is read is prepared first, outside the timing"),
        "report": _REPORT,
        "report_run_totals": _REPORT,
        "histogram": _REPORT,
        "psrset": _left("cpus: pins lanes to CPUs"),
        "auxreport": _REPORT,
        "monitor": _idle("Ctrl-C stops a run, assay run --resume goes on"),
        "concatenatesds": _left("each target is measured by itself"),
        "messagescan": _idle("the log of the system is not watched"),
        "abort_failed_skew": _SHARE,
        "misc": _idle("a matter of vdbench's own"),
        "pattern_buffer": _left("contents follow from seed, compressible and duplicate"),
        "showlba": _REPORT,
        "loop": _left("repeats: so many of each case; schedule spreads them over hours"),
        "timeout": _idle("patience: storage that hangs is noticed"),
        "ios_per_jvm": _JVM,
        "dedup": _DEDUP,
        "dedupratio": _mapped("duplicate"),
        "dedupunit": _left("duplicate copies whole blocks, whose size is not a field"),
        "dedupsets": _DEDUP,
        "deduphotsets": _DEDUP,
        "dedupflipflop": _DEDUP,
        "dedupacross": _DEDUP,
        "dedupmaxkey": _DEDUP,
        "dedupseed": _idle("contents follow from the study's seed"),
        "fwd_thread_adjust": _idle("so many lanes as are asked for are started, or none"),
        "sd_sort": _idle("targets stay in the order of the study"),
        "replay": _REPLAY,
    },
    "hd": {
        "system": _HOSTS,
        "vdbench": _idle("hosts get the engine that they need"),
        "shell": _idle("hosts are reached by ssh"),
        "master": _idle("hosts are reached by ssh"),
        "user": _left("the user of ssh is that of its configuration"),
        "jvms": _JVM,
        "clients": _left("clients of one host are its lanes"),
        "mount": _left("mounts of the target: Assay makes them"),
    },
    "sd": {
        "hd": _HOSTS,
        "host": _HOSTS,
        "lun": _mapped("targets"),
        "count": _mapped("targets: one for each"),
        "size": _mapped("file_size"),
        "threads": _mapped("queue_depth"),
        "hitarea": _HITS,
        "offset": _PART,
        "align": _left("records are aligned to their own size"),
        "kstat": _REPORT,
        "instance": _REPORT,
        "replay": _REPLAY,
        "journal": _JOURNAL,
        "resetlun": _left("devices are not reset"),
        "resetbus": _left("devices are not reset"),
        "openflags": _mapped("cache and sync"),
        "range": _PART,
        "streams": _STREAMS,
        "dedup": _DEDUP,
        "dedupratio": _mapped("duplicate"),
        "dedupunit": _DEDUP,
        "dedupsets": _DEDUP,
    },
    "wd": {
        "sd": _mapped("targets"),
        "skew": _SHARE,
        "xfersize": _mapped("record_size"),
        "rdpct": _mapped("operations and read_percent"),
        "readpct": _mapped("operations and read_percent"),
        "writepct": _mapped("operations and read_percent"),
        "wrpct": _mapped("operations and read_percent"),
        "range": _PART,
        "hotband": _left("all records are equally likely"),
        "seekpct": _mapped("operations"),
        "stride": _left("stride_read has one distance, and the operation of this is another"),
        "priority": _SHARE,
        "iorate": _mapped("rate"),
        "rhpct": _HITS,
        "whpct": _HITS,
        "host": _HOSTS,
        "hd": _HOSTS,
        "openflags": _mapped("cache and sync"),
        "user": _left("no classes of users' own"),
        "threads": _mapped("queue_depth"),
        "streams": _STREAMS,
    },
    "rd": {
        "wd": _mapped("workloads"),
        "sd": _mapped("targets"),
        "fsd": _mapped("targets"),
        "iorate": _mapped("rate"),
        "maxdata": _mapped("time_limit in place of runtime, if it is 1: once over the data"),
        "maxdataread": _mapped("time_limit in place of runtime, if it is 1: once over the data"),
        "maxdatawritten": _mapped("time_limit in place of runtime, if it is 1: once over the data"),
        "skew": _SHARE,
        "curve": _left(
            "percents of the highest rate, which nobody knows yet: measure it first, then write rate: [...]"
        ),
        "stopcurve": _left("no curve"),
        "elapsed": _mapped("runtime"),
        "interval": _mapped("output.interval"),
        "warmup": _left("results count as soon as all lanes are at work: no warmup is left out"),
        "replay": _REPLAY,
        "pause": _left("cases follow each other; schedule spreads them over hours"),
        "distribution": _ARRIVALS,
        "start_cmd": _COMMAND,
        "startcmd": _COMMAND,
        "end_cmd": _COMMAND,
        "endcmd": _COMMAND,
        "fwd": _mapped("workloads"),
        "fwdrate": _mapped("rate"),
        "operations": _mapped("operations"),
        "format": _mapped("files are prepared outside the timing; only: operation write"),
        "openflags": _mapped("cache and sync"),
        "mount": _left("mounts of the target: Assay makes them"),
        "forxfersize": _mapped("record_size"),
        "forthreads": _mapped("queue_depth or lanes"),
        "forrdpct": _mapped("operations and read_percent"),
        "forrhpct": _HITS,
        "forwhpct": _HITS,
        "forseekpct": _mapped("operations"),
        "forhitarea": _HITS,
        "forcompratio": _mapped("compressible"),
        "forcompression": _mapped("compressible"),
        "fordepth": _mapped("depth"),
        "forwidth": _mapped("width"),
        "forfiles": _mapped("total_files"),
        "forsizes": _mapped("file_size"),
        "fortotalsize": _left("total_files says how many files there are"),
        "forworkingsetsize": _PART,
        "forwss": _PART,
        "foroperations": _mapped("operations"),
        "foriorate": _mapped("rate"),
        "forfwdrate": _mapped("rate"),
        "xfersize": _mapped("record_size"),
        "threads": _mapped("queue_depth or lanes"),
        "rdpct": _mapped("operations and read_percent"),
        "rhpct": _HITS,
        "whpct": _HITS,
        "seekpct": _mapped("operations"),
        "hitarea": _HITS,
        "compratio": _mapped("compressible"),
        "compression": _mapped("compressible"),
        "depth": _mapped("depth"),
        "width": _mapped("width"),
        "files": _mapped("total_files"),
        "sizes": _mapped("file_size"),
        "totalsize": _left("total_files says how many files there are"),
        "workingsetsize": _PART,
        "wss": _PART,
    },
    "fsd": {
        "anchor": _mapped("targets"),
        "journal": _JOURNAL,
        "host": _HOSTS,
        "hd": _HOSTS,
        "width": _mapped("width"),
        "depth": _mapped("depth"),
        "sizes": _mapped("file_size or file_sizes"),
        "shared": _idle("hosts may all work in one tree: layout: shared"),
        "wss": _PART,
        "workingsetsize": _PART,
        "total_size": _left("total_files says how many files there are"),
        "totalsize": _left("total_files says how many files there are"),
        "files": _mapped("total_files"),
        "distribution": _mapped("inner"),
        "cleanup": _idle("files are removed at the end"),
        "openflags": _mapped("cache and sync"),
        "log": _REPORT,
        "count": _mapped("shares of the target"),
    },
    "fwd": {
        "fsd": _mapped("targets"),
        "readpct": _mapped("operations and read_percent"),
        "rdpct": _mapped("operations and read_percent"),
        "stopafter": _left("each file is used whole"),
        "operation": _mapped("operations"),
        "fileselect": _mapped("file_order"),
        "fileio": _mapped("operations"),
        "xfersizes": _mapped("record_size"),
        "skew": _SHARE,
        "threads": _mapped("lanes"),
        "target": _left("files are not copied or moved"),
        "host": _HOSTS,
        "hd": _HOSTS,
        "openflags": _mapped("cache and sync"),
    },
    "rg": {"devices": _REPLAY, "size": _REPLAY},
}
"""Kind of definition -> parameter -> what becomes of it."""


def option_of(kind: str, word: str) -> str | None:
    """Return the whole name of a parameter, of which any beginning may be written; None if there is none."""
    if word in OPTIONS[kind]:
        return word
    return next((name for name in OPTIONS[kind] if word and name.startswith(word)), None)
