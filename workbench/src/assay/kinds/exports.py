"""What NFS exports and SMB shares have in common as a study names them."""

import re
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from assay.model.study import axis
from assay.model.study.axis import Single, fault
from assay.model.study.target import Service
from assay.model.units import shown


def _plain(written: object) -> str:
    if isinstance(written, str) and re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}", written):
        return written
    raise fault(f"{shown(written)} is not a plain name", "use letters, digits, `.`, `_` and `-`")


PlainName = Annotated[str, BeforeValidator(_plain), WithJsonSchema({"type": "string", "minLength": 1})]
Port = Annotated[int | None, Single(axis.whole(1, 65535, optional=True))]
Connections = Annotated[int, Single(axis.whole(1, 16))]
CallSize = Annotated[int, Single(axis.size(1024, 2**30))]
Timeout = Annotated[int, Single(axis.duration(10**8, 3600 * 10**9))]


def service_at(written: str, port: int) -> Service:
    """A server that is written with or without its port.

    Args:
        written: `HOST`, `HOST:PORT`, `[V6]` or `[V6]:PORT`.
        port: Where it answers if it is written without one.
    """
    name, colon, own = written.rpartition(":")
    if not colon or written.endswith("]"):
        name, own = written, ""
    return Service(name.strip("[]"), int(own or port))
