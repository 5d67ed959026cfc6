"""The common part of targets reached over HTTP in a study file: endpoints, credentials, timeout."""

import os
import re
from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from assay.kinds.families import EngineSideTarget
from assay.model.base import AssayError
from assay.model.site.storage import SiteStorage
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.study.names import Group
from assay.model.study.speed import Speed
from assay.model.study.target import Path, StatedCeilings, TargetService, Text
from assay.model.units import display_value

if TYPE_CHECKING:
    from assay.model.source import FieldFault
    from assay.model.study.study import Workload

PORTS = {"http": 80, "https": 443}
_SECRET = re.compile(
    r"(aws_?)?(access|secret|session)_?(access_?)?(key|token)(_?id)?|credentials?|password|secret|token"
)
WORD_PATTERN = r"[A-Za-z0-9._-]{1,128}"
_PLAIN = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}"
_PROFILE = r"[!-~]{1,128}(?<![\[\]#;])"
_HOST = re.compile(r"[A-Za-z0-9._:\[\]-]*[A-Za-z0-9][A-Za-z0-9._:\[\]-]*")
CREDENTIALS = (
    "engines find credentials on their own host: in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), in "
    "~/.aws/credentials (`profile` names which), or from the role of the instance"
)


def _endpoint(text: str) -> str:
    """Return a valid endpoint. A text that may contain a password is never repeated in a message."""
    hint = "write it as http://HOST:PORT or https://HOST"
    scheme, mark, rest = text.partition("://")
    if "@" in text:
        message = "an endpoint contains credentials, which a study must not contain"
        raise fault(message, f"{hint}; {CREDENTIALS}")
    if not mark or scheme not in PORTS:
        raise fault(f"{display_value(text)} does not begin with http:// or https://", hint)
    host = rest.removesuffix("/")
    if any(sign in host for sign in "/?#"):
        raise fault(f"{display_value(text)} has a path", f"{hint}; bucket, table and prefix have their own fields")
    if not _HOST.fullmatch(host) or len(host) > 255 or _port(f"{scheme}://{host}") is None:
        raise fault(f"{display_value(text)} is not an endpoint", hint)
    return f"{scheme}://{host}"


def _port(endpoint: str) -> int | None:
    try:
        parts = urlsplit(endpoint)
        return (parts.port or PORTS[parts.scheme]) if parts.hostname else None
    except ValueError:
        return None


def _endpoints(written: object) -> tuple[str, ...]:
    texts = [written] if isinstance(written, str) else written
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise fault("no endpoint is named", "write http://HOST:PORT, or a list of such")
    found = tuple(_endpoint(text) for text in texts)
    for place, endpoint in enumerate(found):
        if endpoint in found[:place]:
            raise fault(f"{endpoint} comes twice", "name each endpoint once")
    return found


def pattern_validator(pattern: str, what: str, hint: str) -> BeforeValidator:
    """Return a validator that accepts None and text matching a pattern.

    Args:
        pattern: Regular expression for the whole text.
        what: What the text should be, for the message: `TEXT is not WHAT`.
        hint: What to write instead.
    """

    def read(written: object) -> str | None:
        if written is None or (isinstance(written, str) and re.fullmatch(pattern, written)):
            return written
        raise fault(f"{display_value(written)} is not {what}", hint)

    return BeforeValidator(read)


