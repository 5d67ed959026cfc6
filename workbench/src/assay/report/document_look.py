"""The look of a document: its logo, colour, paper, columns, size of type and language."""

from dataclasses import dataclass

MARGIN_PT = 56.7
"""Margin at the left and right edge of a printed page, in points: 20 mm."""
COLUMN_GAP_PT = 17.0
"""Room between two columns of a page, in points."""
MAX_CONTENTS = 60
"""Most headings below sections that a table of contents lists; of more, it lists sections only."""
PAPER_SIZES_PT = {"a4": (595.3, 841.9), "letter": (612.0, 792.0)}
"""Paper -> width and height of an upright page, in points."""


@dataclass(frozen=True, slots=True)
class Logo:
    """A picture for the head of a document.

    Attributes:
        data: Content of the file.
        is_svg: It is an SVG file, otherwise a PNG file.
        width: Width in points as printed.
        height: Height in points as printed.
    """

    data: bytes
    is_svg: bool
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Look:
    """How a document looks; each form of it uses what it has a place for.

    Attributes:
        accent: Colour of headings and rules, as `#rrggbb`.
        columns: Columns of printed text, 1 or 2.
        paper: A key of `PAPER_SIZES_PT`.
        font_size: Size of running text in print, in points.
        language: A language tag such as `en` or `de-CH`, for hyphenation and readers' software.
        has_contents: Whether there is a table of contents; None: only in a long document.
    """

    logo: Logo | None = None
    accent: str = "#0b4f7d"
    columns: int = 1
    paper: str = "a4"
    font_size: float = 10.0
    language: str = "en"
    has_contents: bool | None = None

    @property
    def text_width(self) -> float:
        """Width of the text of an upright page, in points."""
        return PAPER_SIZES_PT[self.paper][0] - 2 * MARGIN_PT

    @property
    def column_width(self) -> float:
        """Width of one column of text, in points."""
        return (self.text_width - COLUMN_GAP_PT * (self.columns - 1)) / self.columns

    @property
    def landscape_width(self) -> float:
        """Width of the text of a page in landscape, in points."""
        return PAPER_SIZES_PT[self.paper][1] - 2 * MARGIN_PT


DEFAULT_LOOK = Look()
"""The look of a document for which none is described."""
