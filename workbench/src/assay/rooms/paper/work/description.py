"""Descriptions of papers, PAPER.yaml: title, authors, runs, and the parts in order, with the author's texts."""

import json
import re
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from assay.model.base import AssayError, LineError
from assay.model.escape import escape_json
from assay.model.frozen import Frozen
from assay.model.study.axis import fault
from assay.model.units import choices_hint
from assay.model.user_files import read_user_file
from assay.model.user_text import MAX_FILE_BYTES
from assay.model.yaml_files import first_fault, read_located_model
from assay.report.document import Block
from assay.report.document_look import Look
from assay.report.paper_part import PaperContext, PartOptions
from assay.report.summary.lines import is_usable
from assay.report.view import RunView
from assay.rooms.paper.work.build import Paper, assembled
from assay.rooms.paper.work.claims.check import SentenceCheck
from assay.rooms.paper.work.look import LookDescription
from assay.rooms.paper.work.part_kinds import part_kinds
from assay.rooms.paper.work.prose import ProseRemark, WrongProseError, read_prose
from assay.rooms.paper.work.sections import ABSTRACT, Sections

GUIDE = "docs/guides/paper.md"
LABEL = "description of a paper"
_RUN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
MAX_PARTS = 500
_TEXT = "text"
"""Name of parts that the authors write."""
_MAX_SENTENCE = 600
"""A longer sentence is not checked, in characters."""
_LONG_NUMBER = re.compile(r"\d{20}")
_BLOCK_TEXT = re.compile(r"[|>][-+0-9]*\s*(#.*)?$")
"""End of a line below which a text of several lines begins."""


class WrittenPart(NamedTuple):
    """A generated part: the name of its kind, and its options."""

    kind: str
    options: PartOptions


class TextPart(NamedTuple):
    """A text of the authors, in Markdown."""

    text: str


def _title(written: str) -> str:
    if not written.strip():
        raise fault("it is empty", "write a title")
    return written


def _part(written: Any) -> WrittenPart | TextPart:
    """Return a part from its name, from `{NAME: options}`, or from `{text: TEXT}`."""
    name, options = _named(written)
    if name == _TEXT and isinstance(options, str):
        return TextPart(options)
    kinds = part_kinds()
    if name not in kinds:
        raise fault(
            f"there is no part `{name}`", f"{choices_hint(name, kinds)}; a text is written `- text: |` with lines below"
        )
    kind = kinds[name]
    if kind.short_option and isinstance(options, str):
        options = {kind.short_option: options}
    if not isinstance(options, dict):
        raise fault(f"`{name}` has no options", f"write a mapping below it; see {GUIDE}", *([name] * bool(options)))
    try:
        return WrittenPart(name, kind.options.model_validate(options))
    except ValidationError as error:
        wrong = first_fault(error, options, kind.options, GUIDE)
        raise fault(wrong.message, wrong.hint, *([name] if isinstance(written, dict) else []), *wrong.path) from None


def _named(written: Any) -> tuple[str, Any]:
    """Return the name of a part and what stands behind it."""
    if isinstance(written, str):
        return written, {}
    if isinstance(written, dict) and len(written) == 1:
        ((name, options),) = written.items()
        return name, {} if options is None else options
    raise fault("this is no part", f"name one of {', '.join(part_kinds())}, or write `- text: |` with a text below it")