TEXT_SCHEMA = {"type": "string", "minLength": 1}
_ANY_ENDPOINTS = {"anyOf": [TEXT_SCHEMA, {"type": "array", "items": TEXT_SCHEMA, "minItems": 1}]}
Endpoints = Annotated[tuple[str, ...], BeforeValidator(_endpoints), WithJsonSchema(_ANY_ENDPOINTS)]
Region = Annotated[
    str, pattern_validator(WORD_PATTERN, "a region", "write a name such as eu-central-1"), WithJsonSchema(TEXT_SCHEMA)
]
_PREFIX = rf"(?=.{{1,256}}\Z){_PLAIN}(/{_PLAIN})*"
_OF_PREFIX = "use letters, digits, `.`, `_` and `-`, such as bench, or team/alice for keys below that"
Prefix = Annotated[str, pattern_validator(_PREFIX, "a prefix of keys", _OF_PREFIX), WithJsonSchema(TEXT_SCHEMA)]
Profile = Annotated[
    str | None,
    pattern_validator(_PROFILE, "the name of a profile", "write a name of ~/.aws/credentials"),
    WithJsonSchema(TEXT_SCHEMA),
]
Balance = Annotated[Literal["round_robin", "least_loaded"], SingleField(axis.choice(("round_robin", "least_loaded")))]
Timeout = Annotated[int, SingleField(axis.duration(10**8, 3600 * 10**9))]
MINUTE_NS = 60 * 10**9
NULL_SERVICE = "null:"
"""Endpoint of the service inside the engine."""
ServerName = Annotated[
    str | None,
    pattern_validator(WORD_PATTERN, "a kind of server", "write a name such as moto"),
    WithJsonSchema(TEXT_SCHEMA),
]
LOCAL_SERVER_SPEED = Speed(5e7, 3e-3, 3e-3, 1, "a server that Assay starts on this machine")
"""Assumed speed of a started server: that of moto, the slowest."""


def service_fields(storage: SiteStorage) -> dict[str, object]:
    """Return the fields that point a target at the service of AWS in the region of a site; None for those left out."""
    return {"region": storage.region or None, "endpoint": None, "endpoints": None, "server": None}


def add_singular_endpoint(schema: dict[str, Any]) -> None:
    """Add `endpoint` to a JSON schema as another name of `endpoints`."""
    fields = schema["properties"]
    fields["endpoint"] = {**fields["endpoints"], "description": "The same as endpoints."}


