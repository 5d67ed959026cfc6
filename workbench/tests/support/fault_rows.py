"""The table of faults x operations on the files of a repeat, and what must come of each."""

import errno
import os
import re
from dataclasses import dataclass, field

RECORD, RECORDS = 64 * 1024, 4

Tallies = dict[str, dict[str, int]]
"""Operation -> errno or kind of the failure -> how often."""


@dataclass(frozen=True)
class Work:
    """What the repeats do.

    Attributes:
        more: Further lines of the workload.
        options: Words for the faulty file system.
    """

    operations: str = "write, read"
    more: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ("file_size: 256KiB", "record_size: 64KiB", "cache: keep")
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        rule: What `assay-faultfs` is told, without the path.
        status: Of the repeat that meets the fault.
        says: Pattern that its reason matches.
        tallies: All failed operations of that repeat.
        incomplete: Operations that get the verdict `incomplete`; all others must not.
        left: Whether data of the repeat cannot be removed.
        path: Of the files that meet the fault, below the repeat's directory; its data if left out.
    """

    rule: str
    status: str = "errors"
    says: str = ""
    tallies: Tallies = field(default_factory=dict)
    incomplete: tuple[str, ...] = ()
    left: bool = False
    work: Work = Work()
    path: str | None = None

    @property
    def place(self) -> str:
        """Pattern of the paths that meet the fault, below the repeat's directory."""
        names = "files: 20" in self.work.more
        return self.path if self.path is not None else "/t0*" if names else "/f*"

    @property
    def id(self) -> str:
        """Name of the row's test."""
        parts = (self.rule, self.work.operations.split(",")[0], *self.work.more[:1])
        return "-".join(part.replace(" ", "_") for part in parts)


ERRNOS = ("enospc", "edquot", "eio", "eintr", "estale", "erofs")
ALIKE = ("edquot", "estale", "erofs")
"""They take the ways of enospc through the engine: only the words differ."""


def words(name: str) -> str:
    """The C library's words for an errno, as a pattern."""
    return re.escape(os.strerror(getattr(errno, name.upper())))


def on_files(name: str) -> list[Row]:
    """An errno for each call that data takes."""
    code, said = name.upper(), words(name)
    both = ("write", "read")
    # What was not written cannot be read.
    unwritten = {"write": {code: RECORDS}, "read": {"short_read": RECORDS}}
    return [
        Row(f"{name} on write", says=rf"write .*/f0 at 0, {RECORD} bytes: {said}$", tallies=unwritten, incomplete=both),
        Row(
            f"{name} on write after 2",
            says=rf"write .*/f0 at {2 * RECORD}, {RECORD} bytes: {said}$",
            tallies={"write": {code: 2}, "read": {"short_read": 2}},
            incomplete=both,
        ),
        Row(
            f"{name} on read",
            says=rf"read .*/f0 at 0, {RECORD} bytes: {said}$",
            tallies={"read": {code: RECORDS}},
            incomplete=("read",),
        ),
        Row(
            f"{name} on fsync",
            says=rf"^phase 0 \(write\) failed: sync .*/f0: {said}$",
            tallies={"write": {code: 1}},
            incomplete=both,
        ),
        Row(
            f"{name} on create,open",
            says=rf"^phase 0 \(write\) failed: open .*/f0: {said}$",
            tallies={"write": {code: 1}},
            incomplete=both,
        ),
        Row(
            f"{name} on flush",
            says=rf"^phase 0 \(write\) failed: close .*/f0: {said}",
            tallies={"write": {code: 1}},
            incomplete=both,
        ),
        Row(f"{name} on unlink", says=rf"^the data could not be removed: remove .*/f0: {said}$", left=True),
    ]


def on_the_directory(name: str) -> list[Row]:
    """An errno for each call that the repeat's own directory takes."""
    said, both = words(name), ("write", "read")
    return [
        Row(f"{name} on mkdir", "refused", rf"^create .*-r1: {said}$", incomplete=both, path=""),
        Row(f"{name} on create,rename,link", "refused", said, incomplete=both, path="/.assay-job*"),
        Row(f"{name} on rmdir", says=rf"could not be removed: .*-r1: {said}$", left=True, path=""),
        Row(f"{name} on readdir", "refused", rf"^create .*-r1: {said}$", incomplete=both, path=""),
    ]


METHODS = {
    "io_uring": Work(more=("method: io_uring", "queue_depth: 4")),
    "direct": Work(more=("cache: direct",), sizes=("file_size: 256KiB", "record_size: 64KiB")),
    "mmap": Work(more=("method: mmap",), options=("--cached",)),
}


def by_other_methods() -> list[Row]:
    """The ways to the storage that are not pread and pwrite."""
    both, rows = ("write", "read"), []
    for method in ("io_uring", "direct"):
        work = METHODS[method]
        for name in ("eio", "eintr", "enospc"):
            unwritten = {"write": {name.upper(): RECORDS}, "read": {"short_read": RECORDS}}
            says = rf"write .*/f0 at \d+, {RECORD} bytes: {words(name)}$"
            rows += [Row(f"{name} on write", says=says, tallies=unwritten, incomplete=both, work=work)]
        read, sync = {"read": {"EIO": RECORDS}}, {"write": {"EIO": 1}}
        rows += [
            Row("eio on read", says="read .*/f0", tallies=read, incomplete=("read",), work=work),
            Row("eio on fsync", says="sync .*/f0", tallies=sync, incomplete=both, work=work),
        ]
    for name in ("enospc", "eio", "edquot"):
        says, sync = rf"sync .*/f0: {words(name)}$", {"write": {name.upper(): 1}}
        rows += [Row(f"{name} on write", says=says, tallies=sync, incomplete=both, work=METHODS["mmap"])]
    return rows


