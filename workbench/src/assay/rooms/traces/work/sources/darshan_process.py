"""The process that opens a log of Darshan and prints it as `darshan-dxt-parser` or `darshan-parser` would.

It imports nothing of Assay: the library of Darshan is C, and a damaged log may end it.
"""

import os
import resource
import sys
from collections.abc import Iterator
from typing import Any

MAX_BYTES = 4 << 30
"""Memory at most."""
MAX_TEXT = 16 << 30
"""Bytes of text at most."""
EXIT_NO_OPERATIONS = 3
"""The log has none of the modules DXT_POSIX, POSIX and STDIO."""
_KINDS = (("write", "write_segments"), ("read", "read_segments"))


def text_lines(log: Any) -> Iterator[str]:
    """Yield the lines of a log: of its trace if it has one, else of its sums.

    Args:
        log: What `darshan.backend.cffi_backend.log_open` returns.
    """
    from darshan.backend import cffi_backend as backend

    modules = backend.log_get_modules(log)
    wanted = ["DXT_POSIX"] if "DXT_POSIX" in modules else [one for one in ("POSIX", "STDIO") if one in modules]
    if not wanted:
        sys.exit(EXIT_NO_OPERATIONS)
    yield "# darshan log version:"
    yield f"# nprocs: {backend.log_get_job(log)['nprocs']}"
    names = backend.log_get_name_records(log)
    for module in wanted:
        if modules[module]["partial_flag"]:
            yield f"# *WARNING*: The {module} module contains incomplete data!"
        while (record := backend.log_get_record(log, module, dtype="dict")) is not None:
            name = " ".join(str(names.get(record["id"], record["id"])).split("\n"))
            yield from _trace_lines(record, name) if module == "DXT_POSIX" else _sum_lines(module, record, name)


def _trace_lines(record: Any, name: str) -> Iterator[str]:
    yield f"# DXT, file_id: {record['id']}, file_name: {name}"
    for kind, key in _KINDS:
        for number, one in enumerate(record[key]):
            times = f"{one['start_time']:.9f} {one['end_time']:.9f}"
            yield f" X_POSIX {record['rank']} {kind} {number} {one['offset']} {one['length']} {times}"


def _sum_lines(module: str, record: Any, name: str) -> Iterator[str]:
    # A tab of a name would end its column.
    path = " ".join(name.split("\t"))
    for counter, value in {**record["counters"], **record["fcounters"]}.items():
        yield f"{module}\t{record['rank']}\t{record['id']}\t{counter}\t{value}\t{path}\t-\t-"


def main() -> None:
    """Print the log that the first argument names."""
    from darshan.backend import cffi_backend as backend

    for limit, most in ((resource.RLIMIT_AS, MAX_BYTES), (resource.RLIMIT_FSIZE, MAX_TEXT), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (most, most))
    log = backend.log_open(sys.argv[1])
    if log["handle"] == backend.ffi.NULL:
        sys.exit(1)
    for line in text_lines(log):
        print(line)
    sys.stdout.flush()
    # Without the library's own end: a log that was read whole is read.
    os._exit(0)


if __name__ == "__main__":
    main()
