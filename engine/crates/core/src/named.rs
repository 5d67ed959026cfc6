//! Faults of services that respond with an HTTP status and an error name.

use assay_spec::{Fault, FaultDomain};

/// The S3 client found that the stored object has another ETag than what was sent.
pub const ETAG_MISMATCH: Fault = Fault::new(FaultDomain::S3, 1);
/// The S3 client found that the received data has another checksum than the service states.
pub const CHECKSUM_MISMATCH: Fault = Fault::new(FaultDomain::S3, 2);
/// The S3 client cannot parse the response.
pub const MALFORMED_ANSWER: Fault = Fault::new(FaultDomain::S3, 3);
/// The S3 client found that an existing object has another size than when it was listed.
pub const SIZE_CHANGED: Fault = Fault::new(FaultDomain::S3, 4);

/// The DynamoDB client found that part of a batch was not processed.
pub const UNPROCESSED_ITEMS: Fault = Fault::new(FaultDomain::Dynamodb, 1);
/// The DynamoDB client found no such item.
pub const NO_SUCH_ITEM: Fault = Fault::new(FaultDomain::Dynamodb, 2);
/// The DynamoDB client cannot parse the response.
pub const MALFORMED_TABLE_ANSWER: Fault = Fault::new(FaultDomain::Dynamodb, 3);
/// The job's limit of requests is reached. This one was not sent, and no other will be.
pub const NO_REQUESTS_LEFT: Fault = Fault::new(FaultDomain::Dynamodb, 4);
/// The job's limit of capacity units is reached. This one was not sent, and no other will be.
pub const NO_UNITS_LEFT: Fault = Fault::new(FaultDomain::Dynamodb, 6);
/// The DynamoDB client found that an item has another length than when it was stored.
pub const ITEM_LENGTH: Fault = Fault::new(FaultDomain::Dynamodb, 5);

const S3_CLIENT: &[&str] = &["ETagMismatch", "ChecksumMismatch", "MalformedAnswer", "SizeChanged"];
const DYNAMODB_CLIENT: &[&str] =
    &["UnprocessedItems", "NoSuchItem", "MalformedAnswer", "RequestLimit", "ItemLength", "CapacityLimit"];

/// Error names of S3 services, by status (Amazon S3 API reference, Error Responses). New ones go to the end of their
/// line: a name's position is part of the fault's code.
const S3: &[(i32, &[&str])] = &[
    (301, &["PermanentRedirect"]),
    (304, &["NotModified"]),
    (307, &["TemporaryRedirect", "Redirect"]),
    (
        400,
        &[
            "BadRequest",
            "AuthorizationHeaderMalformed",
            "BadDigest",
            "EntityTooLarge",
            "EntityTooSmall",
            "ExpiredToken",
            "IllegalLocationConstraintException",
            "IncompleteBody",
            "InvalidArgument",
            "InvalidBucketName",
            "InvalidDigest",
            "InvalidPart",
            "InvalidPartOrder",
            "InvalidRequest",
            "InvalidStorageClass",
            "InvalidToken",
            "InvalidURI",
            "KeyTooLongError",
            "MalformedXML",
            "RequestTimeout",
            "TokenRefreshRequired",
            "UnexpectedContent",
            "XAmzContentChecksumMismatch",
            "XAmzContentSHA256Mismatch",
        ],
    ),
    (
        403,
        &[
            "AccessDenied",
            "AccountProblem",
            "AllAccessDisabled",
            "InvalidAccessKeyId",
            "InvalidObjectState",
            "RequestTimeTooSkewed",
            "SignatureDoesNotMatch",
            "ExpiredToken",
            "QuotaExceeded",
        ],
    ),
    (404, &["NoSuchBucket", "NoSuchKey", "NoSuchUpload", "NoSuchVersion"]),
    (405, &["MethodNotAllowed"]),
    (
        409,
        &[
            "BucketAlreadyExists",
            "BucketAlreadyOwnedByYou",
            "BucketNotEmpty",
            "ConditionalRequestConflict",
            "InvalidBucketState",
            "OperationAborted",
        ],
    ),
    (411, &["MissingContentLength"]),
    (412, &["PreconditionFailed"]),
    (416, &["InvalidRange"]),
    (429, &["TooManyRequests", "SlowDown"]),
    (500, &["InternalError"]),
    (501, &["NotImplemented"]),
    (503, &["ServiceUnavailable", "SlowDown", "Busy", "SlowDownRead", "SlowDownWrite"]),
    (507, &["InsufficientStorage", "XMinioStorageFull"]),
];

