"""Design templates by name or file, and the designs that values of their parameters make.

In a design file `$name` stands for the value of the parameter of that name. Alone it is the value itself. Inside a
longer text it is inserted, as `${name}` where a letter follows. `$nodes*$disks` and `$groups*10` are products of
whole numbers. `{by: $disks, 1-12: small-server, 13-36: large-server}` is a table: the value beside the parameter's
value, or beside the range of whole numbers that it is in.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.model.base import AssayError, LineError
from assay.model.frozen import Frozen
from assay.model.money.design import Design, DesignParameter
from assay.model.money.use import yaml_text
from assay.model.quoting import TYPED_BY_USER, FileOrigin, hide_content
from assay.model.source import YamlSource, read_source
from assay.model.units import choices_hint, display_value
from assay.model.yaml_files import first_problem
from assay.money.books.books import find_file, is_shipped, read_located, shipped_files
from assay.money.cost.limits import Limits, design_limits

DESIGNS = Path(__file__).with_name("templates")
GUIDE = "docs/guides/designs.md"

BY = "by"
"""Key of a table that names its parameter."""

MAX_BUILT = 20_000
"""Most built designs that are cached for each template."""

_NAME = re.compile(r"\$(?:\{(?P<braced>[a-z][a-z0-9_]*)\}|(?P<plain>[a-z][a-z0-9_]*))")
_FACTOR = r"(?:\$[a-z][a-z0-9_]*|[0-9]{1,6})"
_RANGE = re.compile(r"([0-9]{1,6})-([0-9]{1,6})")
_PRODUCT = re.compile(rf"{_FACTOR}(?:\*{_FACTOR})+")


class _Parameters(Frozen):
    parameters: dict[str, DesignParameter]


@dataclass(frozen=True)
class BuiltDesign:
    """A design, with its limits computed when they are first used."""

    design: Design

    @cached_property
    def limits(self) -> Limits:
        """Limits of each layer.

        Raises:
            AssayError: As `design_limits`.
        """
        return design_limits(self.design)


@dataclass(frozen=True)
class Template:
    """A design file whose parameters have no values yet.

    Attributes:
        file: Its name, for messages.
        source: Its parsed content.
        parameters: Parameter name -> parameter.
        origin: How the file was named, its path, and the bytes that were read.
    """

    file: str
    source: YamlSource
    parameters: Mapping[str, DesignParameter]
    origin: tuple[FileOrigin, Path, bytes] = (TYPED_BY_USER, Path(), b"")

    @property
    def name(self) -> str:
        """Name of the design."""
        return str(self.source.data.get("design", Path(self.file).stem))

    @property
    def provider(self) -> str | None:
        """Provider whose prices apply; None: any."""
        found = self.source.data.get("provider")
        return found if isinstance(found, str) else None

    @property
    def only_if_named(self) -> bool:
        """Whether advice considers the design only for needs that name it."""
        return self.source.data.get("only_if_named") is True

    @cached_property
    def is_attached(self) -> bool:
        """Whether the design with its own values consists of attached volumes, as `Design.is_attached`."""
        try:
            return self.build().is_attached
        except AssayError:
            return False

    def is_fixed(self, key: str) -> bool:
        """Return whether no parameter changes this key of the design."""
        return key in self._fixed

    @cached_property
    def _fixed(self) -> dict[str, Any]:
        """Keys that no parameter changes: most of a file; cached, because thousands of variants may be built of it."""
        data = self.source.data.items()
        return {key: value for key, value in data if key != "parameters" and not any(_parameter_names({key: value}))}

    @cached_property
    def _variable(self) -> dict[str, Any]:
        return {key: value for key, value in self.source.data.items() if key not in ("parameters", *self._fixed)}

    @cached_property
    def _built(self) -> dict[tuple[Any, ...], BuiltDesign]:
        """Cache of built designs: advice builds the same design many times while it searches for sizes."""
        return {}

    def build(self, values: Mapping[str, Any] | None = None) -> Design:
        """Return the design with these values; parameters without one take their own default.

        Raises:
            AssayError: A parameter is unknown, or the values do not make a design.
        """
        return self._cached(values or {}).design

    def limits(self, values: Mapping[str, Any] | None = None) -> Limits:
        """Return the limits of the design with these values.

        Raises:
            AssayError: As `build`, and as `design_limits`.
        """
        return self._cached(values or {}).limits

    def _cached(self, values: Mapping[str, Any]) -> BuiltDesign:
        try:
            # 1, 1.0 and True are equal, and not the same value.
            pairs = sorted(values.items())
            key = (*pairs, *map(type, map(itemgetter(1), pairs)))
            built = self._built.get(key)
        except TypeError:
            return BuiltDesign(self._build(values))
        if built is None:
            if len(self._built) >= MAX_BUILT:
                self._built.clear()
            built = self._built[key] = BuiltDesign(self._build(values))
        return built

    def _build(self, values: Mapping[str, Any]) -> Design:
        for key in values:
            if key not in self.parameters:
                hint = choices_hint(key, self.parameters, none="the design has no parameters")
                raise AssayError(f"design {self.name} has no parameter {display_value(key)}", hint)
        chosen = {key: values.get(key, parameter.value) for key, parameter in self.parameters.items()}
        try:
            return Design.model_validate({**self._fixed, **_substituted(self._variable, chosen)})
        except ValidationError as error:
            problem = first_problem(error, self.source, Design, GUIDE)
            with_values = "".join(f" ({key}={yaml_text(value)})" for key, value in values.items())
            with hide_content(self.file, f"a design{with_values}", f"assay price {self.file}", *self.origin):
                line_error = LineError(self.file, problem.line, f"{problem.message}{with_values}", problem.hint)
                line_error.what = f"{self.file}:{problem.line}: {problem.message}"
                raise line_error from None


def design_names() -> list[str]:
    """Return the names of the designs that come with Assay."""
    return [*shipped_files(DESIGNS)]


def load_template(ref: str, base: Path | None = None) -> Template:
    """Load a design that comes with Assay, or a file.

    Args:
        ref: Name of a shipped design, or path of a file.
        base: Folder of the file that names it; None: the user typed it.

    Raises:
        AssayError: There is no such design, or the file is wrong; the message names the line.
    """
    path, file = find_file(ref, DESIGNS, base)
    is_ours = is_shipped(path, DESIGNS)
    data, naming = read_located("design", path, file, DESIGNS), FileOrigin(base, is_ours or base is None)
    with hide_content(file, "a design", f"assay price {file}", naming, path, data):
        template = _read(data, file, is_ours)
    return template if naming.is_typed else replace(template, origin=(naming, path, data))


@lru_cache(maxsize=256)
def _read(data: bytes, file: str, shipped: bool) -> Template:
    """Parse a design file; cached by content, so that a changed file is read again."""
    source = read_source(data, "design", is_shipped=shipped)
    if source.problems:
        raise LineError(file, source.problems[0].line, source.problems[0].message, source.problems[0].hint)
    if not isinstance(source.data, dict):
        raise LineError(file, 1, f"{display_value(source.data)} is not a design", f"see {GUIDE}")
    try:
        parameters = _Parameters.model_validate({"parameters": source.data.get("parameters") or {}}).parameters
    except ValidationError as error:
        problem = first_problem(error, source, _Parameters, GUIDE)
        raise LineError(file, problem.line, problem.message, problem.hint) from None
    unknown = next((name for name in _parameter_names(source.data) if name not in parameters), None)
    if unknown is not None:
        hint = choices_hint(unknown, parameters, none=f"add `{unknown}` to `parameters`")
        raise AssayError(f"{file}: `${unknown}` is used, but not a parameter", hint)
    return Template(file, source, parameters)


def _substituted(data: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(data, dict):
        return _looked_up(data, values) if BY in data else {key: _substituted(data[key], values) for key in data}
    if isinstance(data, list):
        return [_substituted(value, values) for value in data]
    if not isinstance(data, str) or "$" not in data:
        return data
    whole = _NAME.fullmatch(data)
    if _PRODUCT.fullmatch(data):
        factors = [values[each[1:]] if each.startswith("$") else int(each) for each in data.split("*")]
        if all(isinstance(each, int) and not isinstance(each, bool) for each in factors):
            return math.prod(factors)
    return values[_name_of(whole)] if whole else _NAME.sub(lambda found: str(values[_name_of(found)]), data)


def _looked_up(table: Mapping[Any, Any], values: Mapping[str, Any]) -> Any:
    """Return what a table has for the value of its parameter.

    Raises:
        AssayError: It has nothing for this value.
    """
    name, rows = table[BY], {str(key): value for key, value in table.items() if key != BY}
    chosen = _substituted(name, values)
    key = str(chosen) if str(chosen) in rows else next((key for key in rows if _is_in_range(chosen, key)), None)
    if key is None:
        raise AssayError(f"{str(name)[1:]} cannot be {display_value(chosen)}", f"use one of: {', '.join(rows)}")
    return _substituted(rows[key], values)


def _is_in_range(value: Any, key: str) -> bool:
    found = _RANGE.fullmatch(key)
    return found is not None and type(value) is int and int(found[1]) <= value <= int(found[2])


def _parameter_names(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            if key != "parameters":
                yield from _parameter_names(value)
    elif isinstance(data, list):
        for value in data:
            yield from _parameter_names(value)
    elif isinstance(data, str):
        yield from (_name_of(found) for found in _NAME.finditer(data))


def _name_of(found: re.Match[str]) -> str:
    return found["braced"] or found["plain"]
