"""Operations, sizes and settings of a command line of iozone. Source: iozone 3.471, iozone.c."""

from itertools import pairwise
from typing import Any

from assay.model.base import AssayError
from assay.model.units import format_size
from assay.rooms.foreign.work.iozone.command_line import Words
from assay.rooms.foreign.work.notes import Notes

_TESTS: dict[int, tuple[str, ...]] = {
    0: ("write", "rewrite"), 1: ("read", "reread"), 2: ("random_read", "random_write"), 3: ("backward_read",),
    4: ("record_rewrite",), 5: ("stride_read",), 6: ("fwrite", "re_fwrite"), 7: ("fread", "re_fread"),
    8: ("random_mix",), 9: ("write", "rewrite"), 10: ("read", "reread"),
}  # fmt: skip
"""Test (-i) -> its operations."""
_VECTORS = (11, 12)
_STDIO = ("fwrite", "re_fwrite", "fread", "re_fread")
_RETESTS = ("rewrite", "reread", "re_fwrite", "re_fread")
_THROUGHPUT = (
    *("write", "rewrite", "read", "reread", "backward_read", "stride_read", "random_read", "random_mix"),
    *("random_write", "fwrite", "fread"),
)
"""Operations of the throughput mode, in its order (`throughput_tests`)."""
_KIB, _MIB = 1 << 10, 1 << 20
_SMALLEST, _LARGEST = 64 * _KIB, 512 * _MIB
_SMALL_RECORD, _LARGE_RECORD = 4 * _KIB, 16 * _MIB
_CROSSOVER, _RECORD_BEYOND = 16 * _MIB, 64 * _KIB
"""Sizes of the auto mode: of files and of records, and the file size beyond which records begin at 64 KiB."""


def operations_of(words: Words, notes: Notes) -> tuple[list[str], list[str]]:
    """Return the operations by calls and mappings, and those by C stdio.

    Raises:
        AssayError: A test has no counterpart, or nothing is left to do.
    """
    is_throughput = any(words.has(letter) for letter in "tlu")
    tests = sorted(set(words.numbers("i")))
    if words.has("A"):
        tests = sorted({*tests, 0, 1})
    if vector := next((test for test in tests if test in _VECTORS), None):
        raise AssayError(f"iozone -i {vector}: there are no pwritev and preadv of several buffers", "leave it out")
    if unknown := next((test for test in tests if test not in _TESTS), None):
        raise AssayError(f"iozone has no test {unknown}", "write -i with 0 to 12")
    if not tests:
        tests = [0, 1, 2, 3, 4, 5, 6, 7, *([8] if is_throughput else [])]
    tests = _without_extended(words, _without_doubles(tests, notes), is_throughput, notes)
    names = [name for test in tests for name in _TESTS[test]]
    if is_throughput:
        names = _of_throughput(names, notes)
    elif "random_mix" in names:
        notes.add("-i 8", "left out: iozone does it with -t only")
        names.remove("random_mix")
    if words.has("+n"):
        names = [name for name in names if name not in _RETESTS]
    if words.has("+B"):
        names = ["sequential_mix" if name == "random_mix" else name for name in names]
    if not names:
        raise AssayError("iozone: no test is left that has a counterpart", "write -i 0 or -i 1")
    _note_order(names, notes)
    return [name for name in names if name not in _STDIO], [name for name in names if name in _STDIO]


def _without_doubles(tests: list[int], notes: Notes) -> list[int]:
    found = list(tests)
    for test, same in ((9, 0), (10, 1)):
        if test in found and same in found:
            notes.add(f"-i {test}", f"the same as -i {same}: method: sync is pread and pwrite")
            found.remove(test)
    return found


def _without_extended(words: Words, tests: list[int], is_throughput: bool, notes: Notes) -> list[int]:
    """Leave out pwrite and pread, which iozone does with -E only, or in the throughput mode."""
    if words.has("E") and not words.has("i"):
        notes.add("-E", "pwrite and pread are what method: sync does anyway; pwritev and preadv are left out")
    if words.has("E") or is_throughput:
        return tests
    for test in set(tests) & {9, 10}:
        notes.add(f"-i {test}", "left out: iozone does it with -E only")
    return [test for test in tests if test not in (9, 10)]


def _of_throughput(names: list[str], notes: Notes) -> list[str]:
    if "record_rewrite" in names:
        notes.add("-i 4", "left out: iozone does it without -t only")
    return [name for name in _THROUGHPUT if name in names]


def _note_order(names: list[str], notes: Notes) -> None:
    if not any("write" in name and name != "random_write" for name in names):
        notes.add("no -i 0", "what is read is written first, outside the timing, whatever another run has left")


