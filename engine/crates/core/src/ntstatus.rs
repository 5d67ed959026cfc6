//! Names of the statuses of SMB servers, and the corresponding errno.

use rustix::io::Errno;

/// Statuses in numerical order, with name and corresponding errno ([MS-ERREF] section 2.3.1).
const STATUSES: &[(u32, &str, Option<Errno>)] = &[
    (0x0000_0103, "STATUS_PENDING", None),
    (0x8000_0005, "STATUS_BUFFER_OVERFLOW", None),
    (0x8000_0006, "STATUS_NO_MORE_FILES", Some(Errno::NOENT)),
    (0xC000_0001, "STATUS_UNSUCCESSFUL", Some(Errno::IO)),
    (0xC000_0002, "STATUS_NOT_IMPLEMENTED", Some(Errno::NOSYS)),
    (0xC000_0008, "STATUS_INVALID_HANDLE", Some(Errno::BADF)),
    (0xC000_000D, "STATUS_INVALID_PARAMETER", Some(Errno::INVAL)),
    (0xC000_000F, "STATUS_NO_SUCH_FILE", Some(Errno::NOENT)),
    (0xC000_0010, "STATUS_INVALID_DEVICE_REQUEST", Some(Errno::OPNOTSUPP)),
    (0xC000_0011, "STATUS_END_OF_FILE", None),
    (0xC000_0016, "STATUS_MORE_PROCESSING_REQUIRED", None),
    (0xC000_0022, "STATUS_ACCESS_DENIED", Some(Errno::ACCESS)),
    (0xC000_0023, "STATUS_BUFFER_TOO_SMALL", Some(Errno::INVAL)),
    (0xC000_0033, "STATUS_OBJECT_NAME_INVALID", Some(Errno::INVAL)),
    (0xC000_0034, "STATUS_OBJECT_NAME_NOT_FOUND", Some(Errno::NOENT)),
    (0xC000_0035, "STATUS_OBJECT_NAME_COLLISION", Some(Errno::EXIST)),
    (0xC000_003A, "STATUS_OBJECT_PATH_NOT_FOUND", Some(Errno::NOENT)),
    (0xC000_003B, "STATUS_OBJECT_PATH_SYNTAX_BAD", Some(Errno::INVAL)),
    (0xC000_0043, "STATUS_SHARING_VIOLATION", Some(Errno::BUSY)),
    (0xC000_0044, "STATUS_QUOTA_EXCEEDED", Some(Errno::DQUOT)),
    (0xC000_0054, "STATUS_FILE_LOCK_CONFLICT", Some(Errno::AGAIN)),
    (0xC000_0055, "STATUS_LOCK_NOT_GRANTED", Some(Errno::AGAIN)),
    (0xC000_0056, "STATUS_DELETE_PENDING", Some(Errno::NOENT)),
    (0xC000_0061, "STATUS_PRIVILEGE_NOT_HELD", Some(Errno::PERM)),
    (0xC000_0064, "STATUS_NO_SUCH_USER", Some(Errno::ACCESS)),
    (0xC000_006A, "STATUS_WRONG_PASSWORD", Some(Errno::ACCESS)),
    (0xC000_006D, "STATUS_LOGON_FAILURE", Some(Errno::ACCESS)),
    (0xC000_006E, "STATUS_ACCOUNT_RESTRICTION", Some(Errno::ACCESS)),
    (0xC000_006F, "STATUS_INVALID_LOGON_HOURS", Some(Errno::ACCESS)),
    (0xC000_0071, "STATUS_PASSWORD_EXPIRED", Some(Errno::ACCESS)),
    (0xC000_0072, "STATUS_ACCOUNT_DISABLED", Some(Errno::ACCESS)),
    (0xC000_007F, "STATUS_DISK_FULL", Some(Errno::NOSPC)),
    (0xC000_009A, "STATUS_INSUFFICIENT_RESOURCES", Some(Errno::NOMEM)),
    (0xC000_00A2, "STATUS_MEDIA_WRITE_PROTECTED", Some(Errno::ROFS)),
    (0xC000_00B5, "STATUS_IO_TIMEOUT", Some(Errno::TIMEDOUT)),
    (0xC000_00BA, "STATUS_FILE_IS_A_DIRECTORY", Some(Errno::ISDIR)),
    (0xC000_00BB, "STATUS_NOT_SUPPORTED", Some(Errno::OPNOTSUPP)),
    (0xC000_00C3, "STATUS_INVALID_NETWORK_RESPONSE", Some(Errno::PROTO)),
    (0xC000_00C9, "STATUS_NETWORK_NAME_DELETED", Some(Errno::STALE)),
    (0xC000_00CA, "STATUS_NETWORK_ACCESS_DENIED", Some(Errno::ACCESS)),
    (0xC000_00CC, "STATUS_BAD_NETWORK_NAME", Some(Errno::NOENT)),
    (0xC000_00D0, "STATUS_REQUEST_NOT_ACCEPTED", Some(Errno::CONNREFUSED)),
    (0xC000_00D4, "STATUS_NOT_SAME_DEVICE", Some(Errno::XDEV)),
    (0xC000_00D5, "STATUS_FILE_RENAMED", Some(Errno::STALE)),
    (0xC000_00E9, "STATUS_UNEXPECTED_IO_ERROR", Some(Errno::IO)),
    (0xC000_0101, "STATUS_DIRECTORY_NOT_EMPTY", Some(Errno::NOTEMPTY)),
    (0xC000_0102, "STATUS_FILE_CORRUPT_ERROR", Some(Errno::IO)),
    (0xC000_0103, "STATUS_NOT_A_DIRECTORY", Some(Errno::NOTDIR)),
    (0xC000_0106, "STATUS_NAME_TOO_LONG", Some(Errno::NAMETOOLONG)),
    (0xC000_011F, "STATUS_TOO_MANY_OPENED_FILES", Some(Errno::NFILE)),
    (0xC000_0120, "STATUS_CANCELLED", Some(Errno::CANCELED)),
    (0xC000_0121, "STATUS_CANNOT_DELETE", Some(Errno::ACCESS)),
    (0xC000_0123, "STATUS_FILE_DELETED", Some(Errno::STALE)),
    (0xC000_0128, "STATUS_FILE_CLOSED", Some(Errno::BADF)),
    (0xC000_0133, "STATUS_TIME_DIFFERENCE_AT_DC", Some(Errno::ACCESS)),
    (0xC000_015B, "STATUS_LOGON_TYPE_NOT_GRANTED", Some(Errno::ACCESS)),
    (0xC000_0185, "STATUS_IO_DEVICE_ERROR", Some(Errno::IO)),
    (0xC000_0193, "STATUS_ACCOUNT_EXPIRED", Some(Errno::ACCESS)),
    (0xC000_0203, "STATUS_USER_SESSION_DELETED", Some(Errno::STALE)),
    (0xC000_0205, "STATUS_INSUFF_SERVER_RESOURCES", Some(Errno::NOMEM)),
    (0xC000_020C, "STATUS_CONNECTION_DISCONNECTED", Some(Errno::CONNRESET)),
    (0xC000_020D, "STATUS_CONNECTION_RESET", Some(Errno::CONNRESET)),
    (0xC000_0224, "STATUS_PASSWORD_MUST_CHANGE", Some(Errno::ACCESS)),
    (0xC000_0234, "STATUS_ACCOUNT_LOCKED_OUT", Some(Errno::ACCESS)),
    (0xC000_0257, "STATUS_PATH_NOT_COVERED", Some(Errno::REMOTE)),
    (0xC000_026E, "STATUS_VOLUME_DISMOUNTED", Some(Errno::STALE)),
    (0xC000_035C, "STATUS_NETWORK_SESSION_EXPIRED", Some(Errno::KEYEXPIRED)),
    (0xC000_0466, "STATUS_SERVER_UNAVAILABLE", Some(Errno::HOSTDOWN)),
    (0xC000_0467, "STATUS_FILE_NOT_AVAILABLE", Some(Errno::STALE)),
    (0xC000_A000, "STATUS_INVALID_SIGNATURE", Some(Errno::BADMSG)),
    (0xC05D_0000, "STATUS_SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP", Some(Errno::PROTO)),
];

fn find(code: i32) -> Option<&'static (u32, &'static str, Option<Errno>)> {
    let place = STATUSES.binary_search_by_key(&(code as u32), |(status, ..)| *status);
    place.ok().map(|place| &STATUSES[place])
}

/// The name of a status, such as `STATUS_ACCESS_DENIED`; None if it has none here.
pub(crate) fn name(code: i32) -> Option<&'static str> {
    find(code).map(|(_, name, _)| *name)
}

/// The errno that corresponds to a status; None if none does.
pub(crate) fn errno(code: i32) -> Option<i32> {
    find(code).and_then(|(.., errno)| *errno).map(Errno::raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_in_order_and_found() {
        assert!(STATUSES.is_sorted_by(|one, other| one.0 < other.0));
        assert_eq!(name(0xC000_007F_u32 as i32), Some("STATUS_DISK_FULL"));
        assert_eq!(errno(0xC000_007F_u32 as i32), Some(28));
        assert_eq!((name(7), errno(7)), (None, None));
    }
}
