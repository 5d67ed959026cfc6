"""The parts that all pages of a served folder share: frame, style, and the line of links above a report."""

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib import resources

from assay.report.draw.svg import escape

PageLink = tuple[str, str]
"""Text and address."""
_BODY = "<body>\n"


@cache
def _asset(name: str) -> str:
    return resources.files("assay.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def security_policy() -> str:
    """Return the content security policy of these pages: nothing from other hosts, and one script, with its hash."""
    digest = base64.b64encode(hashlib.sha256(_asset("runs.js").encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def page(title: str, about: str, body: str, refresh_s: int = 0, live: bool = False) -> str:
    """Return a whole page.

    Args:
        title: Title, as plain text.
        about: Plain text below the title; empty: none.
        body: HTML of the page.
        refresh_s: Seconds after which the page's script looks for changes; 0: never.
        live: A run is under way, so that browsers without scripts reload the page, too.
    """
    again = f'<noscript><meta http-equiv="refresh" content="{refresh_s}"></noscript>\n' if live and refresh_s else ""
    more = f"<p class=description>{escape(about)}</p>" if about else ""
    news = f' data-every="{refresh_s}"' if refresh_s else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)} · Assay</title>\n<link rel="icon" href="data:,">\n{again}'
        f"<style>\n{_asset('report.css')}{_asset('runs.css')}</style>\n</head>\n<body class=runs{news}>\n"
        f"<header>\n<p class=kicker>Assay</p>\n<h1>{escape(title)}</h1>{more}\n</header>\n"
        f"<main id=main>\n{body}</main>\n<script>{_asset('runs.js')}</script>\n</body>\n</html>\n"
    )


def message_page(title: str, text: str, hint: str = "") -> str:
    """Return a page with an error message and a link to the list of runs."""
    more = f"<p>{escape(hint)}</p>" if hint else ""
    back = '<p><a href="/">All runs</a></p>'
    return page(title, "", f"<section><p class=lead>{escape(text)}</p>{more}{back}</section>\n")


def add_links(whole: str, links: Iterable[PageLink]) -> str:
    """Return the page of a report or comparison with a line of links added at its top.

    Args:
        whole: The page as `assay.report.html.render_html` returns it.
        links: Plain text and address of each link; addresses must be safe without escaping.
    """
    items = " · ".join(f'<a href="{address}">{escape(words)}</a>' for words, address in links)
    style = ".served{margin:0;padding:.5rem 2rem;max-width:none;font-size:.87rem}@media print{.served{display:none}}"
    before, body, after = whole.partition(_BODY)
    return f"{before}{body}<style>{style}</style><p class=served>{items}</p>\n{after}"
