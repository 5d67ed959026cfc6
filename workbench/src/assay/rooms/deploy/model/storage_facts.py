"""What the parts of a stack beside its storage must know of that."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class StorageFacts:
    """What the other parts of a template must know of its storage.

    Attributes:
        mount: What clients mount, as `Fn::Sub` takes it; empty: nothing.
        servers: Addresses of the servers with spaces between, as `Fn::Sub` takes them.
        ready: Resources that must be there before clients are, and to which nothing of theirs refers.
        rights: What the role of the hosts may do, as statements.
        outputs: Name of an output -> its description and value.
    """

    mount: str = ""
    servers: str = ""
    ready: tuple[str, ...] = ()
    rights: tuple[Mapping[str, Any], ...] = ()
    outputs: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
