"""Designs by name or file, with values for their parameters.

In a design file `$name` stands for the value of the parameter of that name: alone it is the value itself, inside a
longer text it is put into it, as `${name}` where a letter follows; `$nodes*$disks` and `$groups*10` are products of
whole numbers.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.model.base import AssayError, LineError
from assay.model.files import first_problem
from assay.model.frozen import Frozen
from assay.model.money.design import Design, Parameter
from assay.model.money.use import as_written
from assay.model.source import Source, read_source
from assay.model.units import one_of, shown
from assay.model.unquoted import TYPED, Naming, unquoted
from assay.money.books.books import find_file, is_shipped, read_found, shipped
from assay.money.cost.limits import Limits, design_limits

DESIGNS = Path(__file__).with_name("templates")
GUIDE = "docs/guides/designs.md"

MOST_BUILT = 20_000
"""Designs of one template that are kept."""

_NAME = re.compile(r"\$(?:\{(?P<braced>[a-z][a-z0-9_]*)\}|(?P<plain>[a-z][a-z0-9_]*))")
_FACTOR = r"(?:\$[a-z][a-z0-9_]*|[0-9]{1,6})"
_PRODUCT = re.compile(rf"{_FACTOR}(?:\*{_FACTOR})+")


class _Parameters(Frozen):
    parameters: dict[str, Parameter]


@dataclass(frozen=True)
class Built:
    """A design, and its limits once they are asked for."""

    design: Design

    @cached_property
    def limits(self) -> Limits:
        """Of each layer.

        Raises:
            AssayError: As `design_limits`.
        """
        return design_limits(self.design)


@dataclass(frozen=True)
class Template:
    """A design file whose parameters have no values yet.

    Attributes:
        file: Its name, for messages.
        source: What it says.
        parameters: Those that it has.
        origin: How it came to be named, where it is, and what was read.
    """

    file: str
    source: Source
    parameters: Mapping[str, Parameter]
    origin: tuple[Naming, Path, bytes] = (TYPED, Path(), b"")

    @property
    def name(self) -> str:
        """Of the design."""
        return str(self.source.data.get("design", Path(self.file).stem))

    @property
    def provider(self) -> str | None:
        """Whose prices the design has; None: of any."""
        found = self.source.data.get("provider")
        return found if isinstance(found, str) else None

    @property
    def only_if_named(self) -> bool:
        """Advice tries it only for needs that name it."""
        return self.source.data.get("only_if_named") is True

    def same_for_all(self, key: str) -> bool:
        """Whether no parameter changes this key of the design."""
        return key in self._fixed

    @cached_property
    def _fixed(self) -> dict[str, Any]:
        """What no parameter changes: most of a file, and thousands of variants are built of some."""
        data = self.source.data.items()
        return {key: value for key, value in data if key != "parameters" and not any(_names({key: value}))}

    @cached_property
    def _open(self) -> dict[str, Any]:
        return {key: value for key, value in self.source.data.items() if key not in ("parameters", *self._fixed)}

    @cached_property
    def _built(self) -> dict[tuple[Any, ...], Built]:
        """What was built: advice asks for the same design many times while it looks for sizes."""
        return {}

    def build(self, values: Mapping[str, Any] | None = None) -> Design:
        """The design with these values, and the parameters' own for the rest.

        Raises:
            AssayError: Unknown parameter, or the values do not make a design.
        """
        return self._with(values or {}).design

    def limits(self, values: Mapping[str, Any] | None = None) -> Limits:
        """What the design with these values can do at most.

        Raises:
            AssayError: As `build`, and as `design_limits`.
        """
        return self._with(values or {}).limits

    def _with(self, values: Mapping[str, Any]) -> Built:
        try:
            # 1, 1.0 and True are equal, and not the same value.
            key = tuple((name, type(value), value) for name, value in sorted(values.items()))
            found = self._built.get(key)
        except TypeError:
            return Built(self._build(values))
        if found is None:
            if len(self._built) >= MOST_BUILT:
                self._built.clear()
            found = self._built[key] = Built(self._build(values))
        return found

    def _build(self, values: Mapping[str, Any]) -> Design:
        for key in values:
            if key not in self.parameters:
                hint = one_of(key, self.parameters, none="it has none")
                raise AssayError(f"design {self.name} has no parameter {shown(key)}", hint)
        chosen = {key: values.get(key, parameter.value) for key, parameter in self.parameters.items()}
        try:
            return Design.model_validate({**self._fixed, **_filled(self._open, chosen)})
        except ValidationError as error:
            problem = first_problem(error, self.source, Design, GUIDE)
            with_values = "".join(f" ({key}={as_written(value)})" for key, value in values.items())
            with unquoted(self.file, f"a design{with_values}", f"assay price {self.file}", *self.origin):
                found = LineError(self.file, problem.line, f"{problem.message}{with_values}", problem.hint)
                found.what = f"{self.file}:{problem.line}: {problem.message}"
                raise found from None

    def all(self, values: Mapping[str, Sequence[Any]] | None = None) -> Iterator[tuple[dict[str, Any], Design]]:
        """Each combination of the parameters' choices, or of the values given for them, with its design.

        Raises:
            AssayError: As `build`.
        """
        given = values or {}
        axes = {
            key: tuple(given.get(key, parameter.choices or (parameter.value,)))
            for key, parameter in self.parameters.items()
        }
        for point in itertools.product(*axes.values()):
            chosen = dict(zip(axes, point, strict=True))
            yield chosen, self.build(chosen)


def design_names() -> list[str]:
    """The designs that come with Assay."""
    return [*shipped(DESIGNS)]


def load_template(ref: str, base: Path | None = None) -> Template:
    """A shipped design or a file.

    Args:
        ref: Name of a shipped design, or path of a file.
        base: Folder of the file that names it; None: the user typed it.

    Raises:
        AssayError: There is none, or the file is wrong; the message names the line.
    """
    path, file = find_file(ref, DESIGNS, base)
    is_ours = is_shipped(path, DESIGNS)
    data, naming = read_found("design", path, file, DESIGNS), Naming(base, is_ours or base is None)
    with unquoted(file, "a design", f"assay price {file}", naming, path, data):
        template = _read(data, file, is_ours)
    return template if naming.typed else replace(template, origin=(naming, path, data))


@lru_cache(maxsize=256)
def _read(data: bytes, file: str, shipped: bool) -> Template:
    """What a file says; by what is in it, so that a file that was changed is read anew."""
    source = read_source(data, "design", shipped=shipped)
    if source.problems:
        raise LineError(file, source.problems[0].line, source.problems[0].message, source.problems[0].hint)
    if not isinstance(source.data, dict):
        raise LineError(file, 1, f"{shown(source.data)} is not a design", f"see {GUIDE}")
    try:
        parameters = _Parameters.model_validate({"parameters": source.data.get("parameters") or {}}).parameters
    except ValidationError as error:
        problem = first_problem(error, source, _Parameters, GUIDE)
        raise LineError(file, problem.line, problem.message, problem.hint) from None
    unknown = next((name for name in _names(source.data) if name not in parameters), None)
    if unknown is not None:
        hint = one_of(unknown, parameters, none=f"add `{unknown}` to `parameters`")
        raise AssayError(f"{file}: `${unknown}` is used, but not a parameter", hint)
    return Template(file, source, parameters)


def _filled(data: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(data, dict):
        return {key: _filled(value, values) for key, value in data.items()}
    if isinstance(data, list):
        return [_filled(value, values) for value in data]
    if not isinstance(data, str) or "$" not in data:
        return data
    whole = _NAME.fullmatch(data)
    if _PRODUCT.fullmatch(data):
        factors = [values[each[1:]] if each.startswith("$") else int(each) for each in data.split("*")]
        if all(isinstance(each, int) and not isinstance(each, bool) for each in factors):
            return math.prod(factors)
    return values[_named(whole)] if whole else _NAME.sub(lambda found: str(values[_named(found)]), data)


def _names(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            if key != "parameters":
                yield from _names(value)
    elif isinstance(data, list):
        for value in data:
            yield from _names(value)
    elif isinstance(data, str):
        yield from (_named(found) for found in _NAME.finditer(data))


def _named(found: re.Match[str]) -> str:
    return found["braced"] or found["plain"]
