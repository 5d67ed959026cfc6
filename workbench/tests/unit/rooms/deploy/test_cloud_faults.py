"""Codes and texts of AWS as kinds of failures."""

import pytest

from assay.rooms.deploy.model.faults import HINTS, FaultKind
from assay.rooms.deploy.work.life.faults import clean_text, error_of_code, kind_of_code, kind_of_text

CODES = {
    "ExpiredToken": "expired-credentials",
    "ExpiredTokenException": "expired-credentials",
    "InvalidClientTokenId": "wrong-credentials",
    "AuthFailure": "wrong-credentials",
    "AccessDenied": "no-right",
    "UnauthorizedOperation": "no-right",
    "RequestExpired": "clock",
    "OptInRequired": "wrong-region",
    "VcpuLimitExceeded": "quota",
    "AddressLimitExceeded": "quota",
    "LimitExceededException": "quota",
    "RequestLimitExceeded": "throttled",
    "ThrottlingException": "throttled",
    "Throttling": "throttled",
    "InsufficientInstanceCapacity": "capacity",
    "Server.InsufficientInstanceCapacity": "capacity",
    "InsufficientFreeAddressesInSubnet": "capacity",
    "SpotMaxPriceTooLow": "spot",
    "Unsupported": "unsupported",
    "AlreadyExistsException": "name-taken",
    "DependencyViolation": "in-use",
    "InsufficientCapabilitiesException": "template",
    "NoSuchBucket": "missing",
    "InternalFailure": "service",
    "SomethingNew": "other",
}


@pytest.mark.parametrize("code", CODES)
def test_a_code_has_its_kind(code: str) -> None:
    assert kind_of_code(code) == CODES[code]


VCPU = (
    'Resource handler returned message: "You have requested more vCPU capacity than your current vCPU limit of 32 '
    "allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/x "
    'to request an adjustment to this limit. (Service: Ec2, Status Code: 400, Request ID: 0d1a8c47-4e9b)" '
    "(RequestToken: 9a-1, HandlerErrorCode: {})"
)
CAPACITY = (
    "We currently do not have sufficient m6i.32xlarge capacity in the Availability Zone you requested (eu-west-1a). "
    "Our system will be working on provisioning additional capacity."
)
GROUP = "Group did not stabilize. group size = {0/4/4}. Failed Scaling Activity: Could not launch "
REASONS = [
    ("quota", VCPU.format("ServiceLimitExceeded")),
    ("quota", VCPU.format("GeneralServiceException")),
    ("quota", "The maximum number of VPCs has been reached. (Service: Ec2, Status Code: 400)"),
    ("capacity", f"{CAPACITY} (Service: AmazonEC2; Error Code: InsufficientInstanceCapacity; Request ID: 1)"),
    ("capacity", f"{CAPACITY} (Service: Ec2, Status Code: 500) (HandlerErrorCode: GeneralServiceException)"),
    ("capacity", f"{GROUP}On-Demand Instances. InsufficientInstanceCapacity - {CAPACITY} Launching failed."),
    ("spot", f"{GROUP}Spot Instances. MaxSpotInstanceCountExceeded - Max spot instance count exceeded."),
    ("spot", "Your Spot request price of 0.01 is lower than the minimum required Spot request fulfillment price"),
    ("no-right", "User: arn:aws:sts::1:assumed-role/a/b is not authorized to perform: ec2:RunInstances on resource: x"),
    ("no-right", "API: ec2:RunInstances You are not authorized to perform this operation. Encoded authorization"),
    ("no-right", "Access denied. (Service: S3, Status Code: 403, HandlerErrorCode: AccessDenied)"),
    ("not-empty", "The bucket you tried to delete is not empty (Service: S3, Status Code: 409, Request ID: X)"),
    ("in-use", "The vpc 'vpc-1' has dependencies and cannot be deleted. (Error Code: DependencyViolation;)"),
    ("in-use", "resource sg-1 has a dependent object (Service: Ec2, Status Code: 400)"),
    ("unsupported", "Your requested instance type (m9x.large) is not supported in your requested Availability Zone"),
    ("parameter", "The image id '[ami-123]' does not exist (Error Code: InvalidAMIID.NotFound; Request ID: 1)"),
    ("parameter", "The key pair 'mine' does not exist (Service: Ec2, Status Code: 400)"),
    ("key", f"{GROUP}Instance became unhealthy. Termination Reason: Client.InternalError: Client error on launch"),
    ("key", f"{GROUP}Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"),
    ("throttled", "Rate exceeded (Service: AmazonAutoScaling; Error Code: Throttling; Request ID: 1)"),
    ("name-taken", "Resource of type 'AWS::S3::Bucket' with identifier 'x' already exists."),
    ("service", "Internal error occurred. (HandlerErrorCode: InternalFailure)"),
    ("other", "Resource timed out waiting for creation of the physical resource"),
    ("other", ""),
]


@pytest.mark.parametrize(("kind", "text"), REASONS)
def test_the_reason_of_an_event_has_its_kind(kind: str, text: str) -> None:
    assert kind_of_text(text)[0] == kind


def test_a_missing_right_names_the_action() -> None:
    text = "User: arn:aws:iam::1:user/a is not authorized to perform: cloudformation:CreateStack on resource: arn:x"
    named = error_of_code("AccessDenied", text, "cloudformation", "CreateStack")
    assert (named.kind, named.exit_code) == (FaultKind.NO_RIGHT, 3)
    assert "lack the right cloudformation:CreateStack" in named.message and "policy" in named.hint
    silent = error_of_code("UnauthorizedOperation", "You are not authorized.", "ec2", "DescribeVolumes")
    assert "lack the right ec2:DescribeVolumes" in silent.message


def test_texts_lose_request_ids_and_encoded_messages_and_passwords() -> None:
    text = "no\x1b[31m way. Encoded authorization failure message: AbC-123 (RequestToken: 1-2, HandlerErrorCode: X)"
    assert clean_text(f"{text} mount -o password=hunter2") == r"no\x1b[31m way. mount -o password=(redacted)"
    assert len(clean_text("x" * 10_000)) < 700


def test_each_hint_is_of_a_kind_that_can_be_met() -> None:
    met = {kind_of_code(code) for code in CODES} | {kind_of_text(text)[0] for _, text in REASONS}
    other = {"no-credentials", "no-role-right", "no-region", "network", "protected", "host", "host-silent"}
    assert {kind.value for kind in HINTS} <= {kind.value for kind in met} | other
