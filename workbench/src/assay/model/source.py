"""A file's text as plain values, with the line of each.

YAML is read as a tree of nodes, never through constructors: no tag can run anything, and the position of each value is
known. Of YAML's notations, the surprising ones (yes, 010, 1:30, dates) are plain text here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, ValidationError
from pydantic_core import ErrorDetails

from assay.model.base import Code
from assay.model.frozen import Frozen
from assay.model.units import choices_hint, display_value
from assay.model.user_text import MAX_FILE_BYTES, ExactNumber, first_unprintable

Path = tuple[str | int, ...]
"""Keys and list indices from the root of the file to a value."""

MAX_VALUES = 100_000
"""Limit on the values of a file after its aliases are expanded."""
MAX_DEPTH = 40
"""Limit on the nesting of mappings and lists."""

_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]{0,29})")
_DECIMAL = re.compile(r"[-+]?[0-9]{1,30}(\.[0-9]{0,30})?([eE][-+]?[0-9]{1,3})?")
_PLAIN_TAGS = ("null", "bool", "int", "float", "str", "timestamp", "merge", "value", "seq", "map")


def _one_line(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)


Line = Annotated[str, AfterValidator(_one_line)]


class Problem(Frozen):
    """Something in a file that must be fixed. Lines and columns count from 1."""

    line: int
    column: int
    message: Line
    hint: Line

    def text(self, file: str) -> str:
        """Return two lines: `file:line: error: message` and the hint."""
        return f"{file}:{self.line}: error: {self.message}" + (f"\n  hint: {self.hint}" if self.hint else "")


class FieldFault(Frozen):
    """A problem at a field whose line is not known yet; the field's name precedes the message if `names_field`."""

    path: Path
    message: str
    hint: str
    names_field: bool = True
    code: Code | None = None


@dataclass
class YamlSource:
    """The values of a file and their positions.

    Attributes:
        label: What the file is, for messages; empty: messages do not name it.
        data: Plain Python values: mappings with text keys, lists, text, numbers, booleans, None.
        problems: Problems of the text itself; `read_with_problems` adds those of the values.
        commands: Names of workloads that are written below `commands`.
        replicated: Name of a workload that an entry of `replication` became -> the entry.
    """

    data: Any = None
    label: str = ""
    problems: list[Problem] = field(default_factory=list)
    values: dict[Path, tuple[int, int]] = field(default_factory=dict)
    keys: dict[Path, tuple[int, int]] = field(default_factory=dict)
    commands: frozenset[str] = frozenset()
    replicated: Mapping[str, str] = field(default_factory=dict)

    @property
    def indefinite_label(self) -> str:
        """The kind of file with an indefinite article: `a price book`."""
        article = "an" if self.label[:1] in "aeiou" else "a"
        return f"{article} {self.label}" if self.label else "such a file"

    @property
    def definite_label(self) -> str:
        """The kind of file with a definite article: `the price book`."""
        return f"the {self.label}" if self.label else "it"

    def position(self, path: Path) -> tuple[int, int]:
        """Return line and column of the value at `path`, or of the nearest parent that has a position."""
        path = self.written_path(path)
        while path and path not in self.values:
            path = path[:-1]
        # For a mapping or list that starts below its key, the key is the better position to show.
        block = path in self.keys and self.values[path][0] > self.keys[path][0]
        return self.keys[path] if block else self.values.get(path, (1, 1))

    def written_path(self, path: Path) -> Path:
        """Return where the value at `path` is written: a field that a workload lacks may come from `defaults`."""
        path = self.in_commands(path)
        if path[:1] in (("workloads",), ("commands",)) and len(path) > 2 and path[:3] not in self.values:
            shared: Path = ("defaults", *path[2:])
            return shared if shared[:2] in self.values else path
        return path

    def in_commands(self, path: Path) -> Path:
        """Return the path of a workload's value; below `commands` or `replication` if it was read from there."""
        if path[:1] == ("workloads",) and len(path) > 1 and (entry := self.replicated.get(str(path[1]))):
            return ("replication", entry)
        if path[:1] != ("workloads",) or len(path) < 2 or path[1] not in self.commands:
            return path
        fields = path[3:] if path[2:3] in (("command",), ("replay",)) else path[2:]
        if fields[:1] == ("task_words",):
            fields = ("tasks", *fields[1:])
        return ("commands", path[1], *fields)

    def problem(self, fault: FieldFault) -> Problem:
        """Return the fault as a problem with line and column."""
        line, column = self.position(fault.path)
        message = with_field_name(self.written_path(fault.path), fault.message) if fault.names_field else fault.message
        return Problem(line=line, column=column, message=message, hint=fault.hint)

    def key_position(self, path: Path) -> tuple[int, int]:
        """Return line and column of the key at `path`."""
        return self.keys.get(self.written_path(path)) or self.position(path)


