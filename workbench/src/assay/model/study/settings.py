"""Machine settings that a study requires."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from assay.model.frozen import Frozen
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.units import display_value

_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


def _name(written: Any) -> str:
    if isinstance(written, str) and _NAME.fullmatch(written):
        return written
    raise fault(
        f"{display_value(written)} is not a name that the kernel uses", "write it as the kernel does, such as tsc"
    )


def _switch_word(written: Any) -> Any:
    """Turn a boolean into text: YAML may read `on` and `off` as booleans."""
    return {True: "on", False: "off"}.get(written, written) if isinstance(written, bool) else written


_Name = Annotated[str, BeforeValidator(_name), WithJsonSchema({"type": "string"})]


class Settings(Frozen):
    """What each machine of a run is to be set to; what is left out may be anything."""

    transparent_huge_pages: Annotated[
        str | None, SingleField(axis.choice(("always", "madvise", "never"), optional=True))
    ] = Field(None, description="When the kernel uses huge pages by itself.")
    clock: _Name | None = Field(None, description="Clock source of the kernel, such as tsc.")
    governor: _Name | None = Field(None, description="Frequency governor of the CPUs, such as performance.")
    smt: Annotated[
        str | None, SingleField(axis.choice(("on", "off"), optional=True)), BeforeValidator(_switch_word)
    ] = Field(None, description="Several threads on one core of a CPU.")
    scheduler: _Name | None = Field(None, description="I/O scheduler of the disks, such as none or mq-deadline.")
    mtu: Annotated[int | None, SingleField(axis.whole(68, 65535, optional=True))] = Field(
        None, description="Largest packet of the interfaces that are up, in bytes."
    )

    @property
    def required_values(self) -> dict[str, str]:
        """Name -> value, for the settings that are given."""
        return {name: str(value) for name, value in self.__dict__.items() if value is not None}
