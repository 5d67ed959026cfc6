"""A bucket of an S3 service in a study file."""

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from assay.kinds.http import TEXT_SCHEMA, WORD_PATTERN, HttpTarget, aws_service_url, pattern_validator, service_fields
from assay.model.site.storage import SiteStorage
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.study.target import Flag
from assay.model.units import display_value

MAX_PREFIXES = 1_000_000
_BUCKET = re.compile(r"[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9._-]{2,62}")
_KEYS = re.compile(r"prefixes ([1-9][0-9]*)")
MAX_KEY_BYTES = 1024
"""Longest key in bytes (Amazon S3 User Guide, object key names)."""
_OF_PUTS = ("prefix", "keys", "storage_class", "versioned", "if_none_match")
"""Fields that matter only for puts."""


def _bucket(written: object) -> str:
    if isinstance(written, str) and _BUCKET.fullmatch(written):
        return written
    hint = "write 3 to 63 letters, digits, `.`, `_` and `-`, beginning with a letter or digit"
    raise fault(f"{display_value(written)} is not the name of a bucket", hint)


def _existing(written: object) -> str:
    hint = 'write the prefix of their keys, or "" for the whole bucket'
    if not isinstance(written, str):
        raise fault(f"{display_value(written)} is not a prefix of keys", hint)
    if not written.isprintable() or len(written.encode(errors="replace")) > MAX_KEY_BYTES:
        raise fault("not a valid prefix of keys: it is longer than 1024 bytes or has unprintable characters", hint)
    return written


def _keys(written: object) -> str:
    count = written.get("prefixes") if isinstance(written, dict) and len(written) == 1 else None
    text = f"prefixes {count}" if isinstance(count, int) and not isinstance(count, bool) else written
    if isinstance(text, str) and text in ("flat", "random"):
        return text
    counted = _KEYS.fullmatch(text) if isinstance(text, str) else None
    if counted and int(counted[1]) <= MAX_PREFIXES:
        return counted[0]
    hint = f"write flat, random, or {{prefixes: 16}}, with 1 to {MAX_PREFIXES}"
    raise fault(f"{display_value(written)} is not a layout of keys", hint)


_ANY_KEYS = {
    "anyOf": [
        {"type": "string", "pattern": r"^(flat|random|prefixes [1-9][0-9]*)$"},
        {
            "type": "object",
            "properties": {"prefixes": {"type": "integer", "minimum": 1, "maximum": MAX_PREFIXES}},
            "required": ["prefixes"],
            "additionalProperties": False,
        },
    ]
}
Bucket = Annotated[str, BeforeValidator(_bucket), WithJsonSchema(TEXT_SCHEMA)]
StorageClass = Annotated[
    str | None,
    pattern_validator(WORD_PATTERN, "a storage class", "write a name such as STANDARD_IA"),
    WithJsonSchema(TEXT_SCHEMA),
]
Existing = Annotated[str | None, BeforeValidator(_existing), WithJsonSchema({"type": "string"})]
Keys = Annotated[str, BeforeValidator(_keys), WithJsonSchema(_ANY_KEYS)]
Addressing = Annotated[Literal["path", "virtual_host"] | None, SingleField(axis.choice(("path", "virtual_host")))]
Checksum = Annotated[str, SingleField(axis.choice(("none", "md5", "crc32", "crc32c", "crc64nvme", "sha256")))]


class S3Target(HttpTarget):
    """A bucket of an S3 service. The engine sends the requests itself, and never repeats one."""

    noun: ClassVar[str] = "a bucket"
    rank: ClassVar[int] = 5
    server_offer: ClassVar[Literal["bucket", "table"]] = "bucket"
    examples: ClassVar[dict[str, str]] = {"bucket": "my-bench"}

    kind: Literal["s3"]
    bucket: Bucket = Field(
        description="The bucket. If it does not exist, it is made, marked and removed afterwards; one that Assay has"
        " not made also needs `--destroy`, and only keys below `prefix` are written."
    )
    addressing: Addressing = Field(
        None,
        description="Where requests have the bucket's name: path or virtual_host. Left out: virtual_host with AWS,"
        " unless the name has a dot, else path.",
    )
    existing: Existing = Field(
        None,
        description="Existing objects are the data set: those whose keys begin with this, or all if it is empty. They"
        " are only read, and nothing is written, marked or removed.",
    )
    keys: Keys = Field(
        "flat",
        description="How the keys of a lane are spread: flat, in turns below this many prefixes ({prefixes: 16}), or "
        "behind four digits that look random.",
    )
    anonymous: Flag = Field(False, description="Requests are not signed.")
    checksum: Checksum = Field(
        "none",
        description="Checksum that is sent with each put, and compared with each get of a whole object for which the"
        " service returns one.",
    )
    storage_class: StorageClass = Field(
        None, description="Storage class of the objects that are put; the bucket's own if left out."
    )
    versioned: Flag = Field(False, description="The bucket, if it is made, keeps every version of its objects.")
    if_none_match: Flag = Field(
        False, description="Puts are conditional: the service refuses to replace an existing object."
    )

    @classmethod
    def fields_at(cls, storage: SiteStorage) -> Mapping[str, object] | None:
        """See `Target.fields_at`."""
        return {"bucket": storage.bucket, **service_fields(storage)} if storage.bucket else None

    @model_validator(mode="after")
    def _signed_or_not(self) -> "S3Target":
        if self.anonymous and self.profile is not None:
            raise fault("anonymous requests use no profile", "leave one of them out", "profile")
        return self

    @model_validator(mode="after")
    def _put_or_existing(self) -> "S3Target":
        useless = next((field for field in _OF_PUTS if field in self.model_fields_set), None)
        if self.existing is not None and useless is not None:
            raise fault(f"with `existing` nothing is put, so {useless} has no effect", "leave one out", useless)
        return self

    @property
    def is_read_only(self) -> bool:
        """See `Target.is_read_only`."""
        return self.existing is not None

    @property
    def aws_endpoint(self) -> str:
        """See `HttpTarget.aws_endpoint`."""
        return aws_service_url("s3", self.region)

    @property
    def addressing_style(self) -> str:
        """Addressing style; `path` for names with a dot, because AWS certificates do not cover them as host names."""
        return self.addressing or ("path" if self.endpoints or self.server or "." in self.bucket else "virtual_host")

    @property
    def path_in_service(self) -> str:
        """See `HttpTarget.path_in_service`: bucket/prefix, with the prefix of existing keys if only those are read."""
        return f"{self.bucket}/{self.prefix if self.existing is None else self.existing}"
