"""The shape of a tree of directories."""


def directories(width: int, depth: int, inner: bool) -> int:
    """Directories of a tree that hold files: those of the deepest level, or of all."""
    return sum(width**level for level in range(0 if inner else depth, depth + 1))