def with_field_name(path: Path, message: str) -> str:
    """Prefix a message with its field: `workloads.grid.record_size[2]: message`."""
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return f"{name}: {message}" if name else message


def read_source(
    data: bytes,
    label: str = "",
    max_bytes: int = MAX_FILE_BYTES,
    max_entries: int = MAX_VALUES,
    is_shipped: bool = False,
) -> YamlSource:
    """Read the values of a file; on failure `problems` says why and `data` is None.

    Args:
        data: Content of the file.
        label: What the file is, for messages; empty: messages do not name it.
        max_bytes: Largest size in bytes.
        max_entries: Largest number of entries in a single mapping or list; checked while they are read.
        is_shipped: The file is part of Assay, and is read by a C library if there is one.
    """
    source = YamlSource(label=label)
    text = _decode(data, source, max_bytes)
    root = _quick(text) if is_shipped and text is not None else None
    if root is None and text is not None:
        root = _compose(text, source, max_entries)
    if root is None:
        return source
    try:
        source.data = _Reader(source).value(root, ())
    except _TooMuchError as error:
        source.problems.append(error.problem)
        source.data = None
    return source


def _decode(data: bytes, source: YamlSource, most: int) -> str | None:
    if len(data) > most:
        source.problems.append(
            Problem(
                line=1,
                column=1,
                message=f"the file has {len(data)} bytes, more than the {most} of {source.indefinite_label}",
                hint=f"give the path of {source.indefinite_label}, not of results or data",
            )
        )
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _place_of(data[: error.start].decode("utf-8-sig", "replace"))
        message = f"not a text file: byte 0x{data[error.start]:02x} is not UTF-8"
        source.problems.append(
            Problem(line=line, column=column, message=message, hint=f"save {source.definite_label} as UTF-8 text")
        )
        return None
    # YAML's reader refuses these too, but without a line. Its own pattern is used: compiling another takes 4 ms.
    unprintable = yaml.SafeLoader.NON_PRINTABLE.search(text)
    if unprintable:
        line, column = _place_of(text[: unprintable.start()])
        message = f"not a text file: unprintable character U+{ord(unprintable[0]):04X}"
        source.problems.append(
            Problem(line=line, column=column, message=message, hint=f"save {source.definite_label} as UTF-8 text")
        )
        return None
    return text


def _place_of(before: str) -> tuple[int, int]:
    return before.count("\n") + 1, len(before) - before.rfind("\n")


