"""Result files of the Phoronix Test Suite: composite.xml, and its export as JSON (`result-file-to-json`).

Names are those of pts-core/objects/pts_result_file.php and pts_result_file_output.php. What the numbers of a test are
is in its profile (results-definition.xml).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.databases.transactions import is_amount
from assay.rooms.importers.work.json_text import decode_json, line_of
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    OutputError,
    ToolOutput,
)
from assay.rooms.importers.work.suites.phoronix_tests import UNITS, TestMeaning, meaning_of, measured_of
from assay.rooms.importers.work.suites.phoronix_xml import (
    HINT,
    MAX_ENTRIES,
    PhoronixFile,
    PhoronixTest,
    SystemEntry,
    read_xml,
)

NAME = "Phoronix Test Suite"
MAX_RUNS = 1_000
_XML = re.compile(r"<\?xml [^<]{0,200}\?>\s*(?:<!--(?:(?!-->).){0,500}-->\s*)?(?:<!DOCTYPE|<PhoronixTestSuite[\s>])"
                  r"|<PhoronixTestSuite[\s>]", re.DOTALL)  # fmt: skip
_END = "</PhoronixTestSuite>"
_JSON = re.compile(r'^\{(?=\s*"title":)', re.MULTILINE)
_JSON_SIGNS = ('"systems":', '"results":', '"proportion":')
_NAMES = (("Identifier", "identifier"), ("Title", "title"), ("AppVersion", "app_version"),
          ("Description", "description"), ("Scale", "scale"), ("Proportion", "proportion"))  # fmt: skip


class _Part(NamedTuple):
    """The entry of one scale: rates in bytes and in operations of one test stand in two results."""

    scale: str
    proportion: str
    entry: SystemEntry


def recognise(text: str) -> bool:
    """Whether a text is a result file of the Phoronix Test Suite."""
    if "<PhoronixTestSuite" in text and "<Result>" in text:
        return _XML.search(text) is not None
    return all(sign in text for sign in _JSON_SIGNS) and _JSON.search(text) is not None


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return the result file in a text.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: tests have their order.

    Raises:
        OutputError: It is not what the Phoronix Test Suite writes.
    """
    if (match := _XML.search(text)) is not None:
        line = line_of(text, match.start())
        end = text.rfind(_END)
        document = read_xml(text[match.start() : end + len(_END) if end > match.start() else len(text)], line)
        form = "XML"
    else:
        line, document = _json_document(text)
        form = "JSON"
    results = tuple(_results(document.results))
    if not results:
        raise OutputError(line, "no results in this file of the Phoronix Test Suite", HINT)
    known = {
        "tool": NAME,
        "form": form,
        "line": line,
        "version": escape_line(
            document.facts.get("TestClient", "").removeprefix("Phoronix Test Suite ").lstrip("v"), 30
        ),
        "date": escape_line(document.facts.get("LastModified", ""), 40),
    }
    return [ToolOutput(file=file.model_copy(update=known), results=results)]


def _json_document(text: str) -> tuple[int, PhoronixFile]:
    match = _JSON.search(text)
    if match is None:
        raise OutputError(1, "no result file of the Phoronix Test Suite", HINT)
    line = line_of(text, match.start())
    document, _ = decode_json(text, match.start())
    tests = document.get("results") if isinstance(document, dict) else None
    if not isinstance(tests, dict):
        raise OutputError(line, "no `results` in this file", HINT)
    found = [_json_test(one, line) for one in tests.values()]
    if sum(len(one.entries) for one in found) > MAX_ENTRIES:
        raise OutputError(line, f"more than {MAX_ENTRIES:,} results", "give fewer tests at once")
    return line, PhoronixFile({"LastModified": _word(document.get("last_modified"))}, tuple(found))


