"""The sections of a paper, as its parts come one after the other."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace

from assay.report.document import Block, Fold, Heading, Section

ABSTRACT = "abstract"
_CHAPTER = 2
"""Level of a heading that begins a section."""


class Sections:
    """Sections that grow; every block has an id that no other has.

    Attributes:
        all: The sections so far.
    """

    def __init__(self) -> None:
        """Start without any."""
        self.all: list[Section] = []
        self._ids: set[str] = set()

    def add_part(self, name: str, title: str, blocks: Iterable[Block]) -> None:
        """Add a generated part as a section; without a title, to the section before it; nothing without blocks."""
        made = tuple(blocks)
        if not title:
            self.add_blocks(made)
        elif made:
            self._begin(name, title)
            for block in made:
                self._append(block)

    def add_blocks(self, blocks: Iterable[Block]) -> None:
        """Add blocks to the last section, until a heading of level 2 begins another one, or an abstract ends."""
        for block in blocks:
            if isinstance(block, Heading) and block.level == _CHAPTER:
                self._begin("text", block.text)
                continue
            if not self.all or self.all[-1].id == ABSTRACT:
                self._begin("text", "Introduction")
            self._append(block)

    def _append(self, block: Block) -> None:
        last = self.all[-1]
        self.all[-1] = replace(last, blocks=(*last.blocks, self._with_own_id(block, last.id)))

    def _begin(self, name: str, title: str) -> None:
        self.all.append(Section(self._own_id(name), title, ()))

    def _with_own_id(self, block: Block, section: str) -> Block:
        """Return the block, and blocks within it, with ids that no other block has."""
        changes: dict[str, object] = {}
        for field in fields(block):
            value = getattr(block, field.name)
            if field.name == "id" and (value or not isinstance(block, Fold)):
                changes["id"] = self._own_id(value or section)
            elif isinstance(value, tuple) and value and is_dataclass(value[0]) and hasattr(value[0], "id"):
                changes[field.name] = tuple(self._with_own_id(one, section) for one in value)
        return replace(block, **changes) if changes else block  # type: ignore[arg-type]

    def _own_id(self, wanted: str) -> str:
        found, number = wanted, 2
        while found in self._ids:
            found, number = f"{wanted}-{number}", number + 1
        self._ids.add(found)
        return found
