"""Reads regular files only, and no more of one than is allowed.

Also a program, `python regular.py MOST PATH [FOLDER]`, which `assay.model.named` starts: a process that storage holds
for ever can be left behind. It uses nothing but the standard library, so that it starts in 10 ms.
"""

import errno
import os
import stat
import sys

CHUNK = 1 << 16
KERNEL = (
    *("bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "efivarfs", "fusectl", "mqueue", "nsfs", "proc"),
    *("pstore", "securityfs", "selinuxfs", "sysfs", "tracefs"),
)
"""File systems whose files look regular, but are made by the kernel as they are read: some wait, some have no end."""


class IrregularError(Exception):
    """A FIFO, socket or device, a file of the kernel, or with `at` what leads elsewhere; its text says which."""


class TooLargeError(Exception):
    """More bytes than are allowed."""


def read_regular(path: str | os.PathLike[str], most: int) -> bytes:
    """A file as it is. If the storage below does not answer, neither does this: see `assay.model.named`.

    Args:
        path: Where it is.
        most: Bytes that it may have.

    Raises:
        OSError: It cannot be read.
        IrregularError: It is no regular file; it was not opened.
        TooLargeError: It has more bytes.
    """
    return read_whole(open_regular(path, most), most)


def read_whole(fd: int, most: int) -> bytes:
    """What an open file has, which is closed then. Arguments and errors as in `read_regular`."""
    try:
        parts: list[bytes] = []
        left = most + 1
        while left > 0 and (part := os.read(fd, min(left, CHUNK))):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(fd)
    if left <= 0:
        raise TooLargeError
    return b"".join(parts)


def open_regular(path: str | os.PathLike[str], most: int) -> int:
    """A descriptor of a regular file, to be closed by the caller. Arguments and errors as in `read_regular`."""
    # To open a device can do something (a watchdog starts, a tape rewinds): looked at first, then opened.
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        about = os.fstat(place)
        if stat.S_ISDIR(about.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(about.st_mode) or _is_of_kernel(about.st_dev):
            raise IrregularError("a special file")
        return _opened(place, about, most)
    finally:
        os.close(place)


def open_entry(folder: int, name: str, most: int) -> int:
    """A descriptor of a regular file of a folder that may be somebody else's, to be closed by the caller.

    Args:
        folder: A descriptor of it.
        name: Of the file in it.
        most: Bytes that it may have.

    Raises:
        OSError: It is not there, or cannot be read.
        IrregularError: It is a link, has another name besides, or is no regular file; it was not opened.
        TooLargeError: It has more bytes.
    """
    place = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        about = os.fstat(place)
        kernel = about.st_dev != os.fstat(folder).st_dev and _is_of_kernel(about.st_dev)
        if strange := strangeness(about) or ("a file of the kernel" if kernel else ""):
            raise IrregularError(strange)
        return _opened(place, about, most)
    finally:
        os.close(place)


def open_below(folder: str | os.PathLike[str], path: str, most: int) -> int:
    """A descriptor of a regular file in a folder or in folders of it, to be closed by the caller; no link is followed.

    Args:
        folder: Where names start.
        path: Of the file, from there.
        most: Bytes that it may have.

    Raises:
        OSError: It is not there, cannot be read, or a folder on the way is a link.
        IrregularError: As of `open_entry`, or the path leads out of the folder, or has a hidden name.
        TooLargeError: It has more bytes.
    """
    *above, name = path.split("/")
    if any(part.startswith(".") or not part for part in (*above, name)):
        raise IrregularError("elsewhere, or hidden")
    opened = [os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)]
    try:
        for part in above:
            flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            opened.append(os.open(part, flags, dir_fd=opened[-1]))
        return open_entry(opened[-1], name, most)
    finally:
        for fd in opened:
            os.close(fd)


def strangeness(about: os.stat_result) -> str:
    """What an entry of a folder is that is not a file of this folder alone; empty if it is one."""
    if stat.S_ISLNK(about.st_mode):
        return "a symbolic link"
    if stat.S_ISDIR(about.st_mode):
        return "a folder"
    if not stat.S_ISREG(about.st_mode):
        return "a special file"
    return "a file with another name elsewhere (a hard link)" if about.st_nlink > 1 else ""


def mount_of(fd: int) -> int:
    """The mount that an open file or folder is on; a bind mount has a number of its own, though the device is the same.

    Source: proc_pid_fdinfo(5), `mnt_id`.

    Raises:
        OSError: The kernel does not tell it.
    """
    with open(f"/proc/self/fdinfo/{fd}", encoding="ascii", errors="replace") as lines:  # noqa: PTH123 - as below
        for line in lines:
            if line.startswith("mnt_id:"):
                return int(line.split()[1])
    raise OSError(errno.ENOSYS, "the kernel does not tell mounts")


def _opened(place: int, about: os.stat_result, most: int) -> int:
    if about.st_size > most:
        raise TooLargeError
    return os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def _is_of_kernel(device: int) -> bool:
    number = f"{os.major(device)}:{os.minor(device)}"
    # The built-in `open`: to import pathlib would take as long as all the rest.
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:  # noqa: PTH123
        for line in mounts:
            before, _, after = line.partition(" - ")
            if before.split(" ")[2:3] == [number]:
                return after.split(" ")[0] in KERNEL
    return False


def main(most: int, path: str, folder: str | None = None) -> int:
    """Write what is there to standard output: a line `ok`, `irregular`, `large` or `errno N`, then the file."""
    try:
        fd = open_regular(path, most) if folder is None else open_below(folder, path, most)
        os.write(1, b"ok\n")
    except IrregularError:
        os.write(1, b"irregular\n")
        return 1
    except TooLargeError:
        os.write(1, b"large\n")
        return 1
    except OSError as error:
        os.write(1, b"errno %d\n" % (error.errno or 0))
        return 1
    try:
        while part := os.read(fd, CHUNK):
            _write(part)
    except OSError as error:
        return min(error.errno or 255, 255)
    return 0


def _write(part: bytes) -> None:
    while part:
        part = part[os.write(1, part) :]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:]))
