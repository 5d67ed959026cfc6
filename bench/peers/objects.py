"""What is done to an S3 service, and what is said of it, whoever does it."""

from __future__ import annotations

from dataclasses import dataclass

from model import Sample

KIB, MIB = 1 << 10, 1 << 20
COUNTS = {4 * KIB: 2048, 64 * KIB: 1024, MIB: 128, 8 * MIB: 32}
"""How many objects of each size there are to get: 256 MiB at most."""


@dataclass(frozen=True)
class Work:
    """Objects of one size, put or got by so many requests at a time."""

    operation: str
    size: int
    concurrent: int

    @property
    def count(self) -> int:
        """Objects that are there to be got; the same for all, and a multiple of the requests at a time."""
        return COUNTS[self.size]


def figures(requests: int, amount: int, seconds: float, cpu_s: float) -> Sample:
    """Rates and costs of the client."""
    return {
        "requests_per_s": requests / seconds,
        "mb_per_s": amount / 1e6 / seconds,
        "cpu_us": cpu_s * 1e6 / requests,
        "cpu_s_per_gb": cpu_s / (amount / 1e9),
        "requests_per_core": requests / cpu_s,
    }
