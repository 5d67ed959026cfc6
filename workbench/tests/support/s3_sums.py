"""Checksums of S3 in plain Python, from their definitions: a second opinion on what the engine sends."""

import base64
import hashlib
import zlib
from functools import cache


@cache
def _table(polynomial: int) -> list[int]:
    rows = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (polynomial if value & 1 else 0)
        rows.append(value)
    return rows


def _reflected(contents: bytes, polynomial: int, width: int) -> bytes:
    """A CRC whose bits run from the lowest, that begins and ends with all ones."""
    table, ones = _table(polynomial), (1 << width) - 1
    value = ones
    for byte in contents:
        value = value >> 8 ^ table[(value ^ byte) & 255]
    return (value ^ ones).to_bytes(width // 8, "big")


def checksum(name: str, contents: bytes) -> str:
    """As a header has it: `crc32`, `crc32c` (RFC 3720), `crc64nvme` (NVM Express, section 5.2.1.3.4) or `sha256`."""
    made = {
        "crc32": lambda: zlib.crc32(contents).to_bytes(4, "big"),
        "crc32c": lambda: _reflected(contents, 0x82F63B78, 32),
        "crc64nvme": lambda: _reflected(contents, 0x9A6C9329AC4BC9B5, 64),
        "sha256": lambda: hashlib.sha256(contents).digest(),
    }[name]()
    return base64.b64encode(made).decode()
