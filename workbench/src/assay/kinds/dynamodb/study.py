"""A table of a DynamoDB service, as a study file names it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from assay.kinds.http import (
    MINUTE,
    TEXT,
    Balance,
    Endpoints,
    Prefix,
    Profile,
    Region,
    Timeout,
    also_singular,
    aws,
    first_of,
    named,
    services_of,
    without_credentials,
)
from assay.model.study import axis
from assay.model.study.axis import Single, fault
from assay.model.study.names import Group
from assay.model.study.target import Flag, Path, Service, StatedCeilings, Target, Text
from assay.model.units import shown

if TYPE_CHECKING:
    from assay.model.source import Fault
    from assay.model.study.study import Workload

CONTENTS = "d"
"""Attribute that holds what an item is about."""
MOST_UNITS = 10**9

_TABLE = r"[A-Za-z0-9._-]{3,255}"
_ATTRIBUTE = rf"(?!{CONTENTS}$)[A-Za-z0-9._-]{{1,255}}"
_NAME = "use 1 to 255 letters, digits, `.`, `_` and `-`; d holds the contents"


def _capacity(written: object) -> tuple[int, int] | None:
    """Read and write units that are provisioned; None: on demand."""
    hint = "write on_demand, or {read: 1000, write: 500} in capacity units"
    if written in (None, "on_demand"):
        return None
    if not isinstance(written, dict) or set(written) != {"read", "write"}:
        raise fault(f"{shown(written)} is no capacity", hint)
    for name, units in written.items():
        if isinstance(units, bool) or not isinstance(units, int) or not 1 <= units <= MOST_UNITS:
            raise fault(f"{shown(units)} is no number of {name} capacity units", f"{hint}, 1 at least")
    return written["read"], written["write"]


_UNITS = {"type": "integer", "minimum": 1, "maximum": MOST_UNITS}
_ANY_CAPACITY = {
    "anyOf": [
        {"const": "on_demand"},
        {
            "type": "object",
            "properties": {"read": _UNITS, "write": _UNITS},
            "required": ["read", "write"],
            "additionalProperties": False,
        },
    ]
}
Table = Annotated[
    str, named(_TABLE, "the name of a table", "write 3 to 255 letters, digits, `.`, `_` and `-`"), WithJsonSchema(TEXT)
]
Attribute = Annotated[str, named(_ATTRIBUTE, "an attribute for a key", _NAME), WithJsonSchema(TEXT)]
SortKey = Annotated[str | None, named(_ATTRIBUTE, "an attribute for a key", _NAME), WithJsonSchema(TEXT)]
Capacity = Annotated[tuple[int, int] | None, BeforeValidator(_capacity), WithJsonSchema(_ANY_CAPACITY)]
Count = Annotated[int, Single(axis.whole(1, 10**9))]
Limit = Annotated[int | None, Single(axis.whole(1, 2**63 - 1, optional=True))]


class DynamodbTarget(Target):
    """A table of a DynamoDB service, reached by the engine itself; nothing is sent twice."""

    model_config = ConfigDict(json_schema_extra=also_singular)

    noun: ClassVar[str] = "a table"
    holds: ClassVar[tuple[Group, ...]] = ("objects",)
    rank: ClassVar[int] = 5
    keeps_data: ClassVar[bool] = True
    through_kernel: ClassVar[bool] = False
    is_directory: ClassVar[bool] = False
    whole_device: ClassVar[bool] = False
    made_by_engines: ClassVar[bool] = True
    waits_when_gone: ClassVar[bool] = False
    examples: ClassVar[dict[str, str]] = {"table": "my-bench"}

    kind: Literal["dynamodb"]
    table: Table = Field(
        description="The table. One that is not there is made, marked and removed afterwards; one that Assay has not "
        "made also needs `--destroy`, and only items whose keys begin with `prefix` are written."
    )
    endpoints: Endpoints = Field(
        (),
        validation_alias=AliasChoices("endpoints", "endpoint"),
        description="Where the service answers: http://HOST:PORT or https://HOST, or a list of doors to the same "
        "tables. Left out: AWS in the region.",
    )
    balance: Balance = Field(
        "round_robin", description="Which of several endpoints gets a request: each in turn, or the least loaded."
    )
    region: Region = Field("us-east-1", description="Region that requests are signed for.")
    prefix: Prefix = Field("assay", description="What all partition keys begin with; Assay writes nothing else.")
    profile: Profile = Field(None, description="Profile of ~/.aws/credentials and ~/.aws/config on each host.")
    partition_key: Attribute = Field("pk", description="Attribute that is the partition key, a text.")
    sort_key: SortKey = Field(None, description="Attribute that is the sort key, a text; none if left out.")
    partition_items: Count = Field(
        1, description="Items of each lane with the same partition key, which differ in their sort keys."
    )
    capacity: Capacity = Field(
        None,
        description="How the table is paid for, if it is made: on_demand, or provisioned as {read: 1000, write: 500} "
        "capacity units.",
    )
    consistent: Flag = Field(
        False, description="Reads are strongly consistent; else eventually, for half the capacity units."
    )
    max_capacity_units: Limit = Field(
        None, description="The run consumes no more capacity units than this here, as far as the service tells."
    )
    max_requests: Limit = Field(None, description="Operations of the run send no more requests than this here.")
    ca_file: Path | None = Field(None, description="Certificates, in PEM, of who signed the service's.")
    timeout: Timeout = Field(MINUTE, description="A request that has not ended after so long has failed.")
    ceilings: StatedCeilings = Field(StatedCeilings(), description="What it cannot exceed, from a catalogue.")
    description: Text = Field("", description="What it is, for the report.")

    @model_validator(mode="before")
    @classmethod
    def _without_credentials(cls, written: Any) -> Any:
        return without_credentials(written)

    @model_validator(mode="after")
    def _keys_tell_apart(self) -> "DynamodbTarget":
        if self.partition_items > 1 and self.sort_key is None:
            message = "items with the same partition key need a sort key"
            raise fault(message, "add for example sort_key: sk, or remove partition_items", "partition_items")
        if self.sort_key == self.partition_key:
            raise fault("both keys have the same name", "give them different names", "sort_key")
        return self

    @property
    def doors(self) -> tuple[str, ...]:
        """The endpoints, also where none is written."""
        return self.endpoints or (aws("dynamodb", self.region),)

    @property
    def services(self) -> tuple[Service, ...]:
        """The hosts of its endpoints, each once."""
        return services_of(self.doors)

    @property
    def path(self) -> str:
        """Where it is, for people: endpoint/region/table/NAME/prefix; a bucket there may have the same name."""
        return f"{first_of(self.doors)}/{self.region}/table/{self.table}/{self.prefix}"

    def at_engine(self) -> BaseModel:
        """As `Target.at_engine`; `job.py`."""
        found: BaseModel = self.part("job").at_engine(self)
        return found

    def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[Fault]":
        """Of endpoints and of what DynamoDB allows; `crosscheck.py`."""
        yield from self.part("crosscheck").crosscheck(self, name, workload, work)
