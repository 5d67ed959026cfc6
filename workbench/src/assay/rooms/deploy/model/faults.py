"""Kinds of failures of a cloud, and the error that carries one."""

from enum import StrEnum

from assay.model.base import EXIT_REFUSED, AssayError


class FaultKind(StrEnum):
    """Why a cloud refused or failed; programs decide by it, never by the words of a message."""

    NO_CREDENTIALS = "no-credentials"
    EXPIRED_CREDENTIALS = "expired-credentials"
    WRONG_CREDENTIALS = "wrong-credentials"
    NO_RIGHT = "no-right"
    NO_ROLE_RIGHT = "no-role-right"
    NO_REGION = "no-region"
    WRONG_REGION = "wrong-region"
    CLOCK = "clock"
    QUOTA = "quota"
    CAPACITY = "capacity"
    SPOT = "spot"
    UNSUPPORTED = "unsupported"
    KEY = "key"
    THROTTLED = "throttled"
    NETWORK = "network"
    SERVICE = "service"
    NAME_TAKEN = "name-taken"
    PROTECTED = "protected"
    IN_USE = "in-use"
    NOT_EMPTY = "not-empty"
    PARAMETER = "parameter"
    TEMPLATE = "template"
    MISSING = "missing"
    HOST = "host"
    HOST_SILENT = "host-silent"
    OTHER = "other"


MEANINGS = {
    FaultKind.NO_CREDENTIALS: "there are no credentials for AWS",
    FaultKind.EXPIRED_CREDENTIALS: "the credentials have expired",
    FaultKind.WRONG_CREDENTIALS: "AWS does not accept the credentials",
    FaultKind.NO_RIGHT: "the credentials lack a right",
    FaultKind.NO_ROLE_RIGHT: "the credentials may not make this role",
    FaultKind.WRONG_REGION: "the region cannot be used",
    FaultKind.CLOCK: "the clock of this machine is wrong, or the request took too long",
    FaultKind.QUOTA: "a quota of the account is reached",
    FaultKind.CAPACITY: "AWS has too little capacity there",
    FaultKind.SPOT: "there is no spot instance on these terms",
    FaultKind.UNSUPPORTED: "this instance type or feature is not offered there",
    FaultKind.KEY: "the key of encrypted volumes cannot be used",
    FaultKind.THROTTLED: "AWS limits the rate of requests",
    FaultKind.SERVICE: "AWS itself failed",
    FaultKind.NAME_TAKEN: "the name is taken",
    FaultKind.IN_USE: "it is in use",
    FaultKind.NOT_EMPTY: "it is not empty",
    FaultKind.PARAMETER: "a parameter is wrong",
    FaultKind.TEMPLATE: "the template or a parameter is wrong",
    FaultKind.MISSING: "it does not exist",
    FaultKind.HOST_SILENT: "hosts did not report",
}
"""Kind -> what it means, as the beginning of a message; others are described by the service's own text."""
HINTS = {
    FaultKind.NO_CREDENTIALS: "run `aws configure` or `aws sso login`, or set AWS_PROFILE",
    FaultKind.EXPIRED_CREDENTIALS: "get new ones, such as by `aws sso login`, and repeat the command: it goes on",
    FaultKind.WRONG_CREDENTIALS: "check AWS_PROFILE and the keys of this profile",
    FaultKind.NO_RIGHT: "ask for this right; docs/guides/deploy.md has a policy with all that are needed",
    FaultKind.NO_ROLE_RIGHT: "where roles need a permissions boundary, add --parameter "
    "PermissionsBoundary=ARN, such as arn:aws:iam::ACCOUNT:policy/assay-boundary; that policy is beside "
    "docs/guides/deploy.md",
    FaultKind.NO_REGION: "add --region REGION, or set AWS_DEFAULT_REGION",
    FaultKind.WRONG_REGION: "check the name of the region, and that the account has enabled it",
    FaultKind.CLOCK: "set the clock of this machine: AWS accepts 5 minutes of difference",
    FaultKind.QUOTA: "ask for a higher quota in Service Quotas, take smaller or fewer instances, or another region",
    FaultKind.CAPACITY: "take another zone (AvailabilityZone or SubnetId), another instance type, "
    "UsePlacementGroup=no, or try again later",
    FaultKind.SPOT: "raise SpotMaxPrice, or leave it empty for on-demand",
    FaultKind.UNSUPPORTED: "take another instance type, or a subnet in another zone",
    FaultKind.KEY: "grant the account's default key of EBS to the service-linked role of Auto Scaling, "
    "or make aws/ebs the default key; docs/guides/deploy.md has the command",
    FaultKind.THROTTLED: "wait a minute, and repeat the command: it goes on",
    FaultKind.NETWORK: "check the network, proxy and AWS_ENDPOINT_URL, and repeat the command: it goes on",
    FaultKind.SERVICE: "repeat the command: it goes on",
    FaultKind.NAME_TAKEN: "take another name",
    FaultKind.PROTECTED: "switch termination protection off in the console first, if this stack may go",
    FaultKind.IN_USE: "remove what uses it, and repeat `assay deploy down`",
    FaultKind.NOT_EMPTY: "copy what you need, and repeat `assay deploy down` with --with-data",
    FaultKind.PARAMETER: "correct this parameter",
    FaultKind.TEMPLATE: "correct the template; `cfn-lint FILE` finds most faults",
    FaultKind.HOST: "its whole log is /var/log/cloud-init-output.log; --on-failure keep leaves the host for that",
    FaultKind.HOST_SILENT: "its console output says why: `aws ec2 get-console-output --instance-id ID`",
}
"""Kind -> what to do; kinds without an entry explain themselves."""


class CloudError(AssayError):
    """An error of a cloud's service.

    Attributes:
        kind: What kind of failure it is.
        service_code: The service's own code, such as `AccessDenied`; empty if there is none.
    """

    def __init__(
        self, kind: FaultKind, message: str, hint: str = "", service_code: str = "", exit_code: int = EXIT_REFUSED
    ) -> None:
        super().__init__(message, hint or HINTS.get(kind, ""), exit_code)
        self.kind = kind
        self.service_code = service_code
