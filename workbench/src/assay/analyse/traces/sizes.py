"""Counts of sizes, in bounded memory."""

from collections.abc import Iterator

EXACT = 4096
"""Different sizes that are kept exactly; of more, all are rounded to `_BITS` binary digits."""
_BITS = 8


class SizeCounts:
    """Counts how often sizes in bytes occur."""

    def __init__(self) -> None:
        self.total = 0
        self.sum = 0
        self._counts: dict[int, int] = {}
        self._is_rounded = False

    def add(self, size: int, count: int = 1) -> None:
        """Count a size."""
        self.total += count
        self.sum += size * count
        key = _rounded(size) if self._is_rounded else size
        self._counts[key] = self._counts.get(key, 0) + count
        if len(self._counts) > EXACT and not self._is_rounded:
            self._is_rounded = True
            counts, self._counts = self._counts, {}
            for each, number in counts.items():
                key = _rounded(each)
                self._counts[key] = self._counts.get(key, 0) + number

    def items(self) -> Iterator[tuple[int, int]]:
        """Yield each size with its count, the smallest first."""
        yield from sorted(self._counts.items())

    def quantile(self, share: float) -> int | None:
        """Return the least size that at least this share of all does not exceed; None without sizes."""
        wanted, seen = share * self.total, 0
        for size, count in self.items():
            seen += count
            if seen >= wanted:
                return size
        return None

    def common(self, most: int, min_share: float) -> list[tuple[int, float]]:
        """Return the most frequent sizes with their share of all, the most frequent first.

        Args:
            most: Number of sizes at most.
            min_share: Least share of one that is returned.
        """
        ranked = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))[:most]
        return [(size, count / self.total) for size, count in ranked if count >= min_share * self.total]


def _rounded(size: int) -> int:
    cut = max(0, size.bit_length() - _BITS)
    return size >> cut << cut
