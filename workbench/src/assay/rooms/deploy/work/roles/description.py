"""Descriptions of roles, their variables, and the steps of which they are made: files beside this module."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.units import choices_hint
from assay.model.yaml_files import read_model

FOLDER = Path(__file__).parent
GUIDE = "docs/guides/deploy.md"
COMMON = ("SIGNAL_URL", "HOST_NAME")
"""Variables of every role: the preamble of its script uses them."""


class RoleVariable(Frozen):
    """A value of a role on a host.

    Attributes:
        meaning: What it is, in one sentence.
        default: Its value if it is not set.
        pattern: Regular expression that a whole value must match.
        is_required: It must be set.
    """

    meaning: str
    default: str = ""
    pattern: str
    is_required: bool = False

    def accepts(self, value: str) -> bool:
        """Return whether a value may be set."""
        return value.isprintable() and re.fullmatch(self.pattern, value) is not None


class Packages(Frozen):
    """Names of packages by the program that installs them."""

    apt: tuple[str, ...] = ()
    dnf: tuple[str, ...] = ()


class RoleDescription(Frozen):
    """A role as its file has it."""

    role: str = Field(description="Its name, which is also that of the file.")
    description: str = Field(description="What a host of this role is, one line.")
    server: str = Field("", description="Kind of server in `servers/` whose packages and configuration it uses.")
    use: Literal["", "run", "text", "file"] = Field(
        "",
        description="What becomes of that configuration: run as a script, printed, or printed with its dollar signs.",
    )
    words: dict[str, str] = Field({}, description="Word of that configuration -> what stands for it in the script.")
    box_only: tuple[str, ...] = Field((), description="Settings of that configuration that only suit a box.")
    packages: Packages = Field(Packages(), description="Packages; without apt, those of `server`.")
    ports: tuple[str, ...] = Field((), description="What clients connect to, such as 2049/tcp.")
    required: tuple[str, ...] = Field((), description="Variables that must be set.")
    defaults: dict[str, str] = Field({}, description="Variable -> its default in this role.")
    steps: tuple[str, ...] = Field(min_length=1, description="Its steps in order.")


class _Variables(Frozen):
    variables: dict[str, RoleVariable]


@dataclass(frozen=True)
class RoleStep:
    """A file of `steps/`.

    Attributes:
        name: Beginning of the names of its functions `NAME_check`, `NAME_plan` and `NAME_run`.
        body: The functions.
        needs: Other files of `steps/` whose functions it calls.
        variables: Names of the values that it uses, without those of `needs`.
    """

    name: str
    body: str
    needs: tuple[str, ...]
    variables: tuple[str, ...]


def role_names() -> tuple[str, ...]:
    """Return the names of all roles, sorted."""
    return tuple(sorted(path.stem for path in (FOLDER / "descriptions").glob("*.yaml")))


@functools.cache
def load_role(name: str) -> RoleDescription:
    """Return a role.

    Raises:
        AssayError: There is none of this name.
    """
    if name not in role_names():
        raise AssayError(f"no role is called `{name}`", choices_hint(name, list(role_names())))
    path = FOLDER / "descriptions" / f"{name}.yaml"
    return read_model(RoleDescription, path.read_bytes(), str(path), GUIDE, "role", is_shipped=True)


@functools.cache
def known_variables() -> dict[str, RoleVariable]:
    """Return all variables by name, with the defaults that hold for most roles."""
    path = FOLDER / "variables.yaml"
    return read_model(_Variables, path.read_bytes(), str(path), GUIDE, "variables", is_shipped=True).variables


@functools.cache
def load_step(name: str) -> RoleStep:
    """Return the step, or the helpers, of a file of `steps/`."""
    text = (FOLDER / "steps" / f"{name}.sh").read_text()
    stated = {key: tuple(words.split()) for key, words in re.findall(r"^# (needs|variables): (.*)$", text, re.M)}
    body = re.sub(r"^# (needs|variables): .*\n", "", text, flags=re.M)
    return RoleStep(name, body, stated.get("needs", ()), stated.get("variables", ()))


def preamble() -> str:
    """Return what each script begins with: reading values, and doing and recording steps."""
    return (FOLDER / "preamble.sh").read_text()


def steps_of(names: tuple[str, ...]) -> tuple[RoleStep, ...]:
    """Return the files of `steps/` that steps need, each once, behind those that it needs."""
    found: dict[str, RoleStep] = {}
    for name in names:
        step = load_step(name)
        for other in (*steps_of(step.needs), step):
            found.setdefault(other.name, other)
    return tuple(found.values())
