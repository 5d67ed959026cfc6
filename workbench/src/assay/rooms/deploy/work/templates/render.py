"""Templates as YAML with the short forms of functions, and as JSON without blanks."""

import json
from typing import Any

import yaml

WIDTH = 110


class _Dumper(yaml.SafeDumper):
    """Writes functions as `!Sub`, texts of several lines as blocks, and nothing as an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True

    def choose_scalar_style(self) -> str:
        """Leave the quotes out also behind a tag, where they are not needed."""
        event: Any = self.event
        if event.value and event.tag and event.tag.startswith("!") and not event.style:
            form = self.analyze_scalar(event.value)
            if form.allow_flow_plain if self.flow_level else form.allow_block_plain:
                return ""
        style: str = super().choose_scalar_style()
        return style

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        del indentless
        super().increase_indent(flow, False)


def _is_function(data: Any) -> bool:
    return isinstance(data, dict) and len(data) == 1 and next(iter(data)).startswith(("Ref", "Fn::"))


def _mapping(dumper: _Dumper, data: dict[str, Any]) -> yaml.Node:
    if not _is_function(data):
        is_tag = data.keys() >= {"Key", "Value"}
        return dumper.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=is_tag or None)
    ((name, value),) = data.items()
    # Two short forms in a row are no YAML, so the outer one is written out.
    if _is_function(value):
        return dumper.represent_mapping("tag:yaml.org,2002:map", data.items())
    tag = f"!{name.removeprefix('Fn::')}"
    if name == "Fn::GetAtt":
        return dumper.represent_scalar(tag, ".".join(value))
    if isinstance(value, list):
        flow = all(not isinstance(each, list | dict) for each in value)
        return dumper.represent_sequence(tag, value, flow_style=flow)
    if isinstance(value, dict):
        return dumper.represent_mapping(tag, value.items())
    return dumper.represent_scalar(tag, value, style="|" if "\n" in value else None)


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(dict, _mapping)
_Dumper.add_representer(str, _text)


def template_yaml(document: dict[str, Any]) -> str:
    """Return a template as YAML, as people write it."""
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=WIDTH, allow_unicode=False)
    return text


def template_json(document: dict[str, Any]) -> str:
    """Return a template as JSON in as few bytes as possible, to be sent with a request."""
    return json.dumps(document, separators=(",", ":"))
