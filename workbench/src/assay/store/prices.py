"""Reads the prices that a run stores. Every error in their file becomes one line that names the file."""

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.model.base import AssayError, Code
from assay.model.money.priced_designs import PRICES_SCHEMA, FrozenPrices
from assay.model.result.result import PricedRun
from assay.store.damage import damage_as_error
from assay.store.entries import PRICES
from assay.store.reader import RunReader
from assay.store.safe_files import DAMAGE_HINT, read_file

MAX_BYTES = 64 << 20
MAX_EXPONENT = 30
"""Largest power of ten of a price, quantity or total; the smallest is its inverse."""


def stored_prices(store: RunReader) -> FrozenPrices | None:
    """Return the prices that a run began with; None if its study names none.

    Raises:
        AssayError: They are missing, damaged, or from a newer version of Assay.
    """
    with damage_as_error(store.folder):
        return read_prices(store.folder, store.study_text())


def with_prices(store: RunReader) -> PricedRun:
    """Return a run without its results, but with its prices, which only costs need.

    Raises:
        AssayError: The run or its prices are damaged.
    """
    return PricedRun(**dict(store.info()), prices=stored_prices(store))


def without_prices(store: RunReader) -> PricedRun:
    """Return a run without its results and prices."""
    return PricedRun(**dict(store.info()))


def read_prices(folder: Path, study_text: str) -> FrozenPrices | None:
    """Return the prices that a run began with; None if its study names none.

    Args:
        folder: The run's folder.
        study_text: Its study.

    Raises:
        AssayError: They are missing, damaged, or from a newer version of Assay.
    """
    try:
        data = read_file(folder, PRICES, MAX_BYTES)
    except FileNotFoundError:
        if _names_prices(study_text):
            raise AssayError(f"run {folder.name} is damaged: {PRICES} is missing", DAMAGE_HINT) from None
        return None
    except OSError as error:
        raise AssayError(f"run {folder.name}: {PRICES} cannot be read: {error.strerror}", DAMAGE_HINT) from error
    try:
        _check_version(folder, json.loads(data))
        prices = FrozenPrices.model_validate_json(data)
        _check_numbers(prices, folder)
    except ValidationError as error:
        raise _damaged(folder, _error_text(error)) from error
    except json.JSONDecodeError as error:
        raise _damaged(folder, f"invalid JSON: {error}") from error
    except (ValueError, ArithmeticError, RecursionError, TypeError, LookupError) as error:
        raise _damaged(folder, "its data has an unexpected structure") from error
    return prices


def _names_prices(study_text: str) -> bool:
    if "prices" not in study_text:
        return False
    # YAML is read only here, since few studies contain the word.
    from assay.model.source import read_source

    data = read_source(study_text.encode()).data
    return isinstance(data, dict) and data.get("prices") is not None


def _check_version(folder: Path, data: Any) -> None:
    if not isinstance(data, dict):
        raise _damaged(folder, "a mapping is expected")
    version = data.get("schema_version")
    if version is None:
        message = f"run {folder.name}: {PRICES} is damaged, or made by a newer Assay: it has no schema_version"
        raise AssayError(message, f"update Assay, or {DAMAGE_HINT}")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _damaged(folder, "its schema_version is not a number from 1")
    if version > PRICES_SCHEMA:
        message = f"run {folder.name}: {PRICES} is made by a newer Assay"
        message += f" (version {version}, this one knows {PRICES_SCHEMA})"
        raise AssayError(message, "update Assay", code=Code.NEWER_RUN)


def _check_numbers(prices: FrozenPrices, folder: Path) -> None:
    """Refuse values that cannot be computed with or printed: infinite or huge numbers, and bills without a price."""
    from assay.money.cost.cost import price_bill

    for number in _numbers(prices.model_dump()):
        _check_number(number)
    for item in prices.designs.values():
        try:
            cost = price_bill(item.bill, prices.book, prices.term, prices.payment, prices.use.duty)
        except AssayError as error:
            raise _damaged(folder, error.message) from error
        for amount in (cost.hour, cost.three_years, cost.job):
            _check_number(amount)
        if any(ceiling.value <= 0 for ceiling in item.ceilings):
            raise ValueError("a ceiling is not above 0")


def _numbers(data: Any) -> Iterator[Decimal | float]:
    if isinstance(data, Decimal | float):
        yield data
    elif isinstance(data, dict | list | tuple):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _numbers(value)


def _check_number(number: Decimal | float) -> None:
    finite = number.is_finite() if isinstance(number, Decimal) else math.isfinite(number)
    if not finite or (number and not -MAX_EXPONENT <= Decimal(number).adjusted() <= MAX_EXPONENT):
        raise ValueError("a number is out of range")


def _error_text(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    message = f"{first['msg'][:1].lower()}{first['msg'][1:]}"
    return f"{place}: {message}" if place else message


def _damaged(folder: Path, problem: str) -> AssayError:
    return AssayError(f"run {folder.name}: {PRICES} is damaged: {problem}", DAMAGE_HINT)
