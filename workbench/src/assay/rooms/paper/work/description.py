"""Descriptions of papers, PAPER.yaml: title, authors, runs, and the parts in order, with the author's texts."""

import json
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from assay.model.base import LineError
from assay.model.escape import escape_json
from assay.model.frozen import Frozen
from assay.model.study.axis import fault
from assay.model.units import choices_hint
from assay.model.user_files import read_user_file
from assay.model.user_text import MAX_FILE_BYTES
from assay.model.yaml_files import read_located_model
from assay.report.document import Block, Heading, Section
from assay.report.summary.lines import is_usable
from assay.report.view import RunView
from assay.rooms.paper.work.build import Paper, assembled
from assay.rooms.paper.work.parts import PARTS, part_section
from assay.rooms.paper.work.prose import ProseRemark, WrongProseError, read_prose

GUIDE = "docs/guides/paper.md"
LABEL = "description of a paper"
_RUN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_BLOCK_TEXT = re.compile(r"[|>][-+0-9]*\s*(#.*)?$")
"""End of a line below which a text of several lines begins."""


class TextPart(Frozen):
    """A text of the authors, in Markdown."""

    text: str


def _is_text(written: Any) -> bool:
    return isinstance(written, dict) and list(written) == ["text"] and isinstance(written["text"], str)


def _title(written: str) -> str:
    if not written.strip():
        raise fault("it is empty", "write a title")
    return written


def _part(written: Any) -> Any:
    """Refuse what is neither the name of a generated part nor a text."""
    if not isinstance(written, str | TextPart) and not _is_text(written):
        raise fault("this is no part", f"name one of {', '.join(PARTS)}, or write `- text: |` with a text below it")
    if isinstance(written, str) and written not in PARTS:
        raise fault(f"there is no part `{written}`", f"{choices_hint(written, PARTS)}; a text is written `- text: |`")
    return written


def _parts(written: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse a generated part that stands there twice."""
    for place, part in enumerate(written):
        if isinstance(part, str) and part in written[:place]:
            raise fault(f"part `{part}` stands there twice", "leave one out", place)
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
    """

    title: Annotated[str, AfterValidator(_title)] = Field(max_length=300)
    authors: tuple[str, ...] = ()
    abstract: str = ""
    runs: Annotated[dict[str, str], BeforeValidator(_runs)] = Field(min_length=1)
    parts: Annotated[tuple[Annotated[str | TextPart, BeforeValidator(_part)], ...], AfterValidator(_parts)] = Field(
        min_length=1
    )


class DescribedPaper:
    """A description that was read from its file, and what it makes of runs.

    Attributes:
        description: Its content.
        remarks: Numbers of the texts that should not stand there without a word, after `build`.
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

    def build(self, views: dict[str, RunView]) -> Paper:
        """Return the paper.

        Args:
            views: The runs by their names in the paper.

        Raises:
            LineError: A reference of a text is wrong.
        """
        written, self._views = self.description, views
        sections: list[Section] = []
        if written.abstract:
            sections.append(Section("abstract", "Abstract", self._text(written.abstract, ("abstract",))))
        for number, part in enumerate(written.parts):
            if isinstance(part, TextPart):
                self._add_text(sections, self._text(part.text, ("parts", number, "text")))
            elif (section := part_section(part, views)) is not None:
                sections.append(section)
        return assembled(written.title, written.authors, views, sections)

    def _text(self, text: str, place: tuple[int | str, ...]) -> tuple[Block, ...]:
        first = self._source.position(place)[0]
        if self._source.values.get(place, (first, 1))[0] == first and _BLOCK_TEXT.search(self._lines[first - 1]):
            first += 1
        try:
            prose = read_prose(text, self._views)
        except WrongProseError as wrong:
            raise LineError(self._path, first + wrong.line, wrong.fault.message, wrong.fault.hint) from None
        self.remarks += [ProseRemark(first + remark.line, remark.text) for remark in prose.remarks]
        return prose.blocks

    @staticmethod
    def _add_text(sections: list[Section], blocks: tuple[Block, ...]) -> None:
        """Add a text: to the section before it, until a heading of its own begins another one."""
        for block in blocks:
            number = len(sections) + 1
            if isinstance(block, Heading) and block.level == 2:
                sections.append(Section(f"text-{number}", block.text, ()))
                continue
            if not sections or sections[-1].id == "abstract":
                sections.append(Section(f"text-{number}", "Introduction", ()))
            last = sections[-1]
            if isinstance(block, Heading):
                block = Heading(block.text, f"{last.id}-{len(last.blocks)}", block.level)
            sections[-1] = Section(last.id, last.title, (*last.blocks, block))


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
        "runs:",
        *(f"  {name}: {_yaml(ref)}" for name, ref in refs.items()),
        "parts:",
    ]
    for name in PARTS:
        lines.append(f"  - {name}")
        if name == "abstract":
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
