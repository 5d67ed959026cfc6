"""What a page says, without its marks."""

from html.parser import HTMLParser

BREAKS = {"p", "li", "h1", "h2", "h3", "div", "tr", "section", "figcaption", "dd", "small", "svg"}
SILENT = {"style", "script", "title"}


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in SILENT
        if tag in BREAKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in SILENT
        if tag in BREAKS or tag == "text":
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)


def text_of_page(page: str) -> str:
    """Its words, a line for each paragraph, item and label."""
    parser = _Text()
    parser.feed(page)
    lines = (" ".join(line.split()) for line in "".join(parser.parts).splitlines())
    return "".join(f"{line}\n" for line in lines if line)
