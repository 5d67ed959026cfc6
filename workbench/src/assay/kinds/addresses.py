"""Servers of targets, as studies name them."""

import re
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from assay.model.study.axis import fault
from assay.model.study.hosts import expanded
from assay.model.units import shown

_ADDRESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(:[0-9]{1,5})?|\[[0-9A-Fa-f:.%a-z]+\](:[0-9]{1,5})?")


def _servers(written: object) -> tuple[str, ...]:
    """Names or addresses, each with :PORT or not; node sets are written out: `server[1-4]` is four servers."""
    texts = [written] if isinstance(written, str) else written
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        hint = "write a name, a node set such as server[1-4], or a list of such"
        raise fault(f"{shown(written)} names no servers", hint)
    found = [name for text in texts for name in ((text,) if _ADDRESS.fullmatch(text) else expanded((text,), "server"))]
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise fault(f"server {twice} comes twice", "name each server once")
    return tuple(found)


def _known_servers(written: object) -> tuple[str, ...]:
    return () if written in ([], ()) else _servers(written)


_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
Servers = Annotated[
    tuple[str, ...],
    BeforeValidator(_servers),
    WithJsonSchema(_TEXTS),
]
"""At least one."""
KnownServers = Annotated[tuple[str, ...], BeforeValidator(_known_servers), WithJsonSchema(_TEXTS)]
"""As far as somebody has named them."""
