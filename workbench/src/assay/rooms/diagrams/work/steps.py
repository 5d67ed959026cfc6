"""Steps of a workflow, one after another, some side by side."""

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from assay.model.frozen import Frozen
from assay.model.study.axis import fault
from assay.report import numbers
from assay.report.diagrams.pieces import PAGE_WIDTH, Card, Piece, diagram_of
from assay.report.draw.diagram import Diagram, Shape, Wire
from assay.rooms.diagrams.work.described import Name, Texts

_GAP, _BESIDE, _BETWEEN_ROWS = 26.0, 12.0, 30.0
_MAX_STEPS = 40


class WorkflowStep(Frozen):
    """One step."""

    step: Name
    about: Texts = ()

    @property
    def card(self) -> Card:
        """Its box."""
        return Card(self.step, lines=self.about)


def _stage(written: Any) -> Any:
    """Return the steps of a stage: a name, a mapping, or a list of these that run side by side."""
    together = written if isinstance(written, list | tuple) else [written]
    return tuple({"step": one} if isinstance(one, str) else one for one in together)


Stage = Annotated[tuple[WorkflowStep, ...], BeforeValidator(_stage), Field(min_length=1)]


class Workflow(Frozen):
    """Stages in order."""

    stages: tuple[Stage, ...] = Field(min_length=2, max_length=_MAX_STEPS)

    @model_validator(mode="after")
    def _once(self) -> "Workflow":
        names: set[str] = set()
        for place, stage in enumerate(self.stages):
            for step in stage:
                if step.step in names:
                    hint = "the steps go in one direction; give a second pass a name of its own"
                    raise fault(f"the step {step.step} comes twice", hint, place)
                names.add(step.step)
        if len(names) > _MAX_STEPS:
            raise fault(f"{len(names)} steps, and a page has room for {_MAX_STEPS}", "draw a part of them")
        return self

    @property
    def words(self) -> str:
        """The steps in words."""
        stages = [numbers.listing([_step_words(step) for step in stage]) for stage in self.stages]
        return f"In order: {', then '.join(stages)}."


def _step_words(step: WorkflowStep) -> str:
    return f"{step.step} ({'; '.join(step.about)})" if step.about else step.step


class _Placed(NamedTuple):
    """A stage as drawn."""

    pieces: tuple[Piece, ...]

    @property
    def width(self) -> float:
        return max(piece.width for piece in self.pieces)

    @property
    def height(self) -> float:
        return sum(piece.height for piece in self.pieces) + _BESIDE * (len(self.pieces) - 1)

    def tops(self, middle: float) -> list[float]:
        """Return where its pieces begin, around a middle."""
        tops, y = [], middle - self.height / 2
        for piece in self.pieces:
            tops.append(y)
            y += piece.height + _BESIDE
        return tops


def steps_diagram(workflow: Workflow) -> Diagram:
    """Return the diagram of a workflow; it goes on in further rows.

    Raises:
        AssayError: It is too high for a page.
    """
    stages = []
    for stage in workflow.stages:
        cards = [step.card for step in stage]
        width = max(card.natural_width for card in cards)
        stages.append(_Placed(tuple(card.piece(width) for card in cards)))
    rows: list[list[_Placed]] = [[]]
    for placed in stages:
        used = sum(one.width + _GAP for one in rows[-1])
        if rows[-1] and used + placed.width > PAGE_WIDTH - 2 * _BESIDE:
            rows.append([])
        rows[-1].append(placed)
    shapes: list[Shape] = []
    y = 0.0
    width = max(sum(one.width for one in row) + _GAP * (len(row) - 1) for row in rows)
    left = _BESIDE if len(rows) > 1 else 0.0
    for number, row in enumerate(rows):
        height = max(one.height for one in row)
        shapes += _row_shapes(row, left, y + height / 2)
        if number + 1 < len(rows):
            after = max(one.height for one in rows[number + 1])
            end = left + sum(one.width for one in row) + _GAP * (len(row) - 1)
            turn = (end, y + height / 2, left + width + _BESIDE, y + height + _BETWEEN_ROWS / 2)
            shapes += _turn(row[-1], rows[number + 1][0], turn, y + height + _BETWEEN_ROWS + after / 2, left)
        y += height + _BETWEEN_ROWS
    whole = Piece(width + 2 * left, y - _BETWEEN_ROWS, tuple(shapes))
    return diagram_of(whole, workflow.words)


def _row_shapes(row: list[_Placed], x: float, middle: float) -> Iterator[Shape]:
    for place, placed in enumerate(row):
        for piece, top in zip(placed.pieces, placed.tops(middle), strict=True):
            yield from piece.at(x, top)
        if place + 1 < len(row):
            yield from _join(placed, row[place + 1], x + placed.width, middle)
        x += placed.width + _GAP


def _middles(placed: _Placed, middle: float) -> list[float]:
    return [top + piece.height / 2 for piece, top in zip(placed.pieces, placed.tops(middle), strict=True)]


def _join(first: _Placed, second: _Placed, x: float, middle: float) -> Iterator[Shape]:
    """Yield lines from all steps of a stage to all of the next one, by a common point between them."""
    half = x + _GAP / 2 - 2
    for y in _middles(first, middle):
        yield Wire(((x, y), (half, y), (half, middle)))
    for y in _middles(second, middle):
        yield Wire(((half, middle), (half, y), (x + _GAP, y)), "arrow")


def _turn(
    last: _Placed, following: _Placed, turn: tuple[float, float, float, float], middle: float, left: float
) -> Iterator[Shape]:
    """Yield lines from the end of a row to the beginning of the next one.

    Args:
        last: The stage at the end.
        following: The stage at the beginning of the next row.
        turn: End of the row; its middle; where lines go down at the right; and where they go back between the rows.
        middle: Middle of the next row.
        left: Where the next row begins.
    """
    x, y0, right, between = turn
    half = left - _BESIDE + 2
    for y in _middles(last, y0):
        yield Wire(((x, y), (right, y), (right, between), (half, between), (half, middle)))
    for y in _middles(following, middle):
        yield Wire(((half, middle), (half, y), (left, y)), "arrow")
