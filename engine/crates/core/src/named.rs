//! Faults of services that answer with a status of HTTP and a name.

use assay_spec::{Fault, FaultDomain};

/// What a client of S3 itself finds wrong with an answer.
pub const ETAG_MISMATCH: Fault = Fault::new(FaultDomain::S3, 1);
/// Likewise: the sum that the service keeps is not that of what it sent.
pub const CHECKSUM_MISMATCH: Fault = Fault::new(FaultDomain::S3, 2);
/// Likewise: the answer cannot be understood.
pub const MALFORMED_ANSWER: Fault = Fault::new(FaultDomain::S3, 3);
/// Likewise: an object that was there before has another size than when it was listed.
pub const SIZE_CHANGED: Fault = Fault::new(FaultDomain::S3, 4);

/// What a client of DynamoDB itself finds: some of a batch were left undone.
pub const UNPROCESSED_ITEMS: Fault = Fault::new(FaultDomain::Dynamodb, 1);
/// Likewise: there is no such item.
pub const NO_SUCH_ITEM: Fault = Fault::new(FaultDomain::Dynamodb, 2);
/// Likewise: the answer cannot be understood.
pub const MALFORMED_TABLE_ANSWER: Fault = Fault::new(FaultDomain::Dynamodb, 3);
/// Likewise: no more requests may be sent. None was sent, and none will be.
pub const NO_REQUESTS_LEFT: Fault = Fault::new(FaultDomain::Dynamodb, 4);
/// Likewise: no more capacity units may be consumed. None was sent, and none will be.
pub const NO_UNITS_LEFT: Fault = Fault::new(FaultDomain::Dynamodb, 6);
/// Likewise: an item is not as long as it was when it was stored.
pub const ITEM_LENGTH: Fault = Fault::new(FaultDomain::Dynamodb, 5);

const S3_CLIENT: &[&str] = &["ETagMismatch", "ChecksumMismatch", "MalformedAnswer", "SizeChanged"];
const DYNAMODB_CLIENT: &[&str] =
    &["UnprocessedItems", "NoSuchItem", "MalformedAnswer", "RequestLimit", "ItemLength", "CapacityLimit"];

/// Names with which S3 services refuse, by status (Amazon S3 API reference, Error Responses). New ones go to the end of
/// their line: a name's place is a part of the fault's code.
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

/// Names with which DynamoDB refuses, by status (Amazon DynamoDB developer guide, Error handling); likewise.
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

/// Codes of one status.
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

/// What a service has refused with this status and this name, which may be empty or not known.
pub fn named_fault(domain: FaultDomain, status: u16, name: &str) -> Fault {
    let status = i32::from(status);
    let place = names(domain, status).iter().position(|known| *known == name).map_or(0, |place| place as i32 + 1);
    Fault::new(domain, status * PER_STATUS + place)
}

/// Status with which services refuse by this name; none if it is not known.
pub fn status_of(domain: FaultDomain, name: &str) -> Option<u16> {
    table(domain).iter().find(|(_, names)| names.contains(&name)).map(|(status, _)| *status as u16)
}

/// Status and name of a code; the name is empty where none is known.
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
