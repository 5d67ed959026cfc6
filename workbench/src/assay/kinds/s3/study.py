"""A bucket of an S3 service, as a study file names it."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from assay.model.study import axis
from assay.model.study.axis import Single, fault
from assay.model.study.names import Group
from assay.model.study.target import Flag, Path, Service, StatedCeilings, Target, Text
from assay.model.units import shown

if TYPE_CHECKING:
    from assay.model.source import Fault
    from assay.model.study.study import Workload

MOST_PREFIXES = 1_000_000
PORTS = {"http": 80, "https": 443}
_SECRET = re.compile(
    r"(aws_?)?(access|secret|session)_?(access_?)?(key|token)(_?id)?|credentials?|password|secret|token"
)
_BUCKET = re.compile(r"[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9._-]{2,62}")
_WORD = r"[A-Za-z0-9._-]{1,128}"
_PLAIN = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}"
_PROFILE = r"[!-~]{1,128}(?<![\[\]#;])"
_HOST = re.compile(r"[A-Za-z0-9._:\[\]-]*[A-Za-z0-9][A-Za-z0-9._:\[\]-]*")
_KEYS = re.compile(r"prefixes ([1-9][0-9]*)")


def _endpoint(text: str) -> str:
    """One endpoint; what may hold a password is never repeated in a message."""
    hint = "write it as http://HOST:PORT or https://HOST"
    scheme, mark, rest = text.partition("://")
    if "@" in text:
        message = "an endpoint has credentials in it, which no study may hold"
        raise fault(message, f"{hint}; {CREDENTIALS}")
    if not mark or scheme not in PORTS:
        raise fault(f"{shown(text)} does not begin with http:// or https://", hint)
    host = rest.removesuffix("/")
    if any(sign in host for sign in "/?#"):
        raise fault(
            f"{shown(text)} has a path", f"{hint}; the bucket is named in `bucket`, what keys begin with in `prefix`"
        )
    if not _HOST.fullmatch(host) or len(host) > 255 or _port(f"{scheme}://{host}") is None:
        raise fault(f"{shown(text)} is not an endpoint", hint)
    return f"{scheme}://{host}"


def _port(endpoint: str) -> int | None:
    try:
        parts = urlsplit(endpoint)
        return (parts.port or PORTS[parts.scheme]) if parts.hostname else None
    except ValueError:
        return None


CREDENTIALS = (
    "engines find credentials on their own host: in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), in "
    "~/.aws/credentials (`profile` names which), or from the role of the instance"
)


def _endpoints(written: object) -> tuple[str, ...]:
    texts = [written] if isinstance(written, str) else written
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise fault("that names no endpoints", "write http://HOST:PORT, or a list of such")
    found = tuple(_endpoint(text) for text in texts)
    for place, endpoint in enumerate(found):
        if endpoint in found[:place]:
            raise fault(f"{endpoint} comes twice", "name each endpoint once")
    return found


def _bucket(written: object) -> str:
    if isinstance(written, str) and _BUCKET.fullmatch(written):
        return written
    hint = "write 3 to 63 letters, digits, `.`, `_` and `-`, beginning with a letter or digit"
    raise fault(f"{shown(written)} is not the name of a bucket", hint)


def _named(pattern: str, what: str, hint: str) -> BeforeValidator:
    def read(written: object) -> str | None:
        if written is None or (isinstance(written, str) and re.fullmatch(pattern, written)):
            return written
        raise fault(f"{shown(written)} is not {what}", hint)

    return BeforeValidator(read)


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


_TEXT = {"type": "string", "minLength": 1}
_ANY_ENDPOINTS = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}
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
Endpoints = Annotated[tuple[str, ...], BeforeValidator(_endpoints), WithJsonSchema(_ANY_ENDPOINTS)]
Bucket = Annotated[str, BeforeValidator(_bucket), WithJsonSchema(_TEXT)]
Region = Annotated[str, _named(_WORD, "a region", "write a name such as eu-central-1"), WithJsonSchema(_TEXT)]
Prefix = Annotated[str, _named(_PLAIN, "a plain name", "use letters, digits, `.`, `_` and `-`"), WithJsonSchema(_TEXT)]
StorageClass = Annotated[
    str | None, _named(_WORD, "a storage class", "write a name such as STANDARD_IA"), WithJsonSchema(_TEXT)
]
Profile = Annotated[
    str | None, _named(_PROFILE, "the name of a profile", "write a name of ~/.aws/credentials"), WithJsonSchema(_TEXT)
]
Keys = Annotated[str, BeforeValidator(_keys), WithJsonSchema(_ANY_KEYS)]
Balance = Annotated[Literal["round_robin", "least_loaded"], Single(axis.choice(("round_robin", "least_loaded")))]
Addressing = Annotated[Literal["path", "virtual_host"] | None, Single(axis.choice(("path", "virtual_host")))]
Checksum = Annotated[str, Single(axis.choice(("none", "md5", "crc32", "crc32c", "crc64nvme", "sha256")))]
Timeout = Annotated[int, Single(axis.duration(10**8, 3600 * 10**9))]


def _also_singular(schema: dict[str, Any]) -> None:
    """`endpoint` may stand for `endpoints`."""
    fields = schema["properties"]
    fields["endpoint"] = {**fields["endpoints"], "description": "The same as endpoints."}


class S3Target(Target):
    """A bucket of an S3 service, reached by the engine itself; nothing is sent twice."""

    model_config = ConfigDict(json_schema_extra=_also_singular)

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
    timeout: Timeout = Field(60 * 10**9, description="A request that has not ended after so long has failed.")
    ceilings: StatedCeilings = Field(StatedCeilings(), description="What it cannot exceed, from a catalogue.")
    description: Text = Field("", description="What it is, for the report.")

    @model_validator(mode="before")
    @classmethod
    def _without_credentials(cls, written: Any) -> Any:
        """Files are copied, kept with runs and shown in reports: no secret may stand in one."""
        for key in written if isinstance(written, dict) else ():
            if isinstance(key, str) and _SECRET.fullmatch(key.lower().replace("-", "_")):
                raise fault("a study holds no credentials", f"remove it, and what it holds: {CREDENTIALS}", key)
        return written

    @model_validator(mode="after")
    def _signed_or_not(self) -> "S3Target":
        if self.anonymous and self.profile is not None:
            raise fault("a profile is of no use where anonymous is true", "leave one of them out", "profile")
        return self

    @property
    def doors(self) -> tuple[str, ...]:
        """The endpoints, also where none is written."""
        ending = "amazonaws.com.cn" if self.region.startswith("cn-") else "amazonaws.com"
        return self.endpoints or (f"https://s3.{self.region}.{ending}",)

    @property
    def addressed(self) -> str:
        """Where the bucket's name stands. A certificate of AWS holds for no name with a dot before its own."""
        return self.addressing or ("path" if self.endpoints or "." in self.bucket else "virtual_host")

    @property
    def services(self) -> tuple[Service, ...]:
        """The hosts of its endpoints, each once."""
        found: dict[str, Service] = {}
        for endpoint in self.doors:
            name = urlsplit(endpoint).hostname or ""
            found.setdefault(name, Service(name, _port(endpoint) or 443))
        return tuple(found.values())

    @property
    def path(self) -> str:
        """Where it is, for people: endpoint/bucket/prefix."""
        more = len(self.doors) - 1
        return f"{self.doors[0]}{f' and {more} more' if more else ''}/{self.bucket}/{self.prefix}"

    def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[Fault]":
        """Of endpoints and of what S3 allows; `crosscheck.py`."""
        yield from self.part("crosscheck").crosscheck(self, name, workload, work)
