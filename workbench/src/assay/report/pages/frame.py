"""What the pages of a served folder have in common: frame, looks, and the line above a report."""

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib import resources

from assay.report.draw.svg import escape

Link = tuple[str, str]
"""Words and address."""
_BODY = "<body>\n"


@cache
def _asset(name: str) -> str:
    return resources.files("assay.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def policy() -> str:
    """The content security policy of these pages: nothing from anywhere else, and one script, known by its hash."""
    digest = base64.b64encode(hashlib.sha256(_asset("runs.js").encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def page(title: str, about: str, body: str, every: int = 0, live: bool = False) -> str:
    """A whole page.

    Args:
        title: Plain text.
        about: Plain text below it; empty for none.
        body: HTML.
        every: Seconds after which a script looks for news; 0 for never.
        live: Something is under way: browsers without scripts look for news, too.
    """
    again = f'<noscript><meta http-equiv="refresh" content="{every}"></noscript>\n' if live and every else ""
    more = f"<p class=description>{escape(about)}</p>" if about else ""
    news = f' data-every="{every}"' if every else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)} · Assay</title>\n<link rel="icon" href="data:,">\n{again}'
        f"<style>\n{_asset('report.css')}{_asset('runs.css')}</style>\n</head>\n<body class=runs{news}>\n"
        f"<header>\n<p class=kicker>Assay</p>\n<h1>{escape(title)}</h1>{more}\n</header>\n"
        f"<main id=main>\n{body}</main>\n<script>{_asset('runs.js')}</script>\n</body>\n</html>\n"
    )


def message(title: str, text: str, hint: str = "") -> str:
    """A page that says what is wrong, and leads back to the runs."""
    more = f"<p>{escape(hint)}</p>" if hint else ""
    back = '<p><a href="/">All runs</a></p>'
    return page(title, "", f"<section><p class=lead>{escape(text)}</p>{more}{back}</section>\n")


def with_links(whole: str, links: Iterable[Link]) -> str:
    """A report or a comparison, which knows nothing of its neighbours, with links above it.

    Args:
        whole: What `assay.report.html.render_html` has made.
        links: Words, which are plain text, and addresses, which are safe as they are.
    """
    items = " · ".join(f'<a href="{address}">{escape(words)}</a>' for words, address in links)
    style = ".served{margin:0;padding:.5rem 2rem;max-width:none;font-size:.87rem}@media print{.served{display:none}}"
    before, body, after = whole.partition(_BODY)
    return f"{before}{body}<style>{style}</style><p class=served>{items}</p>\n{after}"
