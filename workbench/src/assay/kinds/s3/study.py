"""A bucket of an S3 service, as a study file names it."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from assay.kinds.http import (
    MINUTE,
    TEXT,
    WORD,
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

MOST_PREFIXES = 1_000_000
_BUCKET = re.compile(r"[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9._-]{2,62}")
_KEYS = re.compile(r"prefixes ([1-9][0-9]*)")


def _bucket(written: object) -> str:
    if isinstance(written, str) and _BUCKET.fullmatch(written):
        return written
    hint = "write 3 to 63 letters, digits, `.`, `_` and `-`, beginning with a letter or digit"
    raise fault(f"{shown(written)} is not the name of a bucket", hint)


def _keys(written: object) -> str:
    count = written.get("prefixes") if isinstance(written, dict) and len(written) == 1 else None
    text = f"prefixes {count}" if isinstance(count, int) and not isinstance(count, bool) else written
    if isinstance(text, str) and text in ("flat", "random"):
        return text
    counted = _KEYS.fullmatch(text) if isinstance(text, str) else None
    if counted and int(counted[1]) <= MOST_PREFIXES:
        return counted[0]
    hint = f"write flat, random, or {{prefixes: 16}}, with 1 to {MOST_PREFIXES}"
    raise fault(f"{shown(written)} is no layout of keys", hint)


_ANY_KEYS = {
    "anyOf": [
        {"type": "string", "pattern": r"^(flat|random|prefixes [1-9][0-9]*)$"},
        {
            "type": "object",
            "properties": {"prefixes": {"type": "integer", "minimum": 1, "maximum": MOST_PREFIXES}},
            "required": ["prefixes"],
            "additionalProperties": False,
        },
    ]
}
Bucket = Annotated[str, BeforeValidator(_bucket), WithJsonSchema(TEXT)]
StorageClass = Annotated[
    str | None, named(WORD, "a storage class", "write a name such as STANDARD_IA"), WithJsonSchema(TEXT)
]
Keys = Annotated[str, BeforeValidator(_keys), WithJsonSchema(_ANY_KEYS)]
Addressing = Annotated[Literal["path", "virtual_host"] | None, Single(axis.choice(("path", "virtual_host")))]
Checksum = Annotated[str, Single(axis.choice(("none", "md5", "crc32", "crc32c", "crc64nvme", "sha256")))]


class S3Target(Target):
    """A bucket of an S3 service, reached by the engine itself; nothing is sent twice."""

    model_config = ConfigDict(json_schema_extra=also_singular)

    noun: ClassVar[str] = "a bucket"
    holds: ClassVar[tuple[Group, ...]] = ("objects",)
    rank: ClassVar[int] = 4
    keeps_data: ClassVar[bool] = True
    through_kernel: ClassVar[bool] = False
    is_directory: ClassVar[bool] = False
    whole_device: ClassVar[bool] = False
    made_by_engines: ClassVar[bool] = True
    waits_when_gone: ClassVar[bool] = False
    examples: ClassVar[dict[str, str]] = {"bucket": "my-bench"}

    kind: Literal["s3"]
    bucket: Bucket = Field(
        description="The bucket. One that is not there is made, marked and removed afterwards; one that Assay has not "
        "made also needs `--destroy`, and only keys below `prefix` are written."
    )
    endpoints: Endpoints = Field(
        (),
        validation_alias=AliasChoices("endpoints", "endpoint"),
        description="Where the service answers: http://HOST:PORT or https://HOST, or a list of doors to the same "
        "buckets. Left out: AWS in the region.",
    )
    balance: Balance = Field(
        "round_robin", description="Which of several endpoints gets a request: each in turn, or the least loaded."
    )
    region: Region = Field("us-east-1", description="Region that requests are signed for.")
    addressing: Addressing = Field(
        None,
        description="Where the bucket's name stands: path or virtual_host. Left out: virtual_host with AWS, unless the "
        "name has a dot, else path.",
    )
    prefix: Prefix = Field("assay", description="What all keys begin with; Assay writes nothing else.")
    keys: Keys = Field(
        "flat",
        description="How the keys of a lane are spread: flat, in turns below so many prefixes ({prefixes: 16}), or "
        "behind four digits that look random.",
    )
    profile: Profile = Field(None, description="Profile of ~/.aws/credentials and ~/.aws/config on each host.")
    anonymous: Flag = Field(False, description="Requests are not signed.")
    checksum: Checksum = Field(
        "none", description="Sum that is sent with each put, and held against each get of a whole object."
    )
    storage_class: StorageClass = Field(None, description="Storage class of what is put; the bucket's own if left out.")
    versioned: Flag = Field(False, description="The bucket, if it is made, keeps every version of its objects.")
    if_none_match: Flag = Field(False, description="Puts are conditional: the service refuses what is there already.")
    ca_file: Path | None = Field(None, description="Certificates, in PEM, of who signed the service's.")
    timeout: Timeout = Field(MINUTE, description="A request that has not ended after so long has failed.")
    ceilings: StatedCeilings = Field(StatedCeilings(), description="What it cannot exceed, from a catalogue.")
    description: Text = Field("", description="What it is, for the report.")

    @model_validator(mode="before")
    @classmethod
    def _without_credentials(cls, written: Any) -> Any:
        return without_credentials(written)

    @model_validator(mode="after")
    def _signed_or_not(self) -> "S3Target":
        if self.anonymous and self.profile is not None:
            raise fault("a profile is of no use where anonymous is true", "leave one of them out", "profile")
        return self

    @property
    def doors(self) -> tuple[str, ...]:
        """The endpoints, also where none is written."""
        return self.endpoints or (aws("s3", self.region),)

    @property
    def addressed(self) -> str:
        """Where the bucket's name stands. A certificate of AWS holds for no name with a dot before its own."""
        return self.addressing or ("path" if self.endpoints or "." in self.bucket else "virtual_host")

    @property
    def services(self) -> tuple[Service, ...]:
        """The hosts of its endpoints, each once."""
        return services_of(self.doors)

    @property
    def path(self) -> str:
        """Where it is, for people: endpoint/bucket/prefix."""
        return f"{first_of(self.doors)}/{self.bucket}/{self.prefix}"

    def at_engine(self) -> BaseModel:
        """As `Target.at_engine`; `job.py`."""
        found: BaseModel = self.part("job").at_engine(self)
        return found

    def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[Fault]":
        """Of endpoints and of what S3 allows; `crosscheck.py`."""
        yield from self.part("crosscheck").crosscheck(self, name, workload, work)
