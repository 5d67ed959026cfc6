"""Writes a study file from its values."""

from collections.abc import Iterable
from typing import Any

import yaml

from assay.model.secret import redact
from assay.model.source import plain_value
from assay.model.user_text import ExactNumber


class _Dumper(yaml.SafeDumper):
    """YAML dumper whose output `assay.model.source` reads back unchanged."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    found: yaml.ScalarNode = dumper.represent_str(value)
    if found.style is None and plain_value(value) != value:
        found.style = "'"
    return found


def _number(dumper: yaml.SafeDumper, value: ExactNumber) -> yaml.ScalarNode:
    # A tag that YAML parsers infer is not written.
    tag: str = dumper.resolve(yaml.ScalarNode, value.text, (True, False))  # type: ignore[no-untyped-call]
    return dumper.represent_scalar(tag, value.text)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(ExactNumber, _number)


def study_text(data: dict[str, Any], lines: Iterable[str]) -> str:
    """Return the text of a study file.

    Args:
        data: Values of the study, as read from a file.
        lines: Comment lines for its head; passwords in them are redacted.
    """
    head = "".join(f"# {redact(line)}\n" for line in lines)
    return head + yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
