"""Buckets and tables typed as one word: `s3://BUCKET/KEYS`, with options behind a question mark."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from assay.kinds.http import environment_endpoint
from assay.model.base import AssayError

OPTIONS = ("endpoint", "region", "profile")


def parse_http_uri(text: str, scheme: str) -> tuple[str, str, dict[str, Any]] | None:
    """Return the name, the path behind it, and target fields from the options; None if the word has another scheme.

    The endpoint defaults to the one of the environment, as in all AWS programs.

    Raises:
        AssayError: The name is missing, or an option is unknown.
    """
    if not text.startswith(f"{scheme}://"):
        return None
    try:
        found = urlsplit(text)
        options = dict(parse_qsl(found.query, keep_blank_values=True, strict_parsing=bool(found.query)))
    except ValueError:
        found, options = urlsplit(f"{scheme}://"), {"": ""}
    wrong = [name for name in options if name not in OPTIONS]
    if not found.netloc or wrong:
        hint = f"write {scheme}://NAME, with ?endpoint=http://HOST:PORT&region=NAME where that is needed"
        raise AssayError(f"{text}: not an address of this form", hint)
    _, endpoint = environment_endpoint(scheme)
    if endpoint:
        options.setdefault("endpoint", endpoint)
    return found.netloc, found.path.lstrip("/"), options
