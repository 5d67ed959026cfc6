"""What each system call does to files: operations of a trace, and positions of open files."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from assay.rooms.traces.work.strace.known_files import SPECIAL, KnownFiles, KnownName
from assay.rooms.traces.work.strace.lines import TracedCall, arguments, unescape
from assay.rooms.traces.work.strace.named_files import PATH, Context, NamedFiles
from assay.rooms.traces.work.strace.tasks import OpenFile
from assay.rooms.traces.work.writer import TraceWriter

_BRACKETED = re.compile(r"\[(-?\d+)\]")
_LENGTHS = re.compile(r"iov_len=(\d+)")
_FLAG = re.compile(r"\bO_[A-Z]+")
_MODE = re.compile(r"stx?_mode=S_IF([A-Z]+)")
_SIZE = re.compile(r"stx?_size=(\d+)")
_LETTERS = (("O_CREAT", "c"), ("O_TRUNC", "t"), ("O_EXCL", "x"), ("O_APPEND", "a"), ("O_DIRECT", "d"))
_SYNC = {"O_SYNC", "O_DSYNC"}
_FILE_MODES = {"REG": "f", "DIR": "d", "BLK": "b", "LNK": "f"}

METADATA = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat"),
    *("setxattr", "lsetxattr", "fsetxattr", "getxattr", "lgetxattr", "fgetxattr"),
    *("listxattr", "llistxattr", "flistxattr", "removexattr", "lremovexattr", "fremovexattr"),
)
LOSSES = dict.fromkeys(METADATA, "metadata") | {
    **dict.fromkeys(("sync", "syncfs", "sync_file_range", "msync"), "sync"),
    **dict.fromkeys(("fadvise64", "readahead"), "hints"),
    **dict.fromkeys(("mknod", "mknodat"), "other-calls"),
    "fallocate": "allocate",
    "flock": "locks",
    "io_uring_enter": "io_uring",
    "io_submit": "aio",
}
"""Calls for which there is no operation -> code of the loss."""
_NO_FILE = {"sync", "msync", "io_uring_enter", "io_submit"}
"""Calls that name no file."""


class Calls(NamedFiles):
    """Makes operations of calls.

    Args:
        files: The files.
        writer: Gets the operations.
    """

    def __init__(self, files: KnownFiles, writer: TraceWriter) -> None:
        super().__init__(files, writer)
        self._handlers = self._all_handlers()

    def _all_handlers(self) -> dict[str, Callable[[Context], None]]:
        moves = {
            **{name: partial(self._move, reads=True) for name in ("read", "pread64", "readv", "preadv", "preadv2")},
            **{
                name: partial(self._move, reads=False)
                for name in ("write", "pwrite64", "writev", "pwritev", "pwritev2")
            },
        }
        stats = "stat lstat fstat newfstatat statx access faccessat faccessat2 readlink readlinkat"
        found: dict[str, Callable[[Context], None]] = {
            **moves,
            **dict.fromkeys(stats.split(), self._stat),
            **dict.fromkeys(("open", "openat", "openat2", "creat"), self._open),
            **dict.fromkeys(("fsync", "fdatasync"), self._flush),
            **dict.fromkeys(("getdents", "getdents64"), self._list),
            **dict.fromkeys(("dup", "dup2", "dup3"), self._dup),
            **dict.fromkeys(("copy_file_range", "splice"), self._copy),
            **dict.fromkeys(("mkdir", "mkdirat"), partial(self._make, op="mkdir")),
            **dict.fromkeys(("symlink", "symlinkat"), partial(self._make, op="symlink")),
            **dict.fromkeys(("unlink", "rmdir", "unlinkat"), self._remove),
            **dict.fromkeys(("rename", "renameat", "renameat2"), self._rename),
            **dict.fromkeys(("link", "linkat"), self._link),
            **dict.fromkeys(LOSSES, self._lost),
            "close": self._close,
            "close_range": self._close_range,
            "fcntl": self._fcntl,
            "lseek": self._seek,
            "truncate": self._truncate,
            "ftruncate": self._truncate,
            "sendfile": self._send,
            "mmap": self._map,
            "ioctl": self._ioctl,
            "chdir": self._chdir,
            "fchdir": self._chdir,
        }
        return found

    def do(self, context: Context) -> None:
        """Take a call into account."""
        handler = self._handlers.get(context.call.name)
        if handler is not None:
            handler(context)

    def _open(self, context: Context) -> None:
        call, task = context.call, context.task
        found = PATH.search(call.args)
        if found is None:
            return
        words = (
            set(_FLAG.findall(call.args[found.end() :])) if call.name != "creat" else {"O_WRONLY", "O_CREAT", "O_TRUNC"}
        )
        if "O_TMPFILE" in words:
            words |= {"O_CREAT", "O_EXCL"}
        if call.path and not call.path.startswith("/"):
            return
        if call.path:
            name = self.files.name(unescape(call.path))
            self.learn(self.absolute(task, found), name.path)
        else:
            name = self.name_of(task, found)
        if "O_DIRECTORY" in words and not call.error:
            name.kind = "d"
        self._saw_open(name, call, words)
        if not call.error and call.result is not None:
            content = name.exists()
            file = OpenFile(name, content, 0, "O_APPEND" in words, call.path or name.path)
            task.descriptors.put(call.result, file, "O_CLOEXEC" in words)
        if "O_PATH" not in words:
            self.emit(context, name, "open", flags=_open_flags(words))

    def _saw_open(self, name: KnownName, call: TracedCall, words: set[str]) -> None:
        if call.error == "ENOENT":
            name.missing()
        elif call.error == "EEXIST":
            name.exists()
        elif not call.error and "O_CREAT" in words:
            content = name.made() if "O_EXCL" in words else name.opened_or_made()
            if "O_TRUNC" in words:
                content.cut(0)
        elif not call.error:
            content = name.exists()
            if "O_TRUNC" in words:
                content.cut(0)

    def _close(self, context: Context) -> None:
        # The descriptor is free from the beginning of the call on.
        file = context.file or self.file_of(context.task, context.call.args, dropped=True)
        self._closed(context, file)

    def _closed(self, context: Context, file: OpenFile | None) -> None:
        """Emit the end of an open file, unless another descriptor leads to it: a copy, or that of another process."""
        if file is not None and not file.descriptors:
            self.emit(context, file.name, "close")

    def _close_range(self, context: Context) -> None:
        words = arguments(context.call.args)
        if context.call.error or len(words) != 3:
            return
        first = int(words[0].split("<")[0])
        last = int(words[1].split("<")[0], 0) if words[1][0].isdigit() else 1 << 32
        descriptors = context.task.descriptors
        for number in [at for at in descriptors.files if first <= at <= last]:
            if "CLOSE_RANGE_CLOEXEC" in words[2]:
                descriptors.mark(number, True)
            else:
                self._closed(context, descriptors.close(number))

    def _dup(self, context: Context) -> None:
        call, descriptors = context.call, context.task.descriptors
        file = context.file or self.file_of(context.task, call.args)
        if call.error or call.result is None:
            return
        if file is None:
            self._closed(context, descriptors.close(call.result))
        elif descriptors.files.get(call.result) is not file or call.name == "dup3":
            self._closed(context, descriptors.put(call.result, file, "O_CLOEXEC" in call.args))

    def _fcntl(self, context: Context) -> None:
        call = context.call
        words = arguments(call.args)
        file = context.file or self.file_of(context.task, call.args)
        if file is None or call.error or len(words) < 2:
            return
        if words[1] in ("F_DUPFD", "F_DUPFD_CLOEXEC") and call.result is not None:
            context.task.descriptors.put(call.result, file, words[1] == "F_DUPFD_CLOEXEC")
        elif words[1] == "F_SETFD":
            context.task.descriptors.mark(int(words[0].split("<")[0]), "FD_CLOEXEC" in words[-1])
        elif words[1] == "F_SETFL":
            file.appends = "O_APPEND" in words[-1]
        elif words[1] in ("F_SETLK", "F_SETLKW", "F_OFD_SETLK", "F_OFD_SETLKW"):
            self.lose(file.name, "locks")

    # Reads and writes

    def _move(self, context: Context, reads: bool) -> None:
        call = context.call
        file = context.file or self.file_of(context.task, call.args)
        if file is None or (call.result is None and not call.error):
            return
        offset = None
        if call.name in ("read", "write"):
            length = int(call.args.rsplit(", ", 1)[-1])
        elif call.name in ("pread64", "pwrite64"):
            _, size, place = call.args.rsplit(", ", 2)
            length, offset = int(size), int(place)
        else:
            length = sum(map(int, _LENGTHS.findall(call.args)))
            if call.name not in ("readv", "writev"):
                last = arguments(call.args)
                place = last[3] if len(last) > 3 else "-1"
                offset = None if place == "-1" else int(place)
        self._moved_bytes(context, file, reads, length, offset)

    def _moved_bytes(self, context: Context, file: OpenFile, reads: bool, length: int, offset: int | None) -> None:
        """Emit a read or write.

        Args:
            context: Its call.
            file: The file.
            reads: It is a read.
            length: Bytes asked for.
            offset: Byte of the file; None: at its position.
        """
        call = context.call
        moved = 0 if call.error else call.result or 0
        content, appended = file.content, False
        at = file.position if offset is None else offset
        if not reads and file.appends and not call.error:
            at, appended = content.saw_append(moved)
            if offset is None:
                file.position = None if appended else at + moved
        else:
            if at is None:
                self.lose(file.name, "position-unknown")
                at = 0
            if offset is None:
                file.position = at + moved
            if moved and reads:
                content.saw_read(at + moved)
            elif moved:
                content.saw_write(at + moved)
        self.emit(context, file.name, "read" if reads else "write", at, length, moved, appended=appended)

    def _seek(self, context: Context) -> None:
        call = context.call
        file = context.file or self.file_of(context.task, call.args)
        if file is None or call.error or call.result is None:
            return
        file.position = call.result
        words = call.args.rsplit(", ", 2)
        if words[-1] == "SEEK_END" and not file.name.left_out:
            file.content.saw_size(call.result - int(words[-2]))

    def _send(self, context: Context) -> None:
        out, source, place = [*arguments(context.call.args), "", "", ""][:3]
        self._pair(context, (source, place), (out, "NULL"))

    def _copy(self, context: Context) -> None:
        source, place, out, out_place = [*arguments(context.call.args), "", "", "", ""][:4]
        self._pair(context, (source, place), (out, out_place))

    def _pair(self, context: Context, source: tuple[str, str], target: tuple[str, str]) -> None:
        """Emit a read and a write, for those of two descriptors that are files; each with its offset as printed."""
        call = context.call
        for (written, place), reads in ((source, True), (target, False)):
            file = self.file_of(context.task, written)
            # At the end of the source nothing is written; programs try this call, and copy otherwise if it fails.
            if file is None or call.result is None or (not reads and not call.result and not call.error):
                continue
            if call.error:
                self.lose(file.name, "other-calls")
                return
            found = _BRACKETED.search(place)
            # The length that was asked for is an upper bound only, and often the greatest number that there is.
            self._moved_bytes(context, file, reads, call.result, int(found[1]) if found else None)
            context = context._replace(call=replace(call, duration=0), begin=context.begin + call.duration)

    # Names

    def _stat(self, context: Context) -> None:
        call = context.call
        if call.name in ("readlink", "readlinkat") and call.error == "EINVAL":
            # It is no link, but it is there: as a look at a name, the call has succeeded.
            call = replace(call, error="", result=0)
            context = context._replace(call=call)
        found = PATH.search(call.args)
        if call.name == "fstat" or (found is not None and not found[3]):
            file = context.file or self.file_of(context.task, call.args)
            if file is None:
                return
            name = file.name
            content = file.content
        elif found is not None:
            name = self.name_of(context.task, found)
            if call.error in ("ENOENT", "ENOTDIR"):
                name.missing()
            elif not call.error:
                content = name.exists()
        else:
            return
        if not call.error and (mode := _MODE.search(call.args)):
            if mode[1] not in _FILE_MODES:
                name.left_out = name.left_out or SPECIAL
            else:
                name.kind = _FILE_MODES[mode[1]]
            if mode[1] == "REG" and (size := _SIZE.search(call.args)):
                content.saw_size(int(size[1]))
        self.emit(context, name, "stat")

    def _flush(self, context: Context) -> None:
        if (file := context.file or self.file_of(context.task, context.call.args)) is not None:
            self.emit(context, file.name, context.call.name)

    def _list(self, context: Context) -> None:
        if (file := context.file or self.file_of(context.task, context.call.args)) is not None:
            file.name.kind = "d"
            self.emit(context, file.name, "list")

    def _truncate(self, context: Context) -> None:
        call = context.call
        found = PATH.search(call.args)
        file = context.file or self.file_of(context.task, call.args)
        name = self.name_of(context.task, found) if found is not None else file.name if file is not None else None
        if name is None:
            return
        size = int(call.args.rsplit(", ", 1)[-1])
        if not call.error:
            (file.content if file is not None else name.exists()).cut(size)
        self.emit(context, name, "truncate", None, size)

    def _make(self, context: Context, op: str) -> None:
        paths = list(PATH.finditer(context.call.args))
        if paths:
            name = self.name_of(context.task, paths[-1])
            if not context.call.error:
                name.made()
            elif context.call.error == "EEXIST":
                name.exists()
            if op == "mkdir":
                name.kind = "d"
            self.emit(context, name, op)

    def _remove(self, context: Context) -> None:
        call = context.call
        found = PATH.search(call.args)
        if found is None:
            return
        name = self.name_of(context.task, found)
        is_folder = call.name == "rmdir" or "AT_REMOVEDIR" in call.args
        if not call.error:
            name.exists().path = None
            name.content = None
        elif call.error == "ENOENT":
            name.missing()
        if is_folder and not call.error:
            name.kind = "d"
        self.emit(context, name, "rmdir" if is_folder else "unlink")

    def _rename(self, context: Context) -> None:
        paths = list(PATH.finditer(context.call.args))
        if len(paths) < 2:
            return
        old, new = (self.name_of(context.task, path) for path in paths[:2])
        if "RENAME_EXCHANGE" in context.call.args:
            self.lose(old, "other-calls")
            return
        if not context.call.error:
            self.has_renamed = True
            self.files.rename(old, new)
        self.emit(context, old, "rename", other=new)

    def _link(self, context: Context) -> None:
        paths = list(PATH.finditer(context.call.args))
        if len(paths) < 2:
            return
        old, new = (self.name_of(context.task, path) for path in paths[:2])
        if not context.call.error:
            new.made()
            new.content = old.exists()
        self.emit(context, old, "link", other=new)

    def _chdir(self, context: Context) -> None:
        call, task = context.call, context.task
        if call.error:
            return
        if call.name == "fchdir":
            if (file := context.file or self.file_of(task, call.args)) is not None:
                task.folder.path = file.name.path
        elif found := PATH.search(call.args):
            task.folder.path = self.absolute(task, found)

    # What is lost

    def _map(self, context: Context) -> None:
        if "MAP_ANONYMOUS" in context.call.args or context.call.error:
            return
        words = arguments(context.call.args)
        file = self.file_of(context.task, words[4]) if len(words) > 4 else None
        if file is not None and not file.name.left_out:
            self.losses["mmap"] += 1
            self.losses["mmap-bytes"] += int(words[1], 0)

    def _ioctl(self, context: Context) -> None:
        if context.call.args.endswith(("FIOCLEX", "FIONCLEX")):
            context.task.descriptors.mark(int(context.call.args.split("<")[0]), context.call.args.endswith("FIOCLEX"))
        elif "FICLONE" in context.call.args and not context.call.error:
            self._lost(context, "metadata")

    def _lost(self, context: Context, code: str = "") -> None:
        call = context.call
        code = code or LOSSES[call.name]
        if call.error:
            return
        if call.name in _NO_FILE:
            self.losses[code] += 1
            return
        file = context.file or self.file_of(context.task, call.args)
        if file is not None:
            self.lose(file.name, code)
        elif found := PATH.search(call.args):
            self.lose(self.name_of(context.task, found), code)


def _open_flags(words: set[str]) -> str:
    access = "rw" if "O_RDWR" in words else "w" if "O_WRONLY" in words else "r"
    return access + "".join(letter for word, letter in _LETTERS if word in words) + "s" * bool(words & _SYNC)
