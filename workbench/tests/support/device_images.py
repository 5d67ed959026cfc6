"""First bytes of what tools make that need not be installed here, as they made it: the superblocks alone."""

import base64
import struct
import zlib

_XFS = (
    "eNqLcAt2YmAQYAADJgYMcGBW2pG3nd5tWzUsjFTfqt0BCzIysEGlG6B0I5RuAstChFkgQg4MW5YygYzmSEksSYSZy8PJyczPwCDJ"
    "AFMEAbYQ8/c/YMAPOND4QDsZuyAYDHiBmBvECPsV04RwyyhABwCjQRSJ"
)
_BTRFS = (
    "eNpTjuLdwoAHvFM73ify3n/Ssn8zzHeJe6xgYGAEizNC5eOdPILSguN92WAaDlyCSDkEMOIwUgEizwSmYPrgigVAclAMZDciqYEB"
    "ZijtyIwkyIhuAUMDK9xAGMYLGL1/Rf9t92ftWV6VfkY4PQPd6wX5+TkMo2DkAmgSe8LAAEvbDWCSCU2FEgqfEZz0mIA0IolC9KMn"
    "OIT8Bazy9LBgFIyCUTAKRsEoGAWooAFSa7Ki1bII/kVUvgOa+gNofAc09WhNY0Zy3QltgsObzdCmOBta7c+Gy50O6Ppp5E6GQJTm"
    "PKyJDuc3BKDyHdDUO6DLC2LvCRxgpNCdkPBhgdsDcSec3xCIykd3J0MAmjyt3DkKRgGJAADgeFkT"
)
_BTRFS_OF_TWO = (
    "eNpb2d/MyIAHrPn6uof1jrvKHA2OD1tFW7czMECUwzTFO3kEpQXH+7LBNBy4BJFyCMBlrgJEnglMwfQxwWQFQHJQDGQ3IqmBAWYo"
    "7ciMJIhkmwCKOgEkjBc0dxq9Tn7mv31N1fnuKk7T9+hezy3NKclkGAUjFkCT2BMGBljabkBNu1AVQih8RnDSYwLSiCQK0Y+e4JjQ"
    "UnB51eeuT9J+oV1Cl+Xc5DUL6WHBKBgFo2AUjIJRMApQQcMFcK3KilbLIvgXUfkOaOoPoPEd0NSjNY2ZyHUntAkObzZDm+KIZvQF"
    "NHl0d6Hrp5E7GQJRmvOwVgmc3xCAyndAU++ALi+IvSdwgBFdnEQACR8WuD0QY+H8hkBUPro7GQLQ5DHcqYDsTqbRnDYK6AUAA0ha"
    "GA=="
)
_LUKS = (
    "eNrzCfUO3rWPgYkBDBwYoICZgURQnJFoZGqGW/7M8oM3v4q2xrPMOXTTc15DbsmR98GXjhQVdv/f/+a8SUXW3F9zDDsKq9Tbstaf"
    "vLr1cm78gX+OMTOeul/PcK1SjX5iZG5kbppiZmGsa5BmnKJrkmZmrGthnmKma2JibppomWhqkWSeyjACgVj13UKOMGc1dd4FP75e"
    "c2+W1otdzn1zpaZrqBbrzWn/FxDSDwDBQkAR"
)
_LVM = (
    "eNrzcXRy9fH3c2VkgIBTNXXTFYC0T5ivkYKBgWGmc6iBh2WWl7d/pWNAUkBlnrNbUnJaWXF4qYmlG1AWqJQFolOAAS+ASX/gxyrN"
    "xDAKBgIAAMpEElI="
)


def _raid() -> bytes:
    """Superblock of version 1.2 (linux/raid/md_p.h, struct mdp_superblock_1) of an array with two members."""
    block = bytearray(256 + 2 * 2)
    struct.pack_into("<III", block, 0, 0xA92B4EFC, 1, 0)
    block[16:32] = bytes(range(16))
    block[32:38] = b"host:0"
    struct.pack_into("<IIQII", block, 72, 1, 0, 2048, 0, 2)
    struct.pack_into("<QQQ", block, 128, 2048, 2048, 8)
    struct.pack_into("<I", block, 220, 2)
    total = sum(struct.unpack(f"<{len(block) // 4}I", block))
    struct.pack_into("<I", block, 216, ((total & 0xFFFFFFFF) + (total >> 32)) & 0xFFFFFFFF)
    return bytes(block)


def _of(packed: str) -> bytes:
    return zlib.decompress(base64.b64decode(packed))


IMAGES: dict[str, tuple[int, bytes]] = {
    "xfs": (0, _of(_XFS)),
    "btrfs": (0x10000, _of(_BTRFS)),
    "btrfs of two devices": (0x10000, _of(_BTRFS_OF_TWO)),
    "crypto_LUKS": (0, _of(_LUKS)),
    "LVM2_member": (512, _of(_LVM)),
    "linux_raid_member": (4096, _raid()),
}
"""What wipefs(8) calls it -> where on the device it is, and its bytes."""
