"""Targets of a run with the layers below each of them, as the run found them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.model.base import AssayError
from assay.model.result.layers import Layer
from assay.model.result.run import RunInfo, TargetPlace
from assay.report import numbers
from assay.report.diagrams.pieces import PAGE_WIDTH, Card, Piece, diagram_of
from assay.report.draw.diagram import Diagram, Shape, Wire

_GAP, _BELOW, _ROWS = 14.0, 16.0, 24.0


@dataclass(frozen=True, slots=True)
class _Node:
    """A box with those below it."""

    card: Card
    below: tuple["_Node", ...] = ()

    @property
    def width(self) -> float:
        return max(self.card.natural_width, sum(node.width + _GAP for node in self.below) - _GAP)

    def piece(self) -> Piece:
        """Return it with all below it."""
        width = self.width
        top = self.card.piece(self.card.natural_width)
        shapes = top.at((width - top.width) / 2, 0)
        height = top.height
        x = (width - sum(node.width + _GAP for node in self.below) + _GAP) / 2
        rail = top.height + _BELOW / 2
        for node in self.below:
            inner = node.piece()
            middle = x + inner.width / 2
            shapes.append(
                Wire(((width / 2, top.height), (width / 2, rail), (middle, rail), (middle, rail + _BELOW / 2)))
            )
            shapes += inner.at(x, top.height + _BELOW)
            height = max(height, top.height + _BELOW + inner.height)
            x += inner.width + _GAP
        return Piece(width, height, tuple(shapes))


def run_diagram(run: RunInfo) -> Diagram:
    """Return the diagram of the targets of a run.

    Raises:
        AssayError: The run has no description of its targets, or it does not fit on a page.
    """
    if not run.places:
        raise AssayError(f"run {run.id} has no description of its targets", "name a run that Assay measured")
    pieces = [_target(place).piece() for place in run.places]
    if widest := next(
        (place for place, piece in zip(run.places, pieces, strict=True) if piece.width > PAGE_WIDTH), None
    ):
        message = f"target {widest.target} has more layers side by side than fit on a page"
        raise AssayError(message, "`assay report` has all layers in words")
    rows: list[list[Piece]] = [[]]
    for piece in pieces:
        if rows[-1] and sum(one.width + _ROWS for one in rows[-1]) + piece.width > PAGE_WIDTH:
            rows.append([])
        rows[-1].append(piece)
    shapes: list[Shape] = []
    y = 0.0
    for row in rows:
        x = 0.0
        for piece in row:
            shapes += piece.at(x, y)
            x += piece.width + _ROWS
        y += max(piece.height for piece in row) + _ROWS
    width = max(sum(piece.width + _ROWS for piece in row) - _ROWS for row in rows)
    return diagram_of(Piece(width, y - _ROWS, tuple(shapes)), run_words(run))


def run_words(run: RunInfo) -> str:
    """Return the same in words."""
    dashed = ("Servers are dashed: what is below them was not seen.",) * any(place.servers for place in run.places)
    return " ".join((*map(_target_words, run.places), *dashed))


def _target_words(place: TargetPlace) -> str:
    servers = f", served by {numbers.listing([*place.servers])}" if place.servers else ""
    path = f", {place.path}" if place.path else ""
    chain = f" on {place.storage_chain}" if place.storage_chain else ""
    return f"Target {place.target} ({place.kind}{path}){chain}{servers}."


def _target(place: TargetPlace) -> _Node:
    lines = (place.kind, *([place.path] if place.path and place.path != place.kind else []))
    below = tuple(_folded(_nodes(place.layers, 0)))
    if not below and place.filesystem and place.filesystem != place.kind:
        below = (_Node(Card(place.filesystem)),)
    if place.servers:
        servers = _Node(Card(f"server{'s' * (len(place.servers) > 1)}", lines=tuple(place.servers), is_outside=True))
        below = tuple(_above(node, servers) for node in below) or (servers,)
    return _Node(Card(f"target {place.target}", lines=lines), below)


def _above(node: _Node, lowest: _Node) -> _Node:
    """Return a box with another one below each that has none below it."""
    return replace(node, below=tuple(_above(each, lowest) for each in node.below) or (lowest,))


def _nodes(layers: Sequence[Layer], depth: int) -> Iterator[_Node]:
    """Yield the layers of a depth, each with all that is below it."""
    starts = [place for place, layer in enumerate(layers) if layer.depth == depth]
    for start, end in zip(starts, [*starts, len(layers)][1:], strict=True):
        layer = layers[start]
        named = (layer.kind, layer.detail) if layer.kind != layer.name else (layer.detail,)
        lines = tuple(line for line in dict.fromkeys(named) if line)
        yield _Node(Card(layer.name, lines=lines), tuple(_folded(_nodes(layers[start + 1 : end], depth + 1))))


def _folded(nodes: Iterator[_Node]) -> Iterator[_Node]:
    """Yield the nodes with those that differ by their names alone as one."""
    groups: dict[_Node, list[_Node]] = {}
    for node in nodes:
        groups.setdefault(replace(node, card=replace(node.card, name="")), []).append(node)
    for same in groups.values():
        names = [node.card.name for node in same]
        name = names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"
        yield replace(same[0], card=replace(same[0].card, name=name, count=len(same)))
