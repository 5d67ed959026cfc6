"""The one door to AWS: clients of one region, retries, and errors as kinds."""

import functools
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.extras import require
from assay.model.secret import REDACTED
from assay.model.units import choices_hint, display_value
from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.work.life.faults import error_of_code

MAX_ATTEMPTS = 8
"""Attempts of a call that is throttled or gets no answer, unless AWS_MAX_ATTEMPTS says otherwise."""
CONNECT_SECONDS, READ_SECONDS = 10, 60
OPTIONAL = {"service-quotas": {"retries": {"total_max_attempts": 1}, "connect_timeout": 3, "read_timeout": 5}}
"""Services without which everything works, and which are not waited for; some closed networks have no way to them."""


@dataclass(frozen=True)
class Identity:
    """Whose credentials are used.

    Attributes:
        account: Number of the account.
        arn: ARN of the user or role.
    """

    account: str
    arn: str


class Cloud:
    """AWS in one region, with the credentials, profile and endpoint that botocore finds in the environment."""

    def __init__(self, region: str = "") -> None:
        """Find region and credentials; nothing is sent.

        Args:
            region: Its name; empty: that of the environment or the user's configuration of AWS.

        Raises:
            AssayError: boto3 is missing, no region is known, it does not exist, or there are no credentials.
        """
        require("boto3", "`assay deploy`")
        import boto3
        import botocore.config
        import botocore.exceptions
        import botocore.session

        try:
            core = botocore.session.get_session()
            core.register_component("data_loader", _descriptions(core.get_config_variable("data_path")))
            self._session = boto3.session.Session(region_name=region or None, botocore_session=core)
            self.region: str = self._session.region_name or ""
            self._check_region()
            self._credentials = self._session.get_credentials()
        except botocore.exceptions.BotoCoreError as error:
            raise _client_error(error, "credentials") from error
        if self._credentials is None:
            raise CloudError(FaultKind.NO_CREDENTIALS, "there are no credentials for AWS")
        retries: dict[str, Any] = {} if "AWS_RETRY_MODE" in os.environ else {"mode": "adaptive"}
        retries |= {} if "AWS_MAX_ATTEMPTS" in os.environ else {"total_max_attempts": MAX_ATTEMPTS}
        self._config = botocore.config.Config(
            retries=retries, connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS, user_agent_extra="assay"
        )
        self._clients: dict[str, Any] = {}

    def _check_region(self) -> None:
        if not self.region:
            raise CloudError(FaultKind.NO_REGION, "no region is named")
        known = [
            name
            for partition in self._session.get_available_partitions()
            for name in self._session.get_available_regions("cloudformation", partition)
        ]
        if self.region not in known:
            hint = choices_hint(self.region, known)
            raise CloudError(FaultKind.WRONG_REGION, f"there is no region {display_value(self.region)}", hint)

    def client(self, service: str) -> Any:
        """Return the client of a service; it is made once."""
        if service not in self._clients:
            config = self._config
            if service in OPTIONAL:
                from botocore.config import Config

                config = config.merge(Config(**OPTIONAL[service]))
            self._clients[service] = self._session.client(service, region_name=self.region, config=config)
        return self._clients[service]

    def call(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """Call an operation, such as `describe_stacks`, and return its answer.

        Raises:
            CloudError: It failed, with the kind of the failure.
        """
        answer: dict[str, Any] = self._guarded(
            service, operation, lambda: getattr(self.client(service), operation)(**arguments)
        )
        return answer

    def pages(self, service: str, operation: str, key: str, **arguments: Any) -> list[Any]:
        """Return the entries below `key` of all pages of an operation.

        Raises:
            CloudError: As `call`.
        """
        client = self.client(service)
        if not client.can_paginate(operation):
            return list(self.call(service, operation, **arguments).get(key, []))

        def all_pages() -> list[Any]:
            return [
                each for page in client.get_paginator(operation).paginate(**arguments) for each in page.get(key, [])
            ]

        found: list[Any] = self._guarded(service, operation, all_pages)
        return found

    @cached_property
    def identity(self) -> Identity:
        """Whose credentials these are.

        Raises:
            CloudError: As `call`.
        """
        answer = self.call("sts", "get_caller_identity")
        return Identity(answer["Account"], answer["Arn"])

    def scrub(self, text: str) -> str:
        """Return a text with the secrets of these credentials replaced."""
        for secret in self._secrets():
            text = text.replace(secret, REDACTED)
        return text

    def _secrets(self) -> list[str]:
        assert self._credentials is not None
        frozen = self._credentials.get_frozen_credentials()
        return [each for each in (frozen.secret_key, frozen.token, frozen.access_key) if each]

    def _guarded(self, service: str, operation: str, call: Callable[[], Any]) -> Any:
        import botocore.exceptions
        import botocore.parsers

        name = "".join(word.capitalize() for word in operation.split("_"))
        try:
            return call()
        except botocore.exceptions.ClientError as error:
            answer = error.response.get("Error", {})
            text = self.scrub(str(answer.get("Message", "")))
            raise error_of_code(str(answer.get("Code", "")), text, service, name) from None
        except botocore.exceptions.BotoCoreError as error:
            raise _client_error(error, f"{service}:{name}") from None
        except botocore.parsers.ResponseParserError:
            # A proxy's page, or one of AWS's own servers that failed.
            message = f"{service}:{name}: the answer is none of AWS's"
            raise CloudError(FaultKind.SERVICE, message) from None


@functools.cache
def _descriptions(data_path: str | None) -> Any:
    """Return the reader of botocore's descriptions of services, which stores them: large ones take 0.2 s to read."""
    import botocore.loaders

    return botocore.loaders.create_loader(data_path)


def _client_error(error: Exception, what: str) -> CloudError:
    """Return the error for what botocore itself found, without an answer of a service."""
    from botocore import exceptions as found

    table: tuple[tuple[tuple[type[Exception], ...], FaultKind, str], ...] = (
        ((found.ProfileNotFound,), FaultKind.WRONG_CREDENTIALS, "the profile of AWS_PROFILE does not exist"),
        (
            (found.UnauthorizedSSOTokenError, found.SSOTokenLoadError, found.TokenRetrievalError),
            FaultKind.EXPIRED_CREDENTIALS,
            "the session of AWS single sign-on has ended",
        ),
        (
            (found.NoCredentialsError, found.PartialCredentialsError, found.CredentialRetrievalError),
            FaultKind.NO_CREDENTIALS,
            "there are no complete credentials for AWS",
        ),
        ((found.NoRegionError,), FaultKind.NO_REGION, "no region is named"),
        ((found.InvalidRegionError,), FaultKind.WRONG_REGION, "this is not the name of a region"),
        ((found.ParamValidationError,), FaultKind.PARAMETER, f"{what}: an argument has the wrong form"),
        ((found.HTTPClientError, found.ConnectionError), FaultKind.NETWORK, f"{what}: there is no answer from AWS"),
    )
    for classes, kind, message in table:
        if isinstance(error, classes):
            return CloudError(kind, message)
    return CloudError(FaultKind.OTHER, f"{what}: {type(error).__name__}")


def regions_of(names: list[str], recorded: Iterable[str] = ()) -> list[str]:
    """Return the regions to look at, each once: those named; with `all`, every region that the account has enabled.

    Args:
        names: Regions that the user names; none: that of the configuration, and those recorded.
        recorded: Regions in which this machine has made stacks.

    Raises:
        AssayError: The account cannot be queried.
    """
    if not names:
        return list(dict.fromkeys([Cloud().region, *recorded]))
    if "all" not in names:
        return list(dict.fromkeys(names))
    if len(names) > 1:
        raise AssayError("--region all stands for all regions", "leave the other regions out", EXIT_REFUSED)
    return sorted(each["RegionName"] for each in _configured_cloud().call("ec2", "describe_regions")["Regions"])


def _configured_cloud() -> Cloud:
    """Return the cloud at the configured region; if none is configured, at one that each commercial account has."""
    try:
        return Cloud()
    except CloudError as error:
        if error.kind is not FaultKind.NO_REGION:
            raise
        return Cloud("us-east-1")
