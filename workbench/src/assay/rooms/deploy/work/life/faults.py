"""Errors and event texts of AWS as kinds.

Sources: error codes of the EC2 API (docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html), handler
error codes of CloudFormation (resource-type-test-contract-errors.html in the guide of its CLI), and the codes that
botocore takes as throttling (botocore/retries/standard.py). An event of CloudFormation has no code of its own, only a
text of the service that failed. Most such texts contain a code; for the others `PHRASES` has the words that EC2, Auto
Scaling and CloudFormation print.
"""

import re
from collections.abc import Mapping

from assay.model.escape import escape_line
from assay.model.secret import redact
from assay.rooms.deploy.model.faults import MEANINGS, CloudError, FaultKind

_CODES: Mapping[FaultKind, str] = {
    FaultKind.EXPIRED_CREDENTIALS: "ExpiredToken ExpiredTokenException TokenRefreshRequired",
    FaultKind.WRONG_CREDENTIALS: "InvalidClientTokenId UnrecognizedClientException InvalidAccessKeyId AuthFailure "
    "InvalidToken SignatureDoesNotMatch InvalidSignatureException IncompleteSignature MissingAuthenticationToken "
    "InvalidCredentials",
    FaultKind.NO_RIGHT: "AccessDenied AccessDeniedException UnauthorizedOperation NotAuthorized AuthorizationError 403",
    FaultKind.CLOCK: "RequestExpired RequestTimeTooSkewed",
    FaultKind.WRONG_REGION: "OptInRequired RegionDisabledException InvalidRegion",
    FaultKind.QUOTA: "LimitExceeded LimitExceededException TooManyBuckets "
    "ServiceQuotaExceededException InsufficientAddressCapacity",
    FaultKind.CAPACITY: "InsufficientInstanceCapacity InsufficientHostCapacity InsufficientReservedInstanceCapacity "
    "InsufficientVolumeCapacity InsufficientCapacity InsufficientCapacityOnHost UnfulfillableCapacity "
    "InsufficientThroughputCapacity InsufficientFreeAddressesInSubnet",
    FaultKind.SPOT: "SpotMaxPriceTooLow MaxSpotInstanceCountExceeded",
    FaultKind.UNSUPPORTED: "Unsupported UnsupportedOperation InvalidInstanceType",
    FaultKind.THROTTLED: "ThrottledException RequestThrottledException RequestThrottled TooManyRequestsException "
    "RequestLimitExceeded BandwidthLimitExceeded SlowDown EC2ThrottledException PriorRequestNotComplete",
    FaultKind.NAME_TAKEN: "AlreadyExistsException AlreadyExists",
    FaultKind.IN_USE: "DependencyViolation ResourceInUse ResourceInUseException ResourceConflict VolumeInUse",
    FaultKind.NOT_EMPTY: "BucketNotEmpty",
    FaultKind.PARAMETER: "InvalidParameterValue InvalidParameterCombination InvalidRequest InvalidAMIID.NotFound "
    "InvalidKeyPair.NotFound InvalidSubnetID.NotFound InvalidGroup.NotFound",
    FaultKind.TEMPLATE: "InsufficientCapabilitiesException ValidationError ValidationException",
    FaultKind.MISSING: "ResourceNotFoundException NotFound NoSuchBucket NoSuchEntity NoSuchTagSet "
    "FileSystemNotFound 404",
    FaultKind.SERVICE: "InternalError InternalFailure InternalServerError ServiceUnavailable Unavailable "
    "ServiceInternalError GeneralServiceException 500 503",
    FaultKind.NETWORK: "NetworkFailure",
}
CODES: Mapping[str, FaultKind] = {code: kind for kind, codes in _CODES.items() for code in codes.split()}
"""Code of a service, or handler error code of CloudFormation -> kind."""
_ENDINGS = ((re.compile(r"\w+LimitExceeded"), FaultKind.QUOTA), (re.compile(r"Throttl\w+"), FaultKind.THROTTLED))
"""Codes of which services have many: VcpuLimitExceeded, AddressLimitExceeded, ThrottlingException."""
_WRITTEN_CODES = (
    re.compile(r"Error ?Code: ?\"?(\w[\w.]*)"),
    re.compile(r"\((\w+)\) when calling the"),
    re.compile(r"\b(Insufficient\w*Capacity|\w+LimitExceeded|SpotMaxPriceTooLow|MaxSpotInstanceCountExceeded)\b"),
    re.compile(r"\b(BucketNotEmpty|DependencyViolation|UnauthorizedOperation|AccessDenied\w*)\b"),
)
"""Where the text of an event has a code: the most exact form first."""
PHRASES: tuple[tuple[re.Pattern[str], FaultKind], ...] = (
    (re.compile(r"not authorized to perform|You are not authorized|is not authorized to"), FaultKind.NO_RIGHT),
    (
        re.compile(r"vCPU limit|maximum number of \S+ (?:has been reached|reached)|exceeds? .{0,40}\bquota"),
        FaultKind.QUOTA,
    ),
    (
        re.compile(r"(?:do(?:es)? not|don't) (?:currently )?have (?:enough|sufficient) .{0,80}capacity"),
        FaultKind.CAPACITY,
    ),
    (re.compile(r"Your requested instance type \(\S+\) is not supported in your requested"), FaultKind.UNSUPPORTED),
    (re.compile(r"Spot (?:request )?price(?: of \S+)? is lower|price too low"), FaultKind.SPOT),
    (re.compile(r"Client\.InternalError: Client error on launch|InvalidKMSKey|KMS key .{0,80}state"), FaultKind.KEY),
    (re.compile(r"Rate exceeded|[Rr]equest limit exceeded"), FaultKind.THROTTLED),
    (re.compile(r"bucket you tried to delete is not empty"), FaultKind.NOT_EMPTY),
    (re.compile(r"has (?:a )?dependen(?:t object|cies|cy)|currently in use|is in use by"), FaultKind.IN_USE),
    (re.compile(r"already exists"), FaultKind.NAME_TAKEN),
    (re.compile(r"(?:image id|key pair|subnet ID|security group) '?\S+'? does not exist"), FaultKind.PARAMETER),
)
"""Words of texts that have no code -> kind."""
_ACTION = re.compile(r"not authorized to perform:? ?([a-z0-9-]+:\w+)")
_ENCODED = re.compile(r"\s*Encoded authorization failure message: \S+")
_REQUEST = re.compile(r"\s*\(RequestToken: [^)]*\)|\s*Request ID: [0-9a-f-]+;?|\s*Proxy: null")
MAX_TEXT = 600
"""Characters of a service's text that are shown at most."""


