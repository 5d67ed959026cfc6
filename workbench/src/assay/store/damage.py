"""Error messages for a run whose data is damaged."""

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from pydantic import ValidationError

from assay.model.base import AssayError
from assay.store.safe_files import DAMAGE_HINT

DATA_ERRORS = (
    sqlite3.Error,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    zlib.error,
)
"""Exceptions that malformed data raises."""


class _HasFolder(Protocol):
    folder: Path


Self = TypeVar("Self", bound=_HasFolder)
Args = ParamSpec("Args")
Answer = TypeVar("Answer")


@contextlib.contextmanager
def damage_as_error(folder: Path) -> Iterator[None]:
    """Turn errors while a run is read into one line.

    Args:
        folder: The run's folder.

    Raises:
        AssayError: The run is damaged, or its files cannot be read.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        # SQLITE_ERROR means damage, such as a missing table or malformed JSON. Other codes come from outside, such as
        # a lock. For text that is not UTF-8, Python itself raises, without a code.
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) == sqlite3.SQLITE_ERROR:
            raise AssayError(f"{folder} is damaged: {error}", DAMAGE_HINT) from error
        raise AssayError(
            f"{folder}: cannot be read: {error}", "check its permissions and the free space on its disk"
        ) from error
    except OSError as error:
        raise AssayError(f"{error.filename or folder}: cannot be read: {error.strerror}", DAMAGE_HINT) from error
    except DATA_ERRORS as error:
        raise AssayError(f"{folder} is damaged: {error_text(error)}", DAMAGE_HINT) from error


def reports_damage(
    read: Callable[Concatenate[Self, Args], Answer],
) -> Callable[Concatenate[Self, Args], Answer]:
    """Wrap a method that reads a run and returns its result in `damage_as_error`."""

    @wraps(read)
    def reading(self: Self, /, *args: Args.args, **kwargs: Args.kwargs) -> Answer:
        with damage_as_error(self.folder):
            return read(self, *args, **kwargs)

    return reading


def json_mapping(text: str, *keys: str) -> dict[str, Any]:
    """Parse a JSON mapping that must have these keys.

    Raises:
        ValueError: The text is something else, or lacks a key.
    """
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("a mapping is expected")
    if missing := [key for key in keys if key not in data]:
        raise ValueError(f"{', '.join(missing)} missing in its details")
    return data


def error_text(error: Exception) -> str:
    """Return the text of an error about data that cannot be read, without Python terms."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, (error.title, *first["loc"])))
        return f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}"
    if isinstance(error, json.JSONDecodeError):
        return f"invalid JSON: {error}"
    if isinstance(error, ArithmeticError | AttributeError | LookupError | RecursionError | TypeError):
        return "its data has an unexpected structure"
    return str(error)
