"""Kinds of parts of papers: what makes their blocks, and from what. Rooms add their own (`Room.paper_parts`)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.units import choices_hint
from assay.report import numbers
from assay.report.document import Block
from assay.report.view import RunView


class PartOptions(Frozen):
    """What a description states of one part; kinds of parts add fields of their own.

    Attributes:
        title: In place of the title that the kind has.
        runs: Names of the runs that the part covers; empty: all of the paper.
    """

    title: Annotated[str, Field(max_length=300)] = ""
    runs: tuple[str, ...] = ()


_MAX_LISTED = 5


@dataclass(frozen=True, slots=True)
class PaperContext:
    """What parts are made from.

    Attributes:
        views: The runs of the paper by their names in it.
        folder: Where files that a description names are looked for.
        kinds: The kinds of all parts that the description orders, in order.
    """

    views: Mapping[str, RunView]
    folder: Path = field(default_factory=Path)
    kinds: tuple[str, ...] = ()

    def chosen_runs(self, options: PartOptions) -> dict[str, RunView]:
        """Return the runs that a part covers, by name.

        Raises:
            AssayError: The part names a run that the paper does not have.
        """
        return self.named_runs(options.runs)

    def named_runs(self, names: Iterable[str]) -> dict[str, RunView]:
        """Return the runs of these names, all of the paper if there are none.

        Raises:
            AssayError: The paper has no run of a name.
        """
        chosen = tuple(names)
        for name in chosen:
            if name not in self.views:
                raise AssayError(f"the paper has no run `{name}`", choices_hint(name, self.views))
        return {name: self.views[name] for name in chosen or self.views}


@dataclass(frozen=True, slots=True)
class PartKind:
    """A kind of part.

    Attributes:
        make: Returns the blocks; none: the part is left out. An `AssayError` of it gets the part's line.
        title: Title of the section that the part becomes; empty: its blocks continue the section before it.
        options: Class of its options.
        is_usual: It is in papers that no description orders.
        short_option: Option that a text in place of a mapping stands for: `audit: nfs` is `audit: {run: nfs}`; empty:
            there must be a mapping.
    """

    make: Callable[[Any, PaperContext], Iterable[Block]]
    title: str = ""
    options: type[PartOptions] = PartOptions
    is_usual: bool = False
    short_option: str = ""


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MAX_LISTED
    return numbers.listing([*names[:_MAX_LISTED], f"{more} more"] if more > 1 else list(names))


def part_of_each(make: Callable[[RunView], Sequence[Block]]) -> Callable[[PartOptions, PaperContext], list[Block]]:
    """Return what makes a part from one run after the other, each below its name if there are several.

    Runs of which the same is said share one heading.
    """

    def blocks(options: PartOptions, context: PaperContext) -> list[Block]:
        from assay.report.document import Heading

        views = context.chosen_runs(options)
        alike: list[tuple[list[str], Sequence[Block]]] = []
        for run, view in views.items():
            made = make(view)
            names = next((names for names, other in alike if other == made), None)
            if names is not None:
                names.append(run)
            elif made:
                alike.append(([run], made))
        if len(views) == 1:
            return [block for _, made in alike for block in made]
        return [block for names, made in alike for block in (Heading(_listed(names), ""), *made)]

    return blocks
