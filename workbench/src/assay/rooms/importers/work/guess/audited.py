"""A guess at the roles of a table for an audit, which needs no run to be made of it."""

import json
from typing import cast

from assay.model.source import read_source
from assay.rooms.importers.work.table_roles import UNKNOWN


def audited_roles(guess: str) -> str:
    """Return a guess as the roles of a table of figures: what is not sure is ignored, and no operation is needed.

    A table whose headings are those of a tool, and whose guess is whole, is one of the tool's results.

    Args:
        guess: A complete roles file, as `guess_roles` gives it.
    """
    roles = cast(dict[str, object], read_source(guess.encode()).data)
    columns = cast(dict[str, object], roles["columns"])
    if "tool" in roles and not _is_unsure(roles):
        return json.dumps(roles, ensure_ascii=False)
    plain = {name: {"role": "ignored"} if _is_unsure(column) else column for name, column in columns.items()}
    kept = {name: value for name, value in roles.items() if name not in ("rows", "with", "columns", "tool")}
    return json.dumps({"rows": "figures", **kept, "columns": plain}, ensure_ascii=False)


def _is_unsure(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_is_unsure, cast(dict[str, object], value).values()))
    return value == UNKNOWN