def sizes_of(words: Words) -> dict[str, Any]:
    """Return the fields for sizes of files and records.

    Raises:
        AssayError: iozone would refuse them.
    """
    files, records = words.sizes("s"), words.sizes("r")
    is_auto = words.has("a") or words.has("A") or len(files) > 1 or len(records) > 1
    throughput = any(words.has(letter) for letter in "tlu")
    if throughput and is_auto:
        raise AssayError("iozone: -t takes neither -a nor several -s and -r", "leave one of them out")
    if any(size > _LARGE_RECORD for size in (*records, *words.sizes("q"))):
        raise AssayError("iozone: records are at most 16 MiB", "write a smaller -r or -q")
    if not is_auto:
        size, record = (files or [512 * _KIB])[0], (records or [_SMALL_RECORD])[0]
        if record > size:
            raise AssayError("iozone: the record is larger than the file", "write a larger -s or a smaller -r")
        field = "total_size" if words.has("+k") and throughput else "file_size"
        return {field: format_size(size), "record_size": format_size(record)}
    factor = max(2, words.number("+x", 2))
    file_range = sorted(set(files)) if len(files) > 1 else _grown(
        [*words.sizes("n"), *files, _SMALLEST][0], [*words.sizes("g"), *files, _LARGEST][0], factor)  # fmt: skip
    record_range = sorted(set(records)) if len(records) > 1 else _grown(
        [*words.sizes("y"), *records, _SMALL_RECORD][0], [*words.sizes("q"), *records, _LARGE_RECORD][0], factor
    )  # fmt: skip
    if not file_range or not record_range:
        raise AssayError("iozone: the smallest size is above the largest", "write -n below -g, and -y below -q")
    if record_range[0] > file_range[0]:
        raise AssayError("iozone: the smallest record is larger than the smallest file", "write a smaller -y or -r")
    return _grid(words, file_range, record_range, factor, len(files) > 1 or len(records) > 1)


def _grown(least: int, most: int, factor: int) -> list[int]:
    """Return the sizes from the least on, each the factor times the one before."""
    found = []
    while least <= most:
        found.append(least)
        least *= factor
    return found


def _grid(words: Words, files: list[int], records: list[int], factor: int, is_list: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"file_size": _axis(files, factor), "record_size": _axis(records, factor)}
    if records[-1] > files[0]:
        found["where"] = "record_size <= file_size"
    all_records = words.has("z") or words.has("A") or is_list or any(words.has(letter) for letter in "sryq")
    if not all_records and files[-1] > _CROSSOVER and records[0] < _RECORD_BEYOND:
        found["exclude"] = {
            "small-records-of-large-files": {
                "when": "file_size > 16MiB and record_size < 64KiB",
                "why": "iozone -a leaves them out beyond 16 MiB; with -z it takes them",
            }
        }
    return found


def _axis(sizes: list[int], factor: int) -> Any:
    if len(sizes) == 1:
        return format_size(sizes[0])
    if len(sizes) > 2 and all(after == before * factor for before, after in pairwise(sizes)):
        return {"from": format_size(sizes[0]), "to": format_size(sizes[-1]), "factor": factor}
    return [format_size(size) for size in sizes]


def settings_of(words: Words, operations: list[str], notes: Notes) -> dict[str, Any]:
    """Return the fields for how the operations are done."""
    is_stdio = operations[0] in _STDIO
    found: dict[str, Any] = {}
    depth = max(words.number("H", 0), words.number("k", 0))
    if any(words.has(letter) for letter in "BDG") and not is_stdio:
        found["method"] = "mmap"
        if words.has("D") or words.has("G"):
            notes.add("-D, -G", "no msync of single records: sync: fsync flushes at the end of a phase")
    elif depth and not is_stdio:
        found |= {"method": "threads", "queue_depth": depth}
        notes.add(f"-H/-k {depth}", "queue_depth: operations of a lane in flight; iozone's are ahead of it in reads")
    elif not is_stdio:
        found["method"] = "sync"
    is_mapped = found.get("method") == "mmap"
    found["cache"] = _cache(words, is_stdio, is_mapped, notes)
    found["sync"] = _sync(words, is_stdio, is_mapped, notes)
    if "backward_read" in operations and not (words.has("+n") or any(words.has(letter) for letter in "tlu")):
        notes.add("-i 3", "read backward once; iozone does it a second time without -+n, and prints the first")
    if "stride_read" in operations:
        notes.add("-i 5", "each record once; iozone leaves out the last ones, and reads others twice")
        found["stride"] = words.number("j", 17)
    if any("mix" in name for name in operations):
        found["read_percent"] = min(100, max(1, words.number("+p", 50)))
        notes.add("-i 8", "each lane reads and writes, in these shares; each process of iozone does one of both")
    if words.has("V") or words.has("+d"):
        found["verify"] = True
    if words.has("+w"):
        found["duplicate"] = min(100, words.number("+w", 0))
    return found


def _cache(words: Words, is_stdio: bool, is_mapped: bool, notes: Notes) -> str:
    if words.has("I") and not is_stdio and not is_mapped:
        return "direct"
    if words.has("I"):
        notes.add("-I", f"not for {'mappings' if is_mapped else 'fwrite and fread'}, which have no O_DIRECT")
    if words.has("U"):
        return "drop"
    notes.add("cache: keep", "as iozone, which leaves the page cache alone: results may come from memory, and are "
              "judged accordingly")  # fmt: skip
    return "keep"


def _sync(words: Words, is_stdio: bool, is_mapped: bool, notes: Notes) -> str:
    if words.has("+r"):
        notes.add("-+r", "o_sync: reads are not O_RSYNC")
    if (is_stdio or is_mapped) and any(words.has(letter) for letter in ("o", "+r", "+D")):
        notes.add("-o, -+D", "not for mappings, fwrite and fread, which have no O_SYNC")
    elif words.has("o") or words.has("+r"):
        return "o_sync"
    elif words.has("+D"):
        return "o_dsync"
    if words.has("e"):
        return "fsync"
    notes.add("sync: none", "as iozone without -e: the data may still be in memory when the clock stops")
    return "none"