/// Error names of DynamoDB, by status (Amazon DynamoDB developer guide, Error handling). New ones go to the end of
/// their line, too.
const DYNAMODB: &[(i32, &[&str])] = &[
    (
        400,
        &[
            "AccessDeniedException",
            "ConditionalCheckFailedException",
            "ExpiredTokenException",
            "IncompleteSignatureException",
            "InvalidSignatureException",
            "ItemCollectionSizeLimitExceededException",
            "LimitExceededException",
            "MissingAuthenticationTokenException",
            "ProvisionedThroughputExceededException",
            "RequestLimitExceeded",
            "ResourceInUseException",
            "ResourceNotFoundException",
            "SerializationException",
            "ThrottlingException",
            "TransactionConflictException",
            "UnrecognizedClientException",
            "ValidationException",
        ],
    ),
    (
        403,
        &["AccessDeniedException", "InvalidSignatureException", "UnrecognizedClientException", "ExpiredTokenException"],
    ),
    (413, &["RequestEntityTooLarge"]),
    (500, &["InternalServerError", "InternalFailure"]),
    (503, &["ServiceUnavailable", "ServiceUnavailableException"]),
];

/// Codes per status.
const PER_STATUS: i32 = 100;

fn table(domain: FaultDomain) -> &'static [(i32, &'static [&'static str])] {
    match domain {
        FaultDomain::S3 => S3,
        FaultDomain::Dynamodb => DYNAMODB,
        _ => &[],
    }
}

fn names(domain: FaultDomain, status: i32) -> &'static [&'static str] {
    let client = match domain {
        FaultDomain::S3 => S3_CLIENT,
        FaultDomain::Dynamodb => DYNAMODB_CLIENT,
        _ => &[],
    };
    if status == 0 {
        return client;
    }
    table(domain).iter().find(|(known, _)| *known == status).map_or(&[], |(_, names)| names)
}

/// The fault of an error response with this status and this name, which may be empty or unknown.
pub fn named_fault(domain: FaultDomain, status: u16, name: &str) -> Fault {
    let status = i32::from(status);
    let place = names(domain, status).iter().position(|known| *known == name).map_or(0, |place| place as i32 + 1);
    Fault::new(domain, status * PER_STATUS + place)
}

/// The status of errors with this name; None if the name is unknown.
pub fn status_of(domain: FaultDomain, name: &str) -> Option<u16> {
    table(domain).iter().find(|(_, names)| names.contains(&name)).map(|(status, _)| *status as u16)
}

/// Status and name of a fault's code; the name is empty if unknown.
pub(crate) fn status_and_name(fault: Fault) -> (i32, &'static str) {
    let (status, place) = (fault.code() / PER_STATUS, fault.code() % PER_STATUS);
    let known = usize::try_from(place - 1).ok().and_then(|place| names(fault.domain(), status).get(place));
    (status, known.copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_a_status_and_a_name() {
        for domain in [FaultDomain::S3, FaultDomain::Dynamodb] {
            for (status, names) in table(domain) {
                assert!(names.len() < PER_STATUS as usize);
                for name in *names {
                    let fault = named_fault(domain, *status as u16, name);
                    assert_eq!(status_and_name(fault), (*status, *name));
                }
            }
        }
        assert_eq!(named_fault(FaultDomain::S3, 503, "SlowDown").code(), 50302);
        assert_eq!(status_and_name(named_fault(FaultDomain::S3, 503, "Strange")), (503, ""));
        assert_eq!(status_and_name(named_fault(FaultDomain::S3, 599, "SlowDown")), (599, ""));
        assert_eq!(status_and_name(ETAG_MISMATCH), (0, "ETagMismatch"));
        assert_eq!(status_and_name(Fault::new(FaultDomain::S3, -7)), (0, ""));
    }
}
