"""The answers of `assay serve` to requests, by address."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs, quote, unquote_to_bytes

from assay.cli.export import Format
from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.rooms.serve.shown.page_frame import message_page, security_policy
from assay.rooms.serve.shown.runs import RUNS_PER_PAGE, RunsPage, runs_page
from assay.rooms.serve.work.folder import RunEntry, RunsFolder

HTML = "text/html; charset=utf-8"
_KINDS = {
    Format.CSV: "text/csv; charset=utf-8",
    Format.JSON: "application/json",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
MAX_COMPARED = 50
"""Most runs that stand side by side."""
_MAX_FIELDS = MAX_COMPARED + 10
_MAX_SHOWN = 80
"""Characters of a run's name that an error page repeats at most."""
_REPORT_POLICY = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Added to a report's own policy: `frame-ancestors` works only in a header, not in a page."""


@dataclass(frozen=True)
class Response:
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


def page(text: str, status: int = HTTPStatus.OK) -> Response:
    """Return the answer with one of the server's own pages."""
    return Response(status, text.encode("utf-8", "replace"), HTML, (("Content-Security-Policy", security_policy()),))


def error_page(status: int, text: str, hint: str = "") -> Response:
    """Return an error page with the reason and a hint."""
    return page(message_page(HTTPStatus(status).phrase, text, hint), status)


def respond(folder: RunsFolder, address: str) -> Response:
    """Return the answer to a request.

    Args:
        folder: The runs.
        address: Path and query of the request.
    """
    path, _, query = address.partition("?")
    try:
        fields = parse_qs(query, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        return error_page(HTTPStatus.BAD_REQUEST, f"More than {_MAX_FIELDS} fields in the address.")
    try:
        return _route(folder, path.split("/")[1:], fields)
    except AssayError as error:
        return error_page(HTTPStatus.UNPROCESSABLE_ENTITY, f"{error.message}.", error.hint)


def _route(folder: RunsFolder, parts: Sequence[str], fields: Mapping[str, list[str]]) -> Response:
    match parts:
        case [""]:
            return _runs(folder, fields)
        case ["compare"]:
            return _compare(folder, fields)
        case ["favicon.ico"]:
            return Response(HTTPStatus.NO_CONTENT, b"")
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
                lambda run: Response(
                    HTTPStatus.OK, folder.export(run, format_), _KINDS[format_], (_download_header(run, format_),)
                ),
            )
    return error_page(HTTPStatus.NOT_FOUND, "There is no such page.")


def _report(text: bytes, *headers: tuple[str, str]) -> Response:
    return Response(HTTPStatus.OK, text, HTML, (("Content-Security-Policy", _REPORT_POLICY), *headers))


def _download_header(run: RunEntry, ending: str) -> tuple[str, str]:
    """Return the header that names a downloaded file."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", run.slug)[:120]
    return "Content-Disposition", f'attachment; filename="{name}.{ending}"'


def _run_answer(folder: RunsFolder, name: str, make: Callable[[RunEntry], Response]) -> Response:
    # A name may be encoded in several ways, but has one slug.
    run = _by_slug(folder).get(quote(unquote_to_bytes(name), safe=""))
    return _unknown(name) if run is None else make(run)


def _by_slug(folder: RunsFolder) -> dict[str, RunEntry]:
    return {entry.slug: entry for entry in folder.entries()}


def _unknown(name: str) -> Response:
    return error_page(
        HTTPStatus.NOT_FOUND, f"There is no run {escape_line(name, _MAX_SHOWN)} here.", "It may have been removed."
    )


def _runs(folder: RunsFolder, fields: Mapping[str, list[str]]) -> Response:
    entries = folder.entries()
    studies = sorted({str(entry.summary.study) for entry in entries if not entry.summary.problem})
    study = fields.get("study", [""])[0] or None
    mine = [entry for entry in entries if study is None or (not entry.summary.problem and entry.summary.study == study)]
    last = max(1, -(-len(mine) // RUNS_PER_PAGE))
    written = fields.get("page", ["1"])[0]
    number = min(max(int(written), 1), last) if re.fullmatch("[0-9]{1,9}", written) else 1
    lines = [folder.line(entry) for entry in mine[(number - 1) * RUNS_PER_PAGE : number * RUNS_PER_PAGE]]
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


def _compare(folder: RunsFolder, fields: Mapping[str, list[str]]) -> Response:
    """Compare the runs `a` and `b`; for two ticked runs (`run`), redirect to that address with the older one first.

    More than two ticked runs stand side by side, the oldest first.
    """
    ticked = fields.get("run", [])
    names = ticked or [*fields.get("a", []), *fields.get("b", [])]
    if not 1 < len(names) == len(set(names)) <= MAX_COMPARED:
        words = f"Two to {MAX_COMPARED} runs are compared, but {_count_words(set(names))} named."
        return error_page(HTTPStatus.BAD_REQUEST, words, "Go back and select at least two.")
    known = _by_slug(folder)
    for name in names:
        if name not in known:
            return _unknown(name)
    if len(names) > 2:
        chosen = sorted((known[name] for name in names), key=lambda entry: (entry.started, entry.slug))
        return _report(folder.joint(chosen))
    first, second = (known[name] for name in names)
    if not ticked:
        return _report(folder.comparison(first, second))
    older, newer = sorted((first, second), key=lambda entry: (entry.started, entry.slug))
    address = f"/compare?a={quote(older.slug, safe='')}&b={quote(newer.slug, safe='')}"
    return Response(HTTPStatus.SEE_OTHER, b"", HTML, (("Location", address),))


def _count_words(names: set[str]) -> str:
    return {0: "none is", 1: "one is"}.get(len(names), f"{len(names)} are")
