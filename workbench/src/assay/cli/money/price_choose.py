"""The input of `assay price`: designs, values for their parameters, and how the designs are used."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from pydantic import ValidationError

from assay.model.base import AssayError
from assay.model.money.design import Design
from assay.model.money.use import DesignChoice, Use
from assay.model.source import type_message
from assay.model.units import UnitError, choices_hint, display_value, parse_size
from assay.model.user_files import path_kind
from assay.money.cost.bill import SUSPICIOUS_BYTES, make_bill
from assay.money.cost.designs import Template, load_template
from assay.money.cost.metrics import PricedOption

MAX_DESIGNS = 100_000
"""Designs that one call prices at most."""
LARGE = 10**9
"""Bytes from which a usual value counts as large, so that a small number for it lacks its unit."""
MAX_DIGITS = 30
"""Digits of a whole number at most; longer ones are text."""


class _NamedDesign(NamedTuple):
    """A design that the command line names, with the values stated after its name."""

    ref: str
    template: Template
    own: dict[str, Any]


def combine_designs(
    names: Sequence[str], fixed: Sequence[str], varied: Sequence[str]
) -> list[tuple[DesignChoice, Design]]:
    """Return each named design with each combination of the varied values.

    Args:
        names: `NAME`, or `NAME:key=value,key=value`; a name may be a file.
        fixed: `key=value` for all designs that have this parameter.
        varied: `key=value,value` for all designs that have this parameter.

    Raises:
        AssayError: There is no such design or parameter, the values make none, or there are too many.
    """
    named = [_named(name) for name in names]
    everywhere = {key: (_value(text),) for key, text in _key_values(fixed, "--set").items()}
    sweeps = {key: tuple(map(_value, text.split(","))) for key, text in _key_values(varied, "--vary").items()}
    twice = next((key for key in sweeps if key in everywhere), None)
    if twice is not None:
        raise AssayError(f"{twice} is both set and varied", "leave one of --set and --vary out")
    axes = {**everywhere, **sweeps}
    for key in axes:
        if not any(key in design.template.parameters for design in named):
            _unknown(key, [design.template for design in named])
    found = list(itertools.islice(_combinations(named, axes), MAX_DESIGNS + 1))
    if len(found) > MAX_DESIGNS:
        raise AssayError(f"more than {MAX_DESIGNS:,} designs result from --vary", "vary fewer values")
    return found


def _combinations(
    named: Sequence[_NamedDesign], axes: Mapping[str, tuple[Any, ...]]
) -> Iterator[tuple[DesignChoice, Design]]:
    for ref, template, own in named:
        here = {key: values for key, values in axes.items() if key in template.parameters and key not in own}
        for key, values_here in {**{key: (value,) for key, value in own.items()}, **here}.items():
            _check_unit(key, values_here, template)
        for point in itertools.product(*here.values()):
            values = {**own, **dict(zip(here, point, strict=True))}
            yield DesignChoice(design=ref, set=values), template.build(values)


def _check_unit(key: str, values: Iterable[Any], template: Template) -> None:
    """Raise an error if a parameter that is usually in GB or TB has so few bytes that its unit must be missing."""
    usual = template.parameters[key].value
    try:
        large = isinstance(usual, str) and parse_size(usual) >= LARGE
    except UnitError:
        return
    few = next((value for value in values if isinstance(value, int) and value < SUSPICIOUS_BYTES), None)
    if large and few is not None:
        raise AssayError(f"design {template.name}: {key}={few}: the unit is missing", f"write it such as {usual}")


def _named(written: str) -> _NamedDesign:
    if path_kind(written) == "file":
        return _NamedDesign(written, load_template(written), {})
    name, colon, values = written.partition(":")
    template = load_template(name)
    own = {key: _value(text) for key, text in _key_values(values.split(","), name).items()} if colon else {}
    for key in own:
        if key not in template.parameters:
            _unknown(key, [template])
    return _NamedDesign(name, template, own)


def _unknown(key: str, templates: Sequence[Template]) -> NoReturn:
    known = sorted({name for template in templates for name in template.parameters})
    which = f"design {templates[0].name} has no" if len(templates) == 1 else "none of the designs has a"
    raise AssayError(f"{which} parameter {display_value(key)}", choices_hint(key, known, none="leave it out"))


def _key_values(written: Sequence[str], where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in written:
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise AssayError(f"{where}: {display_value(text)} is not key=value", "such as capacity=5TB")
        if key.strip() in found:
            raise AssayError(f"{where}: {key.strip()} is given twice", "give it once")
        found[key.strip()] = value.strip()
    return found


def _value(text: str) -> Any:
    """Return a value as a whole number, as None (`null`), or as text."""
    text = text.strip()
    if text == "null":
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else text


def parse_use(written: Sequence[str]) -> Use:
    """Return how the designs are used, from words `key=value`.

    Raises:
        AssayError: A key is unknown, or a value does not fit its key.
    """
    values = _key_values(written, "--use")
    unknown = next((key for key in values if key not in Use.model_fields), None)
    if unknown is not None:
        raise AssayError(
            f"--use: there is nothing called {display_value(unknown)}", choices_hint(unknown, Use.model_fields)
        )
    try:
        use = Use.model_validate({key: _value(text) for key, text in values.items()})
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        key = ".".join(map(str, detail["loc"]))
        if detail["type"] == "study":
            raise AssayError(f"--use {key}: {detail['ctx']['message']}", detail["ctx"]["hint"]) from None
        message, hint = type_message(detail) or (detail["msg"].lower(), "see docs/guides/price.md")
        raise AssayError(f"--use {key}: {message}", hint) from None
    _check_job(use, values)
    if not use.duty and (use.job_hours or use.job_bytes):
        raise AssayError("no job can run with a duty of 0", "write a duty above 0, such as duty=25%")
    return use


def _check_job(use: Use, values: Mapping[str, str]) -> None:
    for key in ("job_hours", "job_bytes"):
        if key in values and not getattr(use, key):
            hint = "leave it out: the hours follow from job_bytes" if key == "job_hours" else "leave it out"
            raise AssayError(f"--use {key}: {values[key]} is not the size of a job", hint)
    if use.job_egress and not (use.job_hours or use.job_bytes):
        raise AssayError("--use job_egress: the job has no size", "add --use job_hours=... or job_bytes=...")


def unused_use_notes(options: Sequence[PricedOption], written: Sequence[str]) -> Iterator[str]:
    """Yield a message for each `--use` value that has no effect.

    Args:
        options: The priced designs.
        written: The words, as for `parse_use`.
    """
    for key in _key_values(written, "--use"):
        use = options[0].use
        plain = Use.model_fields[key].default
        if key == "egress_way":
            if not (use.egress or use.job_egress):
                yield "--use egress_way has no effect without egress or job_egress"
        elif key != "duty" and not key.startswith("job_") and getattr(use, key) != plain:
            without = use.model_copy(update={key: plain})
            if all(make_bill(option.design, without) == option.bill for option in options):
                yield f"--use {key} has no effect: {_no_design_words(options)} is charged by it"
    for option in options:
        if option.job is None and option.use.job_bytes:
            yield f"{option.label}: the job has no price, because its rate is unknown; add --use job_hours=..."


def _no_design_words(options: Sequence[PricedOption]) -> str:
    return "no part of this design" if len(options) == 1 else "none of these designs"
