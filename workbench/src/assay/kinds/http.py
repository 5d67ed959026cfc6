"""What targets that are reached over HTTP have in common in a study file: endpoints, who asks, how long to wait."""

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, WithJsonSchema

from assay.model.study import axis
from assay.model.study.axis import Single, fault
from assay.model.study.target import Service
from assay.model.units import shown

PORTS = {"http": 80, "https": 443}
_SECRET = re.compile(
    r"(aws_?)?(access|secret|session)_?(access_?)?(key|token)(_?id)?|credentials?|password|secret|token"
)
WORD = r"[A-Za-z0-9._-]{1,128}"
_PLAIN = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}"
_PROFILE = r"[!-~]{1,128}(?<![\[\]#;])"
_HOST = re.compile(r"[A-Za-z0-9._:\[\]-]*[A-Za-z0-9][A-Za-z0-9._:\[\]-]*")
CREDENTIALS = (
    "engines find credentials on their own host: in the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), in "
    "~/.aws/credentials (`profile` names which), or from the role of the instance"
)


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
        raise fault(f"{shown(text)} has a path", f"{hint}; what is there is named in fields of its own")
    if not _HOST.fullmatch(host) or len(host) > 255 or _port(f"{scheme}://{host}") is None:
        raise fault(f"{shown(text)} is not an endpoint", hint)
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
        raise fault("that names no endpoints", "write http://HOST:PORT, or a list of such")
    found = tuple(_endpoint(text) for text in texts)
    for place, endpoint in enumerate(found):
        if endpoint in found[:place]:
            raise fault(f"{endpoint} comes twice", "name each endpoint once")
    return found


def named(pattern: str, what: str, hint: str) -> BeforeValidator:
    """Reads text of a pattern, or nothing; `what` and `hint` say what it is not, and what it may be."""

    def read(written: object) -> str | None:
        if written is None or (isinstance(written, str) and re.fullmatch(pattern, written)):
            return written
        raise fault(f"{shown(written)} is not {what}", hint)

    return BeforeValidator(read)


TEXT = {"type": "string", "minLength": 1}
_ANY_ENDPOINTS = {"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]}
Endpoints = Annotated[tuple[str, ...], BeforeValidator(_endpoints), WithJsonSchema(_ANY_ENDPOINTS)]
Region = Annotated[str, named(WORD, "a region", "write a name such as eu-central-1"), WithJsonSchema(TEXT)]
Prefix = Annotated[str, named(_PLAIN, "a plain name", "use letters, digits, `.`, `_` and `-`"), WithJsonSchema(TEXT)]
Profile = Annotated[
    str | None, named(_PROFILE, "the name of a profile", "write a name of ~/.aws/credentials"), WithJsonSchema(TEXT)
]
Balance = Annotated[Literal["round_robin", "least_loaded"], Single(axis.choice(("round_robin", "least_loaded")))]
Timeout = Annotated[int, Single(axis.duration(10**8, 3600 * 10**9))]
MINUTE = 60 * 10**9
NULL_SERVICE = "null:"
"""Instead of endpoints: the service in the engine itself."""


def also_singular(schema: dict[str, Any]) -> None:
    """`endpoint` may stand for `endpoints`."""
    fields = schema["properties"]
    fields["endpoint"] = {**fields["endpoints"], "description": "The same as endpoints."}


def without_credentials(written: Any) -> Any:
    """Files are copied, kept with runs and shown in reports: no secret may stand in one."""
    for key in written if isinstance(written, dict) else ():
        if isinstance(key, str) and _SECRET.fullmatch(key.lower().replace("-", "_")):
            raise fault("a study holds no credentials", f"remove it, and what it holds: {CREDENTIALS}", key)
    return written


def aws(service: str, region: str) -> str:
    """Where a service of AWS answers in a region."""
    ending = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://{service}.{region}.{ending}"


def services_of(endpoints: tuple[str, ...]) -> tuple[Service, ...]:
    """The hosts of endpoints, each once."""
    found: dict[str, Service] = {}
    for endpoint in endpoints:
        name = urlsplit(endpoint).hostname or ""
        found.setdefault(name, Service(name, _port(endpoint) or 443, closed=True))
    return tuple(found.values())


def first_of(endpoints: tuple[str, ...]) -> str:
    """One endpoint, and how many more there are, for people."""
    more = len(endpoints) - 1
    return f"{endpoints[0]}{f' and {more} more' if more else ''}"
