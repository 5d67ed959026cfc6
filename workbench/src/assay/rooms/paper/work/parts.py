"""The parts of a paper that are made from one run each."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

from assay.analyse.scaling import scalings
from assay.model.result.decision import PointOutcome
from assay.model.result.imported import imported_words, is_figures_only
from assay.model.result.verdict import PARTLY_CHECKED_MEANING, Verdict
from assay.model.room import hook
from assay.report import numbers
from assay.report.brief import line_tables
from assay.report.claims import find_claims
from assay.report.document import (
    Block,
    Bullets,
    Cell,
    Chart,
    CodeBlock,
    Column,
    Facts,
    Fold,
    Gallery,
    Heading,
    Mono,
    Num,
    Paragraph,
    Span,
    Strong,
    Table,
    Text,
)
from assay.report.draw.drawing import Dot, Drawing, HeatMap, LineMark
from assay.report.sections import cost as cost_section
from assay.report.sections import environment as environment_section
from assay.report.sections import method as method_section
from assay.report.sections import verdicts as verdicts_section
from assay.report.sections.results import are_in_evidence, rate_charts, results_tables
from assay.report.summary.caveats import caveats
from assay.report.summary.page import PageContents, first_page
from assay.report.summary.sentences import claim_sentence, headline
from assay.report.summary.uncompared import ratio_groups
from assay.report.view import RunView, is_plausible

Blocks = list[Block]
_UNKNOWN_CONDITIONS = "No difference between the targets is decided, since not all conditions are known."
_MAX_CHARTS = 1
"""Most charts of rates behind that of the repeats."""
_PARTLY = f" ok *: {PARTLY_CHECKED_MEANING.sentence[0].lower()}{PARTLY_CHECKED_MEANING.sentence[1:]}"
_MAX_NAMED = 12
"""Most names in a line of text."""
_MAX_LINES = 14
"""Most lines of needs and kinds of work."""
_MAX_SEARCHED = 10
"""Charts among which those to print are chosen."""
_MAX_ENDS = 4
"""Most lines whose ends a caption names."""
_MAX_COUNTED = 4
"""Most targets with a column of their own in the table of verdicts."""
_MAX_STUDY_LINES = 45
"""A longer study file is not printed, only named by its hash."""
_HASH_LETTERS = 12


def abstract_blocks(view: RunView) -> Blocks:
    """Return what was measured, what is decided, what it costs, and the gravest caveat."""
    page = first_page(view)
    spans: list[Span] = [_scope(view), " ", *abstract_answer(view, page)]
    if page.cost:
        spans += [" ", *_spans(page.cost)]
    if page.caveats:
        spans += [" Main limit: ", page.caveats[0].text]
    return [Paragraph(single_blanks(spans), lead=True)]


def counted_names(names: Iterable[str], kind: str) -> str:
    """Return names, each once; of many only how many of a kind there are."""
    each = list(dict.fromkeys(names))
    return numbers.listing(each) if len(each) <= _MAX_NAMED else f"{len(each)} {kind}"


def single_blanks(spans: list[Span]) -> Text:
    """Return the spans without the blanks that two of them would put behind each other."""
    found: list[Span] = []
    for span in (span for span in spans if span != ""):
        doubled = isinstance(span, str) and found and isinstance(found[-1], str) and found[-1].endswith(" ")
        found.append(span.lstrip() if doubled and isinstance(span, str) else span)
    return tuple(found)


def abstract_answer(view: RunView, page: PageContents) -> tuple[Span, ...]:
    """Return whether needs are met, and what is decided; where nothing is compared, the lead: usable rates only."""
    found = find_claims(view.analysis.decisions)
    if scalings(view.analysis.rows):
        return _spans(page.lead)
    if not any(claim.counted_points for claim in found):
        return (_UNKNOWN_CONDITIONS,) if ratio_groups(view) else _spans(page.lead)
    needs: tuple[Span, ...] = (*_spans(page.lead), " ") if page.needs else ()
    is_decided = [
        bool(claim.points_with(PointOutcome.FASTER) or claim.points_with(PointOutcome.EQUAL)) for claim in found
    ]
    decided = [claim for claim, is_so in zip(found, is_decided, strict=True) if is_so]
    if not decided:
        return (*needs, "The measurements do not decide which target is faster.")
    answer = claim_sentence(decided[0]) if len(decided) == 1 else headline(decided)
    known = {claim.kind for claim in decided}
    rest = list(dict.fromkeys(claim.kind for claim in found if claim.kind not in known))
    return (*needs, *_spans(answer), f" Nothing is decided for {numbers.listing(rest)}." if rest else "")


def _spans(text: Text) -> tuple[Span, ...]:
    return (text,) if isinstance(text, str) else text


def _scope(view: RunView) -> str:
    run = view.run
    rows = view.analysis.rows
    sound = sum(row.verdict is Verdict.OK for row in rows)
    cases = numbers.plural(len(view.analysis.cases), "case")
    repeats = f"{view.repeats_words} each"
    if run.finished < run.planned:
        repeats = f"{run.finished:,} of {run.planned:,} planned repeats"
    # Folders of the author's machine say nothing to a reader.
    files = [file.model_copy(update={"file": Path(file.file).name}) for file in run.imports]
    made = imported_words(files) or f"measured on {numbers.utc_time(run.created_at)[:10]}"
    passed = f"{sound:,} of {numbers.plural(len(rows), 'result')} passed every check that could run"
    return f"{cases} of {counted_names(view.targets, 'targets')}, {repeats}, {made}; {passed}."


def results_blocks(view: RunView) -> Blocks:
    """Return the answer's tables, the repeats behind them, one chart of rates, and all results if they are few."""
    page = first_page(view, _MAX_LINES)
    # The tables say the same in numbers; without any, the lead says why.
    blocks: Blocks = [] if page.needs or page.lines else [Paragraph(page.lead)]
    blocks += [*line_tables(page.needs, "Needed"), *line_tables(page.lines, "Work", 0)]
    if rest := page.omitted_line_count:
        blocks.append(Paragraph(f"{numbers.plural(rest, 'more line', 'more lines')} of such tables: see the report."))
    blocks += page.dots
    blocks += [_captioned(chart) for chart in islice(_drawn(view), _MAX_CHARTS)]
    if are_in_evidence(view):
        stars = _PARTLY if any(row.is_partly_checked for row in view.analysis.rows) else ""
        tables = (replace(table, caption=table.caption + stars) for table in results_tables(view, short=True))
        return [*blocks, *tables]
    words = (
        f"All {len(view.analysis.rows):,} results with their intervals, and all charts, are in the report of the run: "
    )
    return [*blocks, Paragraph((words, Mono(f"assay report {view.run.id}"), "."))]


