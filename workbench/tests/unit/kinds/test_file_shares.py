"""A directory with shares: each of them is looked at, claimed and emptied like the first."""

from typing import Any

from assay.contract._answers import Space
from assay.kinds.file.study import FileTarget
from assay.kinds.handler import Inspection, handler_of

PATHS = ("/mnt/a/assay", "/mnt/b/assay", "/mnt/c/assay")
TARGET = FileTarget(kind="file", path=PATHS[0], shares=list(PATHS[1:]))  # type: ignore[arg-type]


class Hands:
    """Looks, claims and cleans; keeps what it was asked for."""

    def __init__(self, seen: dict[str, Inspection] | None = None) -> None:
        self.seen = seen
        self.asked: list[tuple[str, ...]] = []

    def directory(self, *words: str) -> Any:
        self.asked.append(words)
        return self.seen[words[0]] if self.seen is not None else [f"{words[0]}/left"]


def space(free: int) -> Space:
    return Space(block_bytes=4096, size_bytes=100, free_bytes=free, files=0, free_files=0)


def test_all_directories_are_claimed_and_cleaned() -> None:
    hands = Hands()
    handler_of(TARGET).claim(hands)
    assert hands.asked == [(path,) for path in PATHS]
    assert handler_of(TARGET).clean("c0001-r1", hands) == [f"{path}/left" for path in PATHS]
    assert TARGET.paths == PATHS


def test_what_is_wrong_with_one_is_wrong_with_all() -> None:
    seen = {path: Inspection(real_path=path, space=space(10 + number)) for number, path in enumerate(PATHS)}
    found = handler_of(TARGET).inspect(Hands(seen))
    assert (list(found.problems), found.real_path) == ([], PATHS[0])
    assert found.space is not None and (found.space.free_bytes, found.space.size_bytes) == (30, 300)
    seen[PATHS[2]] = Inspection(problems=[("full of holes", "mend it")], real_path=PATHS[2])
    broken = handler_of(TARGET).inspect(Hands(seen))
    assert list(broken.problems) == [("full of holes", "mend it")] and broken.space is None


def test_two_names_of_one_directory_are_one_too_many() -> None:
    seen = {path: Inspection(real_path="/mnt/same") for path in PATHS}
    (problem,) = handler_of(TARGET).inspect(Hands(seen)).problems
    assert problem == ("its shares lead to the same directory", "name each directory once")
