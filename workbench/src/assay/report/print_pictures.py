"""Charts of a document as pictures with titles and captions, for writers of print and of text."""

from collections.abc import Iterator
from typing import NamedTuple

from assay.report import document as doc
from assay.report.draw import dots
from assay.report.draw.diagram import Diagram
from assay.report.draw.drawing import Drawing, HeatMap, Surface
from assay.report.draw.plots import plot_drawing, plots_legend
from assay.report.draw.standalone import Picture, picture_of


class TitledPicture(NamedTuple):
    """A picture, with its title and what is to be seen in it as plain text."""

    picture: Picture
    title: str
    caption: str

    @property
    def words(self) -> str:
        """The title, and all that a diagram shows, or the caption: for readers who do not see the picture."""
        return f"{self.title}. {self.picture.words or self.caption}".strip()


class TitledDrawing(NamedTuple):
    """What is drawn, with its title and what is to be seen in it as plain text."""

    drawing: Drawing | HeatMap | Surface | Diagram | doc.Dots
    title: str
    caption: str


def pictures_of(block: doc.Chart | doc.Dots | doc.Gallery | doc.Plots) -> Iterator[TitledPicture]:
    """Yield the pictures of a block in order; none of dots that have no scale."""
    for drawing, title, caption in drawings_of(block):
        yield TitledPicture(picture_of(drawing), title, caption)


def drawings_of(block: doc.Chart | doc.Dots | doc.Gallery | doc.Plots) -> Iterator[TitledDrawing]:
    """Yield what the pictures of a block show, in order; nothing of dots that have no scale."""
    match block:
        case doc.Chart():
            yield TitledDrawing(block.drawing, block.title, block.caption)
        case doc.Dots():
            if dots.dots_scale(block) is not None:
                yield TitledDrawing(block, "All repeats", f"{block.title}. {dots.dots_caption(block)}")
        case doc.Gallery():
            for figure in block.figures:
                yield from drawings_of(figure)
        case doc.Plots():
            for plot in block.figures:
                drawing = plot_drawing(plot, plots_legend(block))
                yield TitledDrawing(drawing, plot.title, f"{plot.caption} {block.caption}".strip())
