"""XML of the Phoronix Test Suite, read without document types and entities, which XML bombs are made of."""

from collections.abc import Mapping
from typing import NamedTuple
from xml.parsers import expat

from assay.model.escape import escape_line
from assay.rooms.importers.work.results import OutputError

HINT = "give composite.xml as the Phoronix Test Suite wrote it"
MAX_DEPTH = 12
MAX_ENTRIES = 20_000
MAX_TEXT = 1 << 20
"""Most characters of one element that are kept."""
ROOT = "PhoronixTestSuite"


class SystemEntry(NamedTuple):
    """What one system measured in a test: its name, the mean, and each run, joined by colons."""

    system: str
    value: str
    raw: str


class PhoronixTest(NamedTuple):
    """A test with its result on each system.

    Attributes:
        line: Its line, from 1.
        words: Name of the element -> its text: Identifier, Title, AppVersion, Description, Scale, Proportion.
        entries: Of each system.
    """

    line: int
    words: Mapping[str, str]
    entries: tuple[SystemEntry, ...]


class PhoronixFile(NamedTuple):
    """A result file: general facts (TestClient, LastModified), and all tests."""

    facts: Mapping[str, str]
    results: tuple[PhoronixTest, ...]


class _Reader:
    """Takes what the parser finds."""

    def __init__(self, parser: expat.XMLParserType, first: int) -> None:
        self.parser, self.first = parser, first
        self.path: list[str] = []
        self.text: list[str] = []
        self.size = self.count = 0
        self.facts: dict[str, str] = {}
        self.words: dict[str, str] = {}
        self.entry: dict[str, str] = {}
        self.entries: list[SystemEntry] = []
        self.results: list[PhoronixTest] = []
        self.line = first

    @property
    def number(self) -> int:
        """Line of the file at which the parser is."""
        return self.first + self.parser.CurrentLineNumber - 1

    def start(self, name: str, _attributes: object) -> None:
        """Take the begin of an element."""
        self.path.append(name)
        self.text, self.size = [], 0
        if len(self.path) > MAX_DEPTH:
            raise OutputError(self.number, "elements are nested too deeply", HINT)
        if self.path[0] != ROOT:
            raise OutputError(self.number, f"no {ROOT}, but {escape_line(name, 40)}", HINT)
        if self.path[1:] == ["Result"]:
            self.words, self.entries, self.line = {}, [], self.number
        elif self.path[1:] == ["Result", "Data", "Entry"]:
            self.entry = {}

    def data(self, text: str) -> None:
        """Take text within an element."""
        if self.size < MAX_TEXT:
            self.text.append(text)
            self.size += len(text)

    def end(self, name: str) -> None:
        """Take the end of an element."""
        text = "".join(self.text).strip()
        place = self.path[1:]
        if place[:1] == ["Generated"] and len(place) == 2:
            self.facts[name] = text
        elif place[:3] == ["Result", "Data", "Entry"] and len(place) == 4:
            self.entry[name] = text
        elif place == ["Result", "Data", "Entry"]:
            self.count += 1
            if self.count > MAX_ENTRIES:
                raise OutputError(self.number, f"more than {MAX_ENTRIES:,} results", "give fewer tests at once")
            self.entries.append(SystemEntry(*(self.entry.get(one, "") for one in ("Identifier", "Value", "RawString"))))
        elif place[:1] == ["Result"] and len(place) == 2:
            self.words[name] = text
        elif place == ["Result"]:
            self.results.append(PhoronixTest(self.line, self.words, tuple(self.entries)))
        self.path.pop()
        self.text, self.size = [], 0

    def refuse(self, *_: object) -> None:
        """Refuse a document type: it may define entities that expand without end."""
        raise OutputError(self.number, "a document type (DOCTYPE), which the Phoronix Test Suite does not write", HINT)


def read_xml(text: str, first: int) -> PhoronixFile:
    """Return what a result file says.

    Args:
        text: The document, without anything before and after.
        first: Line of the file on which it begins.

    Raises:
        OutputError: It is no XML of the Phoronix Test Suite.
    """
    # Python has decoded the text, so that what it says of its encoding does not count.
    parser = expat.ParserCreate("UTF-8")
    reader = _Reader(parser, first)
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.data
    parser.StartDoctypeDeclHandler = reader.refuse
    parser.EntityDeclHandler = reader.refuse
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        words = expat.errors.messages.get(error.code, "damaged")
        raise OutputError(first + max(0, error.lineno - 1), f"not XML: {words}", HINT) from None
    return PhoronixFile(reader.facts, tuple(reader.results))