def _drawn(view: RunView) -> Iterator[Chart]:
    """Yield charts over an axis first, since a heat map has no intervals."""
    charts = list(islice(rate_charts(view, True), _MAX_SEARCHED))
    return iter(sorted(charts, key=lambda chart: isinstance(chart.drawing, HeatMap)))


def _captioned(chart: Chart) -> Chart:
    """Return the chart with a caption that says what it shows: the ends of each line, if all its results are ok."""
    if not isinstance(chart.drawing, Drawing) or any(dot.look == "open" for dot in chart.drawing.marks_of(Dot)):
        return chart
    drawing = chart.drawing
    names = {key.css_class: key.name for legend in drawing.legends for key in legend.keys}
    lines = [mark for mark in drawing.marks_of(LineMark) if mark.points]
    ends = [words for line in lines if (words := _ends(line, names)) is not None]
    seen = f" From left to right: {numbers.listing(ends)}." if 0 < len(ends) <= _MAX_ENDS else ""
    return replace(chart, caption=chart.caption + seen)


def _ends(line: LineMark, names: Mapping[str, str]) -> str | None:
    """Return the first and the last value of a line in words; None if there are no two."""
    values = [y for _, y in line.points if y is not None]
    if len(values) < 2:
        return None
    name = names.get(line.css_class, "the rate")
    return f"{name} {numbers.significant(values[0])} to {numbers.significant(values[-1])}"


def cost_blocks(view: RunView) -> Blocks:
    """Return what the targets would cost as the designs that the study assigns to them; nothing without prices."""
    section = cost_section.section(view)
    blocks = () if section is None else section.blocks
    return [
        replace(block, figures=block.figures[:1]) if isinstance(block, Gallery) else block
        for block in blocks
        if not isinstance(block, Fold)
    ]


def method_blocks(view: RunView) -> Blocks:
    """Return the method in a few lines, then targets and machine."""
    return [
        *method_section.section(view).blocks,
        Heading("Environment", "environment"),
        *environment_section.section(view).blocks,
    ]