def _parts(written: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse a generated part that stands there twice with the same options."""
    for place, part in enumerate(written):
        if isinstance(part, WrittenPart) and part in written[:place]:
            raise fault(f"part `{part.kind}` stands there twice", "leave one out", place)
    return written


def _runs(written: Any) -> Any:
    """Refuse names of runs that no reference could have."""
    for name in written if isinstance(written, dict) else ():
        if not _RUN_NAME.fullmatch(str(name)):
            raise fault(f"`{name}` is no name for a run", "use letters, digits and any of _ . -", name)
    return written


class PaperDescription(Frozen):
    """A paper as its authors order it.

    Attributes:
        title: Title of the paper.
        authors: Their names.
        abstract: A text of the authors in place of the generated abstract; empty: `parts` says where that stands.
        runs: Name in this paper -> run: id, a unique beginning of it, `last`, the name of a study, or a path.
        parts: Names of generated parts, and texts, in order.
        look: Logo, colour, layout and language.
    """

    title: Annotated[str, AfterValidator(_title)] = Field(max_length=300)
    authors: tuple[Annotated[str, Field(max_length=200)], ...] = Field(default=(), max_length=100)
    abstract: str = ""
    runs: Annotated[dict[str, str], BeforeValidator(_runs)] = Field(min_length=1)
    parts: Annotated[tuple[Annotated[Any, BeforeValidator(_part)], ...], AfterValidator(_parts)] = Field(
        min_length=1, max_length=MAX_PARTS
    )
    look: LookDescription = LookDescription()


class DescribedPaper:
    """A description that was read from its file, and what it makes of runs.

    Attributes:
        description: Its content.
        remarks: What should not stand in the texts as it does, by their lines, after `build`.
    """

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            AssayError: The file cannot be read, or is wrong; the message then begins with `file:line:`.
        """
        hint = "name a run, or write a description with `assay paper new RUN > PAPER.yaml`"
        data = read_user_file(path, str(path), hint, MAX_FILE_BYTES)
        self.description, self._source = read_located_model(PaperDescription, data, str(path), GUIDE, LABEL)
        self._path, self._lines = path, data.decode().split("\n")
        self.remarks: list[ProseRemark] = []
        self._views: dict[str, RunView] = {}
        self._check: SentenceCheck | None = None

    def build(self, views: dict[str, RunView]) -> Paper:
        """Return the paper.

        Args:
            views: The runs by their names in the paper.

        Raises:
            LineError: A reference of a text is wrong.
        """
        written, self._views = self.description, views
        kinds = tuple(part.kind for part in written.parts if not isinstance(part, TextPart))
        context = PaperContext(views, self._path.parent, kinds)
        sections = Sections()
        if written.abstract:
            sections.add_part(ABSTRACT, part_kinds()[ABSTRACT].title, self._text(written.abstract, (ABSTRACT,)))
        for number, part in enumerate(written.parts):
            if isinstance(part, TextPart):
                sections.add_blocks(self._text(part.text, ("parts", number, _TEXT)))
            else:
                self._add_part(sections, part, context, number)
        return assembled(written.title, written.authors, views, sections.all, self._look())

    def _look(self) -> Look:
        try:
            return self.description.look.look(self._path.parent)
        except AssayError as error:
            line = self._source.position(("look", "logo"))[0]
            raise LineError(self._path, line, f"look.logo: {error.message}", error.hint) from None

    def _add_part(self, sections: Sections, part: WrittenPart, context: PaperContext, number: int) -> None:
        kind = part_kinds()[part.kind]
        try:
            blocks = tuple(kind.make(part.options, context))
        except LineError:
            raise
        except AssayError as error:
            line = self._source.position(("parts", number))[0]
            raise LineError(self._path, line, f"part `{part.kind}`: {error.message}", error.hint) from None
        sections.add_part(part.kind, part.options.title or kind.title, blocks)

    def place_of_run(self, name: str) -> str:
        """Return where a run is named: `file:line: runs.name`."""
        return f"{self._path}:{self._source.position(('runs', name))[0]}: runs.{name}"

    def _text(self, text: str, place: tuple[int | str, ...]) -> tuple[Block, ...]:
        first = self._source.position(place)[0]
        if self._source.values.get(place, (first, 1))[0] == first and _BLOCK_TEXT.search(self._lines[first - 1]):
            first += 1
        try:
            prose = read_prose(text, self._views)
        except WrongProseError as wrong:
            raise LineError(self._path, first + wrong.line, wrong.fault.message, wrong.fault.hint) from None
        self.remarks += [ProseRemark(first + remark.line, remark.text, remark.kind) for remark in prose.remarks]
        self._check = self._check or SentenceCheck(self._views)
        for line, slip in self._check.faults([one for one in prose.sentences if _can_be_checked(one.text)]):
            text = f"{slip.kind}: `{slip.words}`: {slip.text}"
            self.remarks.append(ProseRemark(first + line, text, slip.kind))
        self.remarks.sort(key=lambda remark: remark.line)
        return prose.blocks


def _can_be_checked(words: str) -> bool:
    """Return whether a sentence is one that a reader can follow: not too long, and without endless numbers."""
    return len(words) <= _MAX_SENTENCE and _LONG_NUMBER.search(words) is None


def description_text(refs: dict[str, str], views: dict[str, RunView]) -> str:
    """Return a PAPER.yaml to start from: all parts, and a text with a reference that holds.

    Args:
        refs: Name of a run in the paper -> how the user named it.
        views: The runs by these names.
    """
    first = next(iter(views.values()))
    lines = [
        f"# A paper: `assay paper PAPER.yaml -o paper.pdf` makes it, `assay paper check PAPER.yaml` checks it; {GUIDE}",
        f"title: {_yaml(first.run.question or first.run.study)}",
        "authors: []",
        '# look: {logo: logo.svg, accent: "#0b4f7d", columns: 2, paper: letter}',
        "runs:",
        *(f"  {name}: {_yaml(ref)}" for name, ref in refs.items()),
        "parts:",
    ]
    for name in (name for name, kind in part_kinds().items() if kind.is_usual):
        lines.append(f"  - {name}")
        if name == ABSTRACT:
            lines += ["  - text: |", "      # Introduction", "", "      Why this was measured, in your own words."]
            lines += _example(views)
    return "\n".join(lines) + "\n"


def _example(views: dict[str, RunView]) -> list[str]:
    """Return a sentence with a reference to the first usable result; none if there is no such result."""
    for name, view in views.items():
        for row in view.analysis.rows:
            if is_usable(row):
                words = [("run", name), ("target", row.case.target), ("workload", row.case.workload)]
                words += [("operation", row.operation), *((axis, str(value)) for axis, value in row.case.axes.items())]
                inner = ", ".join(f"{key}={_word(value)}" for key, value in words if '"' not in value)
                return ["", f"      For example, one result is {{{{ rate({inner}) }}}}."]
    return []


def _word(value: str) -> str:
    return value if re.fullmatch(r"[\w.:/+-]+", value) else f'"{value}"'


def _yaml(text: str) -> str:
    return escape_json(json.dumps(text, ensure_ascii=False))
