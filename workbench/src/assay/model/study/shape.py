"""The shape of a tree of directories."""


def directories(width: int, depth: int, inner: bool) -> int:
    """Return the number of directories of a tree that hold files: those of the deepest level, or all if `inner`."""
    return sum(width**level for level in range(0 if inner else depth, depth + 1))