NAMES = Work("create, stat, open, readdir, rename, unlink", ("files: 20",), ("file_size: 4KiB",))
FOLDERS = Work("mkdir, rmdir", ("files: 20",), ())


def on_names(name: str) -> list[Row]:
    """An errno for each call that names take."""
    code, said = name.upper(), words(name)

    def broken(call: str, begun: str, count: int, left: bool = False, work: Work = NAMES) -> Row:
        """Later operations need what this one makes."""
        every = tuple(work.operations.split(", "))
        says = rf"failed: {begun} .*/t0 of number {20 - count}: {said}"
        incomplete = every[every.index(begun) :]
        rule = f"{name} on {call} after {20 - count}"
        return Row(rule, says=says, tallies={begun: {code: count}}, incomplete=incomplete, left=left, work=work)

    def failed(call: str, begun: str, left: bool = False, work: Work = NAMES) -> Row:
        says = rf"the first: {begun} .*/t0 of number 2: {said}"
        tally = {begun: {code: 18}}
        return Row(f"{name} on {call} after 2", says=says, tallies=tally, incomplete=(begun,), left=left, work=work)

    return [
        broken("create", "create", 18),
        broken("write", "create", 18),
        broken("flush", "create", 18),
        failed("open", "open"),
        broken("rename", "rename", 18),
        failed("unlink", "unlink", left=True),
        failed("rmdir", "rmdir", left=True, work=FOLDERS),
        Row(
            f"{name} on readdir count 1",
            says=rf"the first: readdir .*: {said}",
            tallies={"readdir": {code: 1}},
            incomplete=("readdir",),
            work=NAMES,
            path="/t0",
        ),
    ]


VERIFIED = Work("write, read, rewrite, reread", ("verify: true",))


def found_by_verify() -> list[Row]:
    """Data that is not what was written, with `verify`: an error with object and offset, in the read that meets it."""

    def row(rule: str, offset: int, operation: str, what: str) -> Row:
        says = rf"read .*/f0 at {offset}, {RECORD} bytes: {what}"
        return Row(rule, says=says, tallies={operation: {"corrupt": 1}}, incomplete=(operation,), work=VERIFIED)

    third, half = RECORD // 3, RECORD // 2
    never, old = "the 8 bytes at {} of the file, 0x0{{16}}, were never written", "the file has at {} what phase 0 wrote"
    at = RECORD  # of the second record, of which the rule speaks
    return [
        row("torn on write after 1 count 1", at + half, "read", never.format(at + half)),
        row("torn on write after 5 count 1", at + half, "reread", old.format(at + half)),
        row("lost on write after 1 count 1", at, "read", never.format(at)),
        row("lost on write after 5 count 1", at, "reread", old.format(at)),
        row("corrupt on write after 1 count 1", at + third, "read", rf"byte {at + third} of the file is"),
        row("corrupt on write after 5 count 1", at + third, "reread", rf"byte {at + third} of the file is"),
        row("corrupt on read after 1 count 1", at + third, "read", rf"byte {at + third} of the file is"),
        row("corrupt on read after 5 count 1", at + third, "reread", rf"byte {at + third} of the file is"),
        row("stale on read after 1 count 1", at, "read", never.format(at)),
        row("stale on read after 5 count 1", at, "reread", old.format(at)),
    ]


def without_verify() -> list[Row]:
    """Nobody looks at the data, so that nobody finds it: such a run is `ok`, and says that it verified nothing."""
    faults = ("torn on write", "lost on write", "corrupt on write", "corrupt on read", "stale on read")
    return [Row(f"{fault} after 1 count 1", status="ok") for fault in faults]


STDIO = Work("fwrite, fread")


def half_done() -> list[Row]:
    """Fewer bytes than were asked for are an error; only the C library's streams go on by themselves."""
    moved = rf"at {RECORD}, {RECORD} bytes: only {RECORD // 2} of {RECORD} bytes were (read|written): "
    return [
        Row(
            f"short on {operation} after 1 count 1",
            says=f"{operation} .*/f0 {moved}",
            tallies={operation: {f"short_{operation}": 1}},
            # What was not written whole is not read as if it were.
            incomplete=("write", "read") if operation == "write" else ("read",),
        )
        for operation in ("write", "read")
    ] + [Row(f"short on {operation} count 1", status="ok", work=STDIO) for operation in ("write", "read")]


def gone() -> list[Row]:
    """Files that vanish."""
    stale, both = words("estale"), ("write", "read")
    at_write = {"write": {"ESTALE": 3}, "read": {"short_read": 3}}
    return [
        Row("disappear on write after 1", says=f"write .*: {stale}$", tallies=at_write, incomplete=both),
        Row("disappear on read", says=f"read .*: {stale}$", tallies={"read": {"ESTALE": 4}}, incomplete=("read",)),
        Row("disappear on fsync", says=f"sync .*: {stale}$", tallies={"write": {"ESTALE": 1}}, incomplete=both),
    ]


TABLE = [
    *(row for name in ERRNOS for row in on_files(name) if name not in ALIKE or row.rule.endswith(("write", "unlink"))),
    *(row for name in ("eio", "eintr", "enospc") for row in on_names(name)),
    *(row for name in ("eio", "enospc", "eintr") for row in on_the_directory(name)),
    *by_other_methods(),
    *found_by_verify(),
    *without_verify(),
    *half_done(),
    *gone(),
]