class HttpTarget(EngineSideTarget):
    """A bucket or table of a service that the engine reaches over HTTP itself; it never repeats a request."""

    model_config = ConfigDict(json_schema_extra=add_singular_endpoint)

    groups: ClassVar[tuple[Group, ...]] = ("objects",)
    times_out_when_lost: ClassVar[bool] = False
    server_offer: ClassVar[Literal["bucket", "table"]]
    """What a server must provide for such a target."""

    kind: str
    endpoints: Endpoints = Field(
        (),
        validation_alias=AliasChoices("endpoints", "endpoint"),
        description="Where the service answers: http://HOST:PORT or https://HOST, or a list of endpoints of the same"
        " buckets or tables. Left out: AWS in the region.",
    )
    server: ServerName = Field(
        None,
        description="Instead of endpoints: a server that Assay starts on this machine for the run and stops after it:"
        " moto, for buckets versitygw, or one of $ASSAY_SERVERS. Targets that name the same one share it.",
    )
    balance: Balance = Field(
        "round_robin", description="Which of several endpoints gets a request: each in turn, or the least loaded."
    )
    region: Region = Field("us-east-1", description="Region that requests are signed for.")
    prefix: Prefix = Field(
        "assay", description="Prefix of all keys, such as bench or team/alice; Assay writes no other keys."
    )
    profile: Profile = Field(None, description="Profile of ~/.aws/credentials and ~/.aws/config on each host.")
    ca_file: Path | None = Field(None, description="CA certificates, in PEM format, that signed the service's.")
    timeout: Timeout = Field(MINUTE_NS, description="A request that has not ended after this time has failed.")
    ceilings: StatedCeilings = Field(StatedCeilings(), description="Limits that it cannot exceed, from a data sheet.")
    description: Text = Field("", description="Description of the target, for the report.")

    @model_validator(mode="before")
    @classmethod
    def _without_credentials(cls, written: Any) -> Any:
        """Refuse credentials: study files are copied, stored with runs and shown in reports."""
        for key in written if isinstance(written, dict) else ():
            if isinstance(key, str) and _SECRET.fullmatch(key.lower().replace("-", "_")):
                raise fault("a study must not contain credentials", f"remove the field: {CREDENTIALS}", key)
        return written

    @model_validator(mode="after")
    def _startable_server(self) -> "HttpTarget":
        if self.server is None:
            return self
        if self.endpoints:
            hint = "leave one out: endpoints are for services that run already"
            raise fault("server and endpoints exclude each other", hint, "server")
        if self.profile is not None:
            hint = "leave profile out: Assay knows the keys of the servers that it starts"
            raise fault("server and profile exclude each other", hint, "server")
        from assay.servers.kinds import startable_fault

        try:
            wrong = startable_fault(self.server, self.server_offer)
        except AssayError as error:
            wrong = error.message, error.hint
        if wrong:
            raise fault(*wrong, "server")
        return self

    @property
    def started_server(self) -> str:
        """See `Target.started_server`."""
        return self.server or ""

    def at_port(self, port: int) -> "HttpTarget":
        """See `Target.at_port`."""
        return self.model_copy(update={"endpoints": (f"http://127.0.0.1:{port}",)})

    @property
    def endpoint_urls(self) -> tuple[str, ...]:
        """The endpoints; AWS's if none is written; a name that never resolves for a server that does not run yet."""
        # RFC 2606 reserves `invalid` for names that never resolve.
        return self.endpoints or (f"http://{self.server}.invalid" if self.server else self.aws_endpoint,)

    @property
    @abstractmethod
    def aws_endpoint(self) -> str:
        """Endpoint of AWS for it, in its region."""

    @property
    @abstractmethod
    def path_in_service(self) -> str:
        """Its path inside the service, for people to read."""

    @property
    def services(self) -> tuple[TargetService, ...]:
        """Hosts of its endpoints, each once; none for a server on this machine, which no network link leads to."""
        if self.server:
            return ()
        found: dict[str, TargetService] = {}
        for endpoint in self.endpoint_urls:
            name = urlsplit(endpoint).hostname or ""
            found.setdefault(name, TargetService(name, _port(endpoint) or 443, is_public=True))
        return tuple(found.values())

    @property
    def path(self) -> str:
        """Its place, for people to read: first endpoint, number of further ones, and the path inside the service."""
        if self.server:
            return f"{self.server} on this machine/{self.path_in_service}"
        more = len(self.endpoint_urls) - 1
        return f"{self.endpoint_urls[0]}{f' and {more} more' if more else ''}/{self.path_in_service}"

    @property
    def has_own_service(self) -> bool:
        """See `Target.has_own_service`: not for existing objects, which the engine's own service lacks."""
        return not self.is_read_only

    def at_engine(self) -> BaseModel | None:
        """See `Target.at_engine`: in a bucket or table of the engine's own service."""
        if not self.has_own_service:
            return None
        overrides = {"endpoints": (NULL_SERVICE,), "server": None, "profile": None, "ca_file": None}
        return self.model_copy(update={**overrides, **self.kind_module("job").ENGINE_SERVICE_FIELDS}).job_target(
            "ceiling"
        )

    def crosscheck(self, name: str, workload: str, work: "Workload") -> "Iterator[FieldFault]":
        """See `Target.crosscheck`: the rules in `crosscheck.py` of the kind."""
        yield from self.kind_module("crosscheck").crosscheck(self, name, workload, work)


def environment_endpoint(kind: str) -> tuple[str, str]:
    """Return name and value of the environment variable with the endpoint of an AWS service; both empty if none is set.

    Args:
        kind: Kind of the target, which is the name of the service.
    """
    ignored = os.environ.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "").lower() == "true"
    names = (f"AWS_ENDPOINT_URL_{kind.upper()}", "AWS_ENDPOINT_URL")
    found = next(((name, text) for name in names if (text := os.environ.get(name, ""))), ("", ""))
    return ("", "") if ignored else found


def aws_service_url(service: str, region: str) -> str:
    """Return the endpoint of an AWS service in a region."""
    ending = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://{service}.{region}.{ending}"
