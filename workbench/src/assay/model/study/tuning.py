"""Definitions of the parameters by which experts choose polling, memory and placement of the engine."""

from assay.model.site.cpus import cpu_numbers
from assay.model.study import axis
from assay.model.study.names import DATA, METADATA
from assay.model.study.parameter import Parameter


def _cpu_list(value: str | None) -> list[int]:
    return list(cpu_numbers(value)) if value is not None else []


ON_FILES = DATA + METADATA
"""Operations on files and devices."""

SQPOLL = Parameter(
    kind=axis.flag(),
    about="With method: io_uring, a kernel thread takes the submissions; it keeps a CPU busy.",
    heading="A kernel thread took the submissions",
    unknown_text="whether a kernel thread took the submissions",
    title="SQPOLL",
    report_row="setting",
    job="tuning.sqpoll",
    needs=(("method", ("io_uring",)),),
    used_by=ON_FILES,
)
IOPOLL = Parameter(
    kind=axis.flag(),
    about="With method: io_uring and cache: direct, lanes poll for completions.",
    heading="Completions were polled for",
    unknown_text="whether completions were polled for",
    title="IOPOLL",
    report_row="setting",
    job="tuning.iopoll",
    needs=(("method", ("io_uring",)),),
    used_by=ON_FILES,
)
HUGE_PAGES = Parameter(
    kind=axis.flag(),
    about="I/O buffers in huge pages, which the host must have reserved.",
    heading="I/O buffers in huge pages",
    unknown_text="whether the buffers were in huge pages",
    report_row="setting",
    job="tuning.huge_pages",
)
CPUS = Parameter(
    kind=axis.cpus(),
    about="CPUs to pin lanes to, such as 0-3,6: lane i runs on the (i modulo n)-th. Left out: the kernel decides.",
    heading="CPUs that lanes were pinned to",
    unknown_text="whether lanes were pinned to CPUs",
    title="CPUs",
    report_row="setting",
    job="tuning.cpus",
    to_job=_cpu_list,
    of_programs=True,
)
NUMA_NODE = Parameter(
    kind=axis.whole(0, 1023, optional=True),
    about="NUMA node whose memory holds the buffers and, without cpus, on whose CPUs the lanes run.",
    heading="NUMA node of the buffers",
    unknown_text="on which NUMA node the buffers were",
    title="NUMA node",
    report_row="setting",
    job="tuning.numa_node",
)