def limits_blocks(view: RunView, has_audit: bool = False) -> Blocks:
    """Return all caveats with their remedies, and how many results have which verdict.

    Args:
        view: The run.
        has_audit: The paper has a part on what speaks against imported figures.
    """
    growth = scalings(view.analysis.rows)
    found = caveats(view, find_claims(view.analysis.decisions), growth)
    items: list[Text] = [_audit_item(view, one.text, has_audit) for one in found if one.is_audit]
    found = [one for one in found if not one.is_audit]
    items += [(Strong(one.text), f" {one.remedy}") if one.remedy else (Strong(one.text),) for one in found]
    items += _doubts(view)
    if view.run.imports:
        return [Bullets(tuple(items))] if items else []
    blocks = [one for one in verdicts_section.section(view).blocks if isinstance(one, Table | Paragraph | Bullets)]
    counts = [_summed(block, len(view.targets)) if isinstance(block, Table) else block for block in blocks]
    end = "Sections that are named here and missing in this paper, such as Evidence, are in the report: "
    return [Bullets(tuple(items)), *counts, Paragraph((end, Mono(f"assay report {view.run.id}"), "."))]


def _audit_item(view: RunView, text: str, has_audit: bool) -> Text:
    """Return how many results the audit has an error against, and where its findings are."""
    doubted = len(hook("doubted_cases")(Path(view.run.folder)))
    of = numbers.part_of_total(doubted, len(view.analysis.cases), "result")
    results = f" Its errors are about {of}, marked `?` in tables." if doubted else ""
    if has_audit:
        short = hook("audit_words")(Path(view.run.folder), False)
        return (Strong(short), f"{results} The section on what speaks against the printed figures has them all.")
    return (Strong(text), f"{results} ", Mono(f"assay audit {view.run.id}"), " lists them all.")


def _summed(counts: Table, targets: int) -> Table:
    """Return the counts of verdicts in one column for all targets, if these are too many for a column each."""
    if targets <= _MAX_COUNTED:
        return counts

    def total(row: tuple[Cell, ...]) -> Num:
        value = sum(cell.value or 0.0 for cell in row[1 : targets + 1] if isinstance(cell, Num))
        return Num(numbers.count(value), value)

    columns = (counts.columns[0], Column("Results", is_numeric=True), *counts.columns[targets + 1 :])
    return replace(
        counts, columns=columns, rows=tuple((row[0], total(row), *row[targets + 1 :]) for row in counts.rows)
    )


def _doubts(view: RunView) -> list[Text]:
    """Return what is true of every such measurement, with this run's numbers."""
    run, rows = view.run, view.analysis.rows
    texts: list[Text] = []
    # Rows of tables that are no measurements are shown by parts of their own.
    excluded = [one for one in view.analysis.excluded if not is_figures_only(one.reason)]
    if excluded:
        count = numbers.plural(len(excluded), "row" if run.imports else "point")
        words = f"{count} {'was' if len(excluded) == 1 else 'were'} left out"
        where = " on ".join(filter(None, (excluded[0].workload, excluded[0].target)))
        texts.append(f"{words}. The reason of the first ({where}): {excluded[0].reason}.")
    if false := sum(not is_plausible(row) and row.rate is not None for row in rows):
        texts.append(f"{numbers.plural(false, 'rate')} of a cache, or above what is possible: in no comparison.")
    if not run.imports:
        texts.append(
            "The numbers hold for this machine, its load and the amounts of data named here: another machine, or data "
            "larger than its caches, may order the targets differently."
        )
    return texts


def appendix_blocks(view: RunView) -> Blocks:
    """Return commands, versions and, if it is short, the study file, with which the run can be repeated."""
    run = view.run
    facts: list[tuple[str, Text]] = [("Run", (Mono(run.id),)), ("Command", (Mono(run.command),))]
    facts += [(name, (Mono(_short_hash(value)),)) for name, value in run.versions.items()]
    blocks: Blocks = [Facts(tuple(facts))]
    if run.imports:
        return blocks
    lines = run.study_text.rstrip().count("\n") + 1
    if lines > _MAX_STUDY_LINES:
        words = f"The study file has {lines:,} lines and is stored in the run; its hash is above. To repeat the run: "
        return [*blocks, Paragraph((words, Mono("assay run study.yaml"), "."))]
    repeat = Paragraph(
        ("To repeat the run, save this study as ", Mono("study.yaml"), ": ", Mono("assay run study.yaml"), ".")
    )
    return [*blocks, repeat, CodeBlock(run.study_text, "yaml")]


def _short_hash(value: str) -> str:
    is_hash = len(value) == 64 and all(letter in "0123456789abcdef" for letter in value)
    return f"{value[:_HASH_LETTERS]}…" if is_hash else value