def kind_of_code(code: str) -> FaultKind:
    """Return the kind of an error code; `OTHER` for codes that are in no table."""
    plain = code.removeprefix("Client.").removeprefix("Server.")
    if plain in CODES:
        return CODES[plain]
    return next((kind for pattern, kind in _ENDINGS if pattern.fullmatch(plain)), FaultKind.OTHER)


def kind_of_text(text: str) -> tuple[FaultKind, str]:
    """Return kind and code of the reason of an event; the code is empty if the text has none."""
    for pattern in _WRITTEN_CODES:
        for code in pattern.findall(text):
            if (kind := kind_of_code(code)) not in (FaultKind.OTHER, FaultKind.PARAMETER, FaultKind.SERVICE):
                return kind, code
    for pattern, kind in PHRASES:
        if pattern.search(text):
            return kind, ""
    codes = [code for pattern in _WRITTEN_CODES for code in pattern.findall(text)]
    return (kind_of_code(codes[0]), codes[0]) if codes else (FaultKind.OTHER, "")


def clean_text(text: str, max_chars: int = MAX_TEXT) -> str:
    """Return a service's text for display and storage: one line, without request ids and what looks like a secret."""
    return escape_line(redact(_REQUEST.sub("", _ENCODED.sub("", text)).strip()), max_chars)


def error_of_code(code: str, text: str, service: str, operation: str) -> CloudError:
    """Return the error for a service's answer.

    Args:
        code: Error code of the answer.
        text: Its message.
        service: Such as `cloudformation`.
        operation: Such as `CreateStack`.
    """
    kind = kind_of_code(code)
    shown = clean_text(text)
    if kind is FaultKind.NO_RIGHT:
        found = _ACTION.search(text)
        action = found[1] if found else f"{service}:{operation}"
        return CloudError(kind, f"these credentials lack the right {action}: {shown}", service_code=code)
    meaning = f"{MEANINGS[kind]}: " if kind in MEANINGS else ""
    return CloudError(kind, f"{meaning}{service}:{operation}: {code}: {shown}", service_code=code)
