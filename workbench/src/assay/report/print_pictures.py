"""Charts of a document as pictures with titles and captions, for writers of print and of text."""

from collections.abc import Iterator
from typing import NamedTuple

from assay.report import document as doc
from assay.report.draw import dots
from assay.report.draw.diagram import Diagram
from assay.report.draw.plots import plot_drawing, plots_legend
from assay.report.draw.standalone import Picture, picture_of


class TitledPicture(NamedTuple):
    """A picture, with its title and what is to be seen in it as plain text.

    Attributes:
        words: Title and caption, or all that a diagram shows: for readers who do not see the picture.
    """

    picture: Picture
    title: str
    caption: str
    words: str


def pictures_of(block: doc.Chart | doc.Dots | doc.Gallery | doc.Plots) -> Iterator[TitledPicture]:
    """Yield the pictures of a block in order; none of dots that have no scale."""
    match block:
        case doc.Chart():
            shown = block.drawing.words if isinstance(block.drawing, Diagram) else block.caption
            yield _titled(picture_of(block.drawing), block.title, block.caption, shown)
        case doc.Dots():
            if dots.dots_scale(block) is not None:
                caption = f"{block.title}. {dots.dots_caption(block)}"
                yield _titled(picture_of(block), "All repeats", caption)
        case doc.Gallery():
            for figure in block.figures:
                yield from pictures_of(figure)
        case doc.Plots():
            for plot in block.figures:
                drawing = plot_drawing(plot, plots_legend(block))
                yield _titled(picture_of(drawing), plot.title, f"{plot.caption} {block.caption}".strip())


def _titled(picture: Picture, title: str, caption: str, shown: str = "") -> TitledPicture:
    return TitledPicture(picture, title, caption, f"{title}. {shown or caption}".strip())
