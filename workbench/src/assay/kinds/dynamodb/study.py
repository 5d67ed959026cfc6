"""A table of a DynamoDB service in a study file."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from assay.kinds.http import TEXT_SCHEMA, HttpTarget, aws_service_url, pattern_validator, service_fields
from assay.model.site.storage import SiteStorage
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.study.target import Flag
from assay.model.units import display_value

DATA_ATTRIBUTE = "d"
"""Attribute that holds the data of an item."""
MAX_UNITS = 10**9

_TABLE = r"[A-Za-z0-9._-]{3,255}"
_ATTRIBUTE = rf"(?!{DATA_ATTRIBUTE}$)[A-Za-z0-9._-]{{1,255}}"
_NAME = "use 1 to 255 letters, digits, `.`, `_` and `-`; d holds the contents"


def _capacity(written: object) -> tuple[int, int] | None:
    """Return the provisioned read and write units; None for on demand."""
    hint = "write on_demand, or {read: 1000, write: 500} in capacity units"
    if written in (None, "on_demand"):
        return None
    if not isinstance(written, dict) or set(written) != {"read", "write"}:
        raise fault(f"{display_value(written)} is not a capacity", hint)
    for name, units in written.items():
        if isinstance(units, bool) or not isinstance(units, int) or not 1 <= units <= MAX_UNITS:
            raise fault(f"{display_value(units)} is not a number of {name} capacity units", f"{hint}, at least 1")
    return written["read"], written["write"]


_UNITS = {"type": "integer", "minimum": 1, "maximum": MAX_UNITS}
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
    str,
    pattern_validator(_TABLE, "the name of a table", "write 3 to 255 letters, digits, `.`, `_` and `-`"),
    WithJsonSchema(TEXT_SCHEMA),
]
Attribute = Annotated[str, pattern_validator(_ATTRIBUTE, "an attribute for a key", _NAME), WithJsonSchema(TEXT_SCHEMA)]
SortKey = Annotated[
    str | None, pattern_validator(_ATTRIBUTE, "an attribute for a key", _NAME), WithJsonSchema(TEXT_SCHEMA)
]
Capacity = Annotated[tuple[int, int] | None, BeforeValidator(_capacity), WithJsonSchema(_ANY_CAPACITY)]
Count = Annotated[int, SingleField(axis.whole(1, 10**9))]
Limit = Annotated[int | None, SingleField(axis.whole(1, 2**63 - 1, optional=True))]


class DynamodbTarget(HttpTarget):
    """A table of a DynamoDB service. The engine sends the requests itself, and never repeats one."""

    noun: ClassVar[str] = "a table"
    rank: ClassVar[int] = 6
    server_offer: ClassVar[Literal["bucket", "table"]] = "table"
    examples: ClassVar[dict[str, str]] = {"table": "my-bench"}

    kind: Literal["dynamodb"]
    table: Table = Field(
        description="The table. If it does not exist, it is made, marked and removed afterwards; one that Assay has not"
        " made also needs `--destroy`, and only items whose keys begin with `prefix` are written."
    )
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
        None, description="Limit of the capacity units that the run consumes here, as the service reports them."
    )
    max_requests: Limit = Field(None, description="Limit of the requests that operations of the run send here.")

    @classmethod
    def fields_at(cls, storage: SiteStorage) -> Mapping[str, object] | None:
        """See `Target.fields_at`."""
        return {"table": storage.table, **service_fields(storage)} if storage.table else None

    @model_validator(mode="after")
    def _keys_differ(self) -> "DynamodbTarget":
        if self.partition_items > 1 and self.sort_key is None:
            message = "items with the same partition key need a sort key"
            raise fault(message, "add for example sort_key: sk, or remove partition_items", "partition_items")
        if self.sort_key == self.partition_key:
            raise fault("both keys have the same name", "give them different names", "sort_key")
        return self

    @property
    def aws_endpoint(self) -> str:
        """See `HttpTarget.aws_endpoint`."""
        return aws_service_url("dynamodb", self.region)

    @property
    def path_in_service(self) -> str:
        """See `HttpTarget.path_in_service`: region/table/NAME/prefix, since a bucket may have the same name."""
        return f"{self.region}/table/{self.table}/{self.prefix}"