def _json_test(test: Any, line: int) -> PhoronixTest:
    systems = test.get("results") if isinstance(test, dict) else None
    if not isinstance(systems, dict) or not all(isinstance(one, dict) for one in systems.values()):
        raise OutputError(line, "a test without results of systems", HINT)
    entries = []
    for name, one in systems.items():
        raw = one.get("raw_values")
        texts = ":".join(str(part) for part in raw) if isinstance(raw, list) else ""
        entries.append(SystemEntry(str(name), _word(one.get("value")), texts))
    return PhoronixTest(line, {ours: _word(test.get(theirs)) for ours, theirs in _NAMES}, tuple(entries))


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _results(tests: Sequence[PhoronixTest]) -> Iterator[ImportedResult]:
    """Yield the results of each test on each system; those of one test in other scales belong together."""
    groups: dict[tuple[str, str, str], tuple[PhoronixTest, list[_Part]]] = {}
    order: list[tuple[str, str, str]] = []
    for test in tests:
        for entry in test.entries:
            scale, proportion = test.words.get("Scale", ""), test.words.get("Proportion", "")
            key = (test.words.get("Identifier", ""), test.words.get("Description", ""), entry.system)
            if key in groups and any(one.scale == scale for one in groups[key][1]):
                # Twice the same: each stands by itself.
                key = (*key[:2], f"{key[2]}\0{len(order)}")
            if key not in groups:
                groups[key] = (test, [])
                order.append(key)
            groups[key][1].append(_Part(scale, proportion, entry))
    for key in order:
        yield from _repeats(*groups[key])


def _repeats(test: PhoronixTest, parts: Sequence[_Part]) -> Iterator[ImportedResult]:
    """Yield a result for each run of a test, or one of its mean if the runs are not all printed."""
    meaning = meaning_of(test.words.get("Identifier", ""), test.words.get("Description", ""))
    runs = [[text for text in part.entry.raw.split(":") if is_amount(text)][:MAX_RUNS] for part in parts]
    counts = {len(one) for one in runs}
    count = counts.pop() if len(counts) == 1 else 0
    means = [_figure(part, part.entry.value, "mean") for part in parts if is_amount(part.entry.value)]
    if not count:
        raws = [_figure(part, text, f"run {at}") for part, each in zip(parts, runs, strict=True)
                for at, text in enumerate(each, start=1)]  # fmt: skip
        values = {part.scale: part.entry.value for part in parts if is_amount(part.entry.value)}
        yield _result(test, parts, meaning, values, [*means, *raws])
        return
    for at in range(count):
        values = {part.scale: run[at] for part, run in zip(parts, runs, strict=True)}
        own = [_figure(part, run[at], f"run {at + 1}") for part, run in zip(parts, runs, strict=True)]
        yield _result(test, parts, meaning, values, [*own, *([] if at else means)])


def _figure(part: _Part, text: str, what: str) -> Figure:
    scale = escape_line(part.scale, 40) or "value"
    return Figure(f"{scale}, {what}", text, UNITS.get(part.scale, ""))


def _result(
    test: PhoronixTest,
    parts: Sequence[_Part],
    meaning: TestMeaning,
    values: Mapping[str, str],
    figures: Sequence[Figure],
) -> ImportedResult:
    description = escape_line(test.words.get("Description", ""), 200)
    title = escape_line(test.words.get("Title", "") or test.words.get("Identifier", ""), 80)
    measured = measured_of(meaning, values)
    left_out = meaning.left_out or ("" if measured else "no rate above 0 is printed")
    version = escape_line(test.words.get("AppVersion", ""), 40)
    return ImportedResult(
        name=f"{title}: {description}" if description else title,
        line=test.line,
        target=escape_line(parts[0].entry.system, 80) or NAME,
        workload=f"{title}: {description}" if description else title,
        operation=meaning.operation if measured and not left_out else None,
        parameters=dict(meaning.parameters) if measured and not left_out else {},
        options={
            "test": escape_line(test.words.get("Identifier", ""), 60),
            **({"version": version} if version else {}),
            **{escape_line(part.scale, 40): part.proportion for part in parts if part.proportion in ("HIB", "LIB")},
        },
        figures=tuple(figures),
        measured=None if left_out else measured,
        left_out=left_out,
    )
