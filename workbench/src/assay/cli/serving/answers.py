"""The answers of `assay serve` to requests, by address."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs, quote, unquote_to_bytes

from assay.cli.export import Format
from assay.cli.serving.folder import Entry, Folder
from assay.model.base import AssayError
from assay.model.foreign import plain
from assay.report.pages.frame import message, policy
from assay.report.pages.runs import PAGE, RunsPage, runs_page

HTML = "text/html; charset=utf-8"
_KINDS = {
    Format.CSV: "text/csv; charset=utf-8",
    Format.JSON: "application/json",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_MOST_FIELDS = 20
_MOST_SHOWN = 80
"""Characters of a run's name that an error page repeats at most."""
_REPORT_POLICY = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Added to a report's own policy: `frame-ancestors` works only in a header, not in a page."""


@dataclass(frozen=True)
class Answer:
    """The answer to a request.

    Attributes:
        status: HTTP status code.
        kind: Content type.
        headers: Headers in addition to those of every answer.
    """

    status: int
    body: bytes
    kind: str = HTML
    headers: tuple[tuple[str, str], ...] = ()


def page(text: str, status: int = HTTPStatus.OK) -> Answer:
    """Return the answer with one of the server's own pages."""
    return Answer(status, text.encode("utf-8", "replace"), HTML, (("Content-Security-Policy", policy()),))


def refusal(status: int, text: str, hint: str = "") -> Answer:
    """Return an error page with the reason and a hint."""
    return page(message(HTTPStatus(status).phrase, text, hint), status)


def answer(folder: Folder, address: str) -> Answer:
    """Return the answer to a request.

    Args:
        folder: The runs.
        address: Path and query of the request.
    """
    path, _, query = address.partition("?")
    try:
        fields = parse_qs(query, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return refusal(HTTPStatus.BAD_REQUEST, f"More than {_MOST_FIELDS} fields are named in the address.")
    try:
        return _route(folder, path.split("/")[1:], fields)
    except AssayError as error:
        return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, f"{error.message}.", error.hint)


def _route(folder: Folder, parts: Sequence[str], fields: Mapping[str, list[str]]) -> Answer:
    match parts:
        case [""]:
            return _runs(folder, fields)
        case ["compare"]:
            return _compare(folder, fields)
        case ["favicon.ico"]:
            return Answer(HTTPStatus.NO_CONTENT, b"")
        case ["run", name]:
            return _run_answer(folder, name, lambda run: _report(folder.report(run)))
        case ["run", name, "report.html"]:
            return _run_answer(
                folder, name, lambda run: _report(folder.report(run, bare=True), _download_header(run, "html"))
            )
        case ["run", name, file] if file.startswith("export.") and file.removeprefix("export.") in _KINDS:
            format_ = Format(file.removeprefix("export."))
            return _run_answer(
                folder,
                name,
                lambda run: Answer(
                    HTTPStatus.OK, folder.export(run, format_), _KINDS[format_], (_download_header(run, format_),)
                ),
            )
    return refusal(HTTPStatus.NOT_FOUND, "There is no such page.")


def _report(text: bytes, *headers: tuple[str, str]) -> Answer:
    return Answer(HTTPStatus.OK, text, HTML, (("Content-Security-Policy", _REPORT_POLICY), *headers))


def _download_header(run: Entry, ending: str) -> tuple[str, str]:
    """Return the header that names a downloaded file."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", run.slug)[:120]
    return "Content-Disposition", f'attachment; filename="{name}.{ending}"'


def _run_answer(folder: Folder, name: str, make: Callable[[Entry], Answer]) -> Answer:
    # A name may be encoded in several ways, but has one slug.
    run = _by_slug(folder).get(quote(unquote_to_bytes(name), safe=""))
    return _unknown(name) if run is None else make(run)


def _by_slug(folder: Folder) -> dict[str, Entry]:
    return {entry.slug: entry for entry in folder.entries()}


def _unknown(name: str) -> Answer:
    return refusal(
        HTTPStatus.NOT_FOUND, f"There is no run {plain(name, _MOST_SHOWN)} here.", "It may have been removed."
    )


def _runs(folder: Folder, fields: Mapping[str, list[str]]) -> Answer:
    entries = folder.entries()
    studies = sorted({str(entry.summary.study) for entry in entries if not entry.summary.problem})
    study = fields.get("study", [""])[0] or None
    mine = [entry for entry in entries if study is None or (not entry.summary.problem and entry.summary.study == study)]
    last = max(1, -(-len(mine) // PAGE))
    written = fields.get("page", ["1"])[0]
    number = min(max(int(written), 1), last) if re.fullmatch("[0-9]{1,9}", written) else 1
    lines = [folder.line(entry) for entry in mine[(number - 1) * PAGE : number * PAGE]]
    shown = RunsPage(
        str(folder.root),
        lines,
        len(mine),
        number,
        last,
        studies,
        study,
        _address(study, number - 1) if number > 1 else "",
        _address(study, number + 1) if number < last else "",
    )
    return page(runs_page(shown))


def _address(study: str | None, number: int) -> str:
    of = "" if study is None else f"study={quote(study, safe='', errors='surrogatepass')}&"
    return f"/?{of}page={number}"


def _compare(folder: Folder, fields: Mapping[str, list[str]]) -> Answer:
    """Compare the runs `a` and `b`; for two ticked runs (`run`), redirect to that address with the older one first."""
    ticked = fields.get("run", [])
    names = ticked or [*fields.get("a", []), *fields.get("b", [])]
    if len(names) != 2 or names[0] == names[1]:
        hint = "Go back and tick two."
        return refusal(HTTPStatus.BAD_REQUEST, f"Two runs are compared, but {_count_words(set(names))} named.", hint)
    known = _by_slug(folder)
    for name in names:
        if name not in known:
            return _unknown(name)
    first, second = (known[name] for name in names)
    if not ticked:
        return _report(folder.comparison(first, second))
    older, newer = sorted((first, second), key=lambda entry: (entry.started, entry.slug))
    address = f"/compare?a={quote(older.slug, safe='')}&b={quote(newer.slug, safe='')}"
    return Answer(HTTPStatus.SEE_OTHER, b"", HTML, (("Location", address),))


def _count_words(names: set[str]) -> str:
    return {0: "none is", 1: "one is"}.get(len(names), f"{len(names)} are")
