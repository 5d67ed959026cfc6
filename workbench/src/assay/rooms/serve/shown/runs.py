"""The page with the list of runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from assay.model.escape import escape_line
from assay.model.result.verdict import RANK
from assay.report import numbers
from assay.report.draw.svg import escape
from assay.rooms.serve.shown.page_frame import page

RUNS_PER_PAGE = 100
"""Most runs on one page."""
REFRESH_SECONDS, REFRESH_LIVE_SECONDS = 30, 5
"""Seconds between looks for changes: in general, and while a run is under way."""
MAX_ANSWER = 400
DOWNLOADS = (("CSV", "export.csv"), ("JSON", "export.json"), ("XLSX", "export.xlsx"))


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in the list. Its texts are untrusted, except `slug`.

    Attributes:
        slug: The run's name in addresses; safe without escaping.
        started: Start in words; empty if unknown.
        planned: Number of planned repeats.
        finished: Number of repeats that have ended.
        verdicts: Each verdict with its number of results.
        answer: The answer that the run stored at its end.
        problem: Why the run cannot be read; empty if it can.
    """

    slug: str
    name: str
    study: str
    status: str
    started: str
    planned: int = 0
    finished: int = 0
    question: str = ""
    host: str = ""
    verdicts: tuple[tuple[str, int], ...] = ()
    answer: str = ""
    problem: str = ""

    @property
    def running(self) -> bool:
        """Whether the run is under way."""
        return self.status == "running"


@dataclass(frozen=True, slots=True)
class RunsPage:
    """One page of the list of a folder's runs.

    Attributes:
        folder: Path of the folder.
        lines: Runs on this page, the newest first.
        total: Number of runs on all pages.
        number: Number of this page, from 1.
        last: Number of the last page.
        studies: Names of all studies.
        study: The study whose runs are shown; None: all runs.
        before, after: Addresses of the previous and the next page; empty if there is none.
    """

    folder: str
    lines: Sequence[RunLine]
    total: int
    number: int = 1
    last: int = 1
    studies: Sequence[str] = ()
    study: str | None = None
    before: str = ""
    after: str = ""


def runs_page(shown: RunsPage) -> str:
    """Return the page as HTML."""
    title = "Runs" if shown.study is None else f"Runs of {shown.study}"
    live = any(line.running for line in shown.lines)
    body = _table(shown) if shown.lines else _empty(shown)
    about = f"{numbers.plural(shown.total, 'run')} in {escape_line(shown.folder)}"
    return page(title, about, body, REFRESH_LIVE_SECONDS if live else REFRESH_SECONDS, live)


def _empty(shown: RunsPage) -> str:
    if shown.study is not None:
        return (
            f"<section><p class=lead>There are no runs of {escape(shown.study)}.</p>"
            '<p><a href="/">All runs</a></p></section>\n'
        )
    return (
        f"<section><p class=lead>There are no runs in {escape(escape_line(shown.folder))} yet.</p>"
        "<p>Start one; it appears here by itself:</p>"
        "<pre>assay init\nassay plan study.yaml\nassay run study.yaml</pre></section>\n"
    )


def _table(shown: RunsPage) -> str:
    heads = "".join(f"<th scope=col>{name}" for name in ("", "Run", "Status", "Verdicts", "Answer"))
    rows = "\n".join(map(_row, shown.lines))
    table = f"<table id=runs><thead><tr>{heads}</thead><tbody>\n{rows}\n</tbody></table>"
    compare = (
        "<p class=act><button id=compare>Compare</button> <span class=soft>Tick two runs or more; the oldest "
        "one comes first.</span></p>"
    )
    form = (
        f'<form action="/compare" method="get">{compare}<div class="table"><div class=scroll>{table}</div></div></form>'
    )
    return f"{_filter(shown)}<section>{form}{_pages(shown)}</section>\n"


def _filter(shown: RunsPage) -> str:
    if len(shown.studies) < 2:
        return ""
    options = "".join(
        "<option "
        f'value="{escape(name)}"{" selected" if name == shown.study else ""}>{escape(escape_line(name, 80))}</option>'
        for name in shown.studies
    )
    everything = f'<option value=""{"" if shown.study else " selected"}>all studies</option>'
    return (
        '<form class=tools action="/" method="get">'
        f"<label>Study <select name=study>{everything}{options}</select></label><button>Show</button></form>\n"
    )


def _pages(shown: RunsPage) -> str:
    if shown.last == 1:
        return ""
    newer = f'<a href="{escape(shown.before)}">newer</a> · ' if shown.before else ""
    older = f' · <a href="{escape(shown.after)}">older</a>' if shown.after else ""
    words = f"page {shown.number:,} of {shown.last:,}, {numbers.plural(shown.total, 'run')}"
    return f"<p class=caption>{newer}{words}{older}</p>"


def _row(line: RunLine) -> str:
    name = escape(escape_line(line.name, 120))
    if line.problem:
        why = (
            f'<td colspan=3><b class="v incomplete">{escape(escape_line(line.status))}</b> '
            f"{escape(escape_line(line.problem))}"
        )
        return f"<tr><td><td><b>{name}</b>{why}"
    tick = f'<input type=checkbox name=run value="{line.slug}" aria-label="Choose {name} to compare">'
    small = " · ".join(escape(escape_line(words, 120)) for words in (line.started, line.study, line.host) if words)
    question = f"<p>{escape(escape_line(line.question, 200))}</p>" if line.question else ""
    run = f'<a href="/run/{line.slug}">{name}</a>{question}<p class=soft>{small}</p>'
    answer = escape(escape_line(line.answer, MAX_ANSWER))
    links = " ".join(f'<a href="/run/{line.slug}/{file}">{words}</a>' for words, file in DOWNLOADS)
    cells = (tick, run, _status(line), _verdicts(line), f"{answer}<p class=soft>{links}</p>")
    return f"<tr>{''.join(f'<td>{cell}' for cell in cells)}"


def _status(line: RunLine) -> str:
    done = f"{line.finished:,} of {numbers.plural(line.planned, 'repeat')}"
    bar = ""
    if line.running and line.planned > 0:
        bar = f"<progress max={line.planned} value={min(line.finished, line.planned)}></progress>"
    return f"{escape(escape_line(line.status, 60))}{bar}<p class=soft>{done}</p>"


def _verdicts(line: RunLine) -> str:
    known = {str(verdict): place for verdict, place in RANK.items()}
    found = sorted(line.verdicts, key=lambda item: (known.get(item[0], -1), item[0]))
    return " ".join(
        f'<b class="v {name if name in known else "unknown"}">{escape(escape_line(name, 40))} {count:,}</b>'
        for name, count in found
    )
