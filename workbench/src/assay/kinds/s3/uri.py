"""A bucket, typed as one word: `s3://BUCKET[/PREFIX]`."""

from typing import Any

from assay.kinds.http_uri import parse_http_uri


def parse_uri(text: str, destroy: bool) -> dict[str, Any] | None:
    """Return the target's fields in a study; None if the word is not of this kind.

    Without `destroy` existing objects are read, and nothing is written.
    """
    found = parse_http_uri(text, "s3")
    if found is None:
        return None
    bucket, keys, options = found
    prefix = {"prefix": keys.strip("/")} if keys.strip("/") else {}
    return {"kind": "s3", "bucket": bucket, **options, **(prefix if destroy else {"existing": keys})}
