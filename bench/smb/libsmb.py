#!/usr/bin/env python3
"""Reads or writes one file through libsmbclient, 1 MiB at a time, and prints bytes per second from open to close.

PASSWD=... python3 bench/smb/libsmb.py read smb://server1/export/file USER BYTES
"""

import ctypes
import ctypes.util
import os
import sys
import time

STEP = 1 << 20
GUESS = ctypes.CFUNCTYPE(
    None,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_char),
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_char),
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_char),
    ctypes.c_int,
)


def main() -> int:
    """Exit code 1 if a call fails."""
    what, url, user, size = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    library = ctypes.CDLL(ctypes.util.find_library("smbclient") or "libsmbclient.so.0", use_errno=True)

    def credentials(_server, _share, _group, _room, name, name_room, password, password_room):  # type: ignore[no-untyped-def]
        for to, room, text in (
            (name, name_room, user),
            (password, password_room, os.environ["PASSWD"]),
        ):
            ctypes.memmove(to, text.encode() + b"\0", min(room, len(text) + 1))

    guess = GUESS(credentials)
    if library.smbc_init(guess, 0) < 0:
        raise SystemExit("error: smbc_init failed")
    for name in ("smbc_read", "smbc_write"):
        getattr(library, name).restype = ctypes.c_ssize_t
        getattr(library, name).argtypes = [
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_size_t,
        ]
    buffer = ctypes.create_string_buffer(os.urandom(STEP), STEP)
    move = library.smbc_read if what == "read" else library.smbc_write
    begin = time.perf_counter()
    flags = os.O_RDONLY if what == "read" else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    file = library.smbc_open(url.encode(), flags, 0o600)
    moved = 0
    while file >= 0 and moved < size:
        count = move(file, buffer, STEP)
        if count <= 0:
            break
        moved += count
    if file < 0 or library.smbc_close(file) < 0 or moved < size:
        raise SystemExit(f"error: {os.strerror(ctypes.get_errno())}")
    print(moved / (time.perf_counter() - begin))
    return 0


if __name__ == "__main__":
    sys.exit(main())
