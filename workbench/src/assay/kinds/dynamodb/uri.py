"""A table, typed as one word: `dynamodb://TABLE`."""

from typing import Any

from assay.kinds.http_uri import parse_http_uri
from assay.model.base import AssayError


def parse_uri(text: str, destroy: bool) -> dict[str, Any] | None:
    """Return the target's fields in a study; None if the word is not of this kind.

    Raises:
        AssayError: The user has not confirmed that items may be written.
    """
    found = parse_http_uri(text, "dynamodb")
    if found is None:
        return None
    if not destroy:
        raise AssayError(f"{text}: a table can only be measured by writing items to it", "confirm it with --destroy")
    table, _, options = found
    return {"kind": "dynamodb", "table": table, **options}