class _Bounded(yaml.SafeLoader):
    """A YAML loader that stops as soon as a file exceeds the limits."""

    def __init__(self, text: str, source: YamlSource, entries: int) -> None:
        super().__init__(text)
        self.source, self.entries = source, entries
        self.depth = self.count = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose a node as any composer does, within the limits."""
        self.count += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._too_much(f"the file is nested deeper than {MAX_DEPTH} levels", "reduce the nesting")
        if self.count > MAX_VALUES:
            raise self._too_much(f"the file has more than {MAX_VALUES:,} values", "write a smaller file")
        if isinstance(parent, yaml.CollectionNode) and len(parent.value) > self.entries:
            raise self._too_much(f"more than {self.entries:,} entries in one place", "write fewer")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def _too_much(self, message: str, hint: str) -> "_TooMuchError":
        mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
        return _TooMuchError(Problem(line=mark.line + 1, column=mark.column + 1, message=message, hint=hint))


def _quick(text: str) -> yaml.Node | None:
    """Parse to the same nodes and marks in a quarter of the time, without limits; None on a syntax error."""
    try:
        root: yaml.Node | None = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text).get_single_node()
    except yaml.YAMLError:
        return None
    return root


def _compose(text: str, source: YamlSource, entries: int) -> yaml.Node | None:
    loader = None
    try:
        loader = _Bounded(text, source, entries)
        root: yaml.Node | None = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        source.problems.append(_syntax_problem(error, source.label))
        return None
    except _TooMuchError as error:
        source.problems.append(error.problem)
        return None
    except (ValueError, OverflowError, RecursionError):
        # An escape of a character that does not exist, or a version directive with thousands of digits.
        mark = loader.get_mark() if loader else None
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        message, hint = "not valid YAML: a number is out of range", "check escapes and directives in this line"
        source.problems.append(Problem(line=line, column=column, message=message, hint=hint))
        return None
    if root is None:
        message = "the file is empty"
        hint = (
            f"give the path of {source.indefinite_label}"
            if source.label
            else "write a study; `assay init` writes one to start from"
        )
        source.problems.append(Problem(line=1, column=1, message=message, hint=hint))
    return root


def _syntax_problem(error: yaml.MarkedYAMLError, what: str) -> Problem:
    context = f"{error.context}"
    opened = "flow" in context or "quoted" in context
    mark = (error.context_mark if opened else None) or error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    words = f"{error.problem or error.context or error}".replace("\n", " ")
    if "'\\t'" in words:
        message, hint = "a tab is used where YAML allows spaces only", "indent with spaces"
    elif opened:
        sign = "quote" if "quoted" in context else "bracket"
        message, hint = f"not valid YAML: the {sign} that opens here is not closed", f"add the {sign} that closes it"
    elif "expected <block end>" in words:
        message, hint = "not valid YAML: the indentation does not fit the lines above", "indent keys of one level alike"
    elif "single document" in context:
        message, hint = (
            "a second YAML document starts here",
            f"one file holds one {what or 'document'}: remove the `---`",
        )
    elif "<document start>" in words and not what:
        message = "not valid YAML: text follows the end of the document, as in files with [sections] of fio or IO500"
        hint = "a study is YAML; `assay study from io500 FILE` converts a configuration of IO500"
    elif "mapping values are not allowed" in words:
        message, hint = (
            "not valid YAML: `key: value` is not allowed here",
            "indent keys alike; quote text that has `: `",
        )
    else:
        message, hint = f"not valid YAML: {words}", "check brackets, quotes and indentation at and above this line"
    return Problem(line=line, column=column, message=message, hint=hint)


class _TooMuchError(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _Reader:
    """Turns nodes into values and records their positions. Aliases are expanded, within a budget."""

    def __init__(self, source: YamlSource) -> None:
        self.source = source
        self.left = MAX_VALUES
        self._merge_hint = "write each key out" + ("" if source.label else "; a study shares fields in its `defaults`")

    def value(self, node: yaml.Node, path: Path) -> Any:
        """Return the value of `node` and record its position under `path`."""
        self.left -= 1
        if self.left < 0 or len(path) > MAX_DEPTH:
            raise _TooMuchError(self._too_much(path))
        self.source.values[path] = _mark(node)
        self._check_tag(node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, place)) for place, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        return _scalar(node, self._whole_characters(node, path))

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._add(key_node, "a key must be plain text", "write `key: value`; quote text that has brackets")
                continue
            key = self._whole_characters(key_node)
            here = (*path, key)
            if key == "<<" and not key_node.style:
                self._add(key_node, "merge keys (<<) are not supported", self._merge_hint)
            elif key in values:
                first = self.source.keys[here][0]
                self._add(
                    key_node, f"`{key}` is a duplicate key, first in line {first}", "remove or rename one of them"
                )
            else:
                self.source.keys[here] = _mark(key_node)
                values[key] = self.value(value_node, here)
        return values

    def _whole_characters(self, node: yaml.ScalarNode, path: Path = ()) -> str:
        """Return the text, with escaped surrogate pairs (as JSON writes them) combined."""
        text: str = node.value
        try:
            text = text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self._add(node, "incomplete character: a surrogate without its counterpart", "write the character itself")
            return ""
        found = first_unprintable(text)
        if found:
            self._add(
                node,
                with_field_name(path, f"unprintable character {found}"),
                "write plain text, without escape sequences",
            )
            return ""
        return text

    def _check_tag(self, node: yaml.Node) -> None:
        if node.tag.removeprefix("tag:yaml.org,2002:") not in _PLAIN_TAGS:
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            self._add(
                node,
                f"the YAML tag {tag} is not supported",
                f"remove it; {self.source.indefinite_label} has text, numbers, lists and mappings only",
            )

    def _add(self, node: yaml.Node, message: str, hint: str) -> None:
        line, column = _mark(node)
        self.source.problems.append(Problem(line=line, column=column, message=message, hint=hint))

    def _too_much(self, path: Path) -> Problem:
        line, column = self.source.keys.get(path[:1]) or self.source.position(path[:1])
        deep = len(path) > MAX_DEPTH
        limit = f"deeper than {MAX_DEPTH} levels" if deep else f"to more than {MAX_VALUES:,} values"
        message = f"the aliases (*) below here expand {limit}" if not deep else f"the file is nested {limit}"
        return Problem(
            line=line, column=column, message=message, hint=f"write {self.source.definite_label} without nested aliases"
        )


def _mark(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _scalar(node: yaml.ScalarNode, text: str) -> str | int | float | bool | None:
    return text if node.style else plain_value(text)


def plain_value(text: str) -> str | int | float | bool | None:
    """Return the value of a scalar without quotes."""
    if text in ("", "~", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if _WHOLE.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text) and not text.lstrip("+-").startswith("00") and any(sign in text for sign in ".eE"):
        return ExactNumber(text)
    return text


def without_consequences(problems: Sequence[Problem], source: YamlSource) -> list[Problem]:
    """Leave out problems on lines whose text is itself wrong: they only follow from that."""
    wrong = {problem.line for problem in source.problems}
    return [problem for problem in problems if problem.line not in wrong]


def sorted_problems(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return the problems in file order, each once."""
    return tuple(sorted(dict.fromkeys(problems), key=lambda problem: (problem.line, problem.column)))


def root_errors(error: ValidationError) -> list[ErrorDetails]:
    """Return Pydantic's errors without consequential ones: a list with wrong entries is not also "too short"."""
    return [each for each in error.errors(include_url=False) if each["type"] != "too_short" or not each["input"]]


def type_message(detail: ErrorDetails) -> tuple[str, str] | None:
    """Return message and hint for Pydantic's error about a value of the wrong type; None for other errors."""
    kind, written, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind in ("literal_error", "enum"):
        words = [word.strip().strip("'") for word in context["expected"].replace(" or ", ", ").split(",")]
        return f"{display_value(written)} is not allowed here", choices_hint(written, words)
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        return f"{display_value(written)} is not a mapping", "write `key: value` lines below it, indented"
    if kind in ("tuple_type", "list_type"):
        return f"{display_value(written)} is not a list", "write a list: [a, b]"
    if kind == "too_short":
        return "it is empty", "add at least one entry"
    if kind == "string_type":
        return f"{display_value(written)} is not text", "write text, in quotes if it looks like a number"
    if kind == "string_too_short":
        return "it is empty", "write a name"
    if kind.startswith("date_"):
        return f"{display_value(written)} is not a date", "write year, month and day: 2026-01-31"
    return None
