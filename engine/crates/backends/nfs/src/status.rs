//! What error numbers of the protocols are on this side.

use nfs3_types::mount::mountstat3;

/// The server is busy fetching the data from slow storage: the one error after which the call is made again, as the
/// protocol asks for (RFC 1813 section 2.6).
pub(crate) const JUKEBOX: u32 = 10008;

/// The errno of an nfsstat3 other than NFS3_OK (RFC 1813 section 2.6). Numbers that no version of the protocol has are
/// EIO.
pub(crate) fn errno_of(status: u32) -> i32 {
    match status {
        1 => libc::EPERM,
        2 => libc::ENOENT,
        6 => libc::ENXIO,
        13 => libc::EACCES,
        17 => libc::EEXIST,
        18 => libc::EXDEV,
        19 => libc::ENODEV,
        20 => libc::ENOTDIR,
        21 => libc::EISDIR,
        22 | 10003 | 10005 | 10007 => libc::EINVAL,
        27 => libc::EFBIG,
        28 => libc::ENOSPC,
        30 => libc::EROFS,
        31 => libc::EMLINK,
        63 => libc::ENAMETOOLONG,
        66 => libc::ENOTEMPTY,
        69 => libc::EDQUOT,
        // A handle that the server cannot read is as useless as one whose file is gone.
        70 | 10001 => libc::ESTALE,
        71 => libc::EREMOTE,
        10004 => libc::EOPNOTSUPP,
        10006 => libc::EREMOTEIO,
        JUKEBOX => libc::EAGAIN,
        _ => libc::EIO,
    }
}

/// Why an export could not be mounted, and what to do (RFC 1813 appendix I).
pub(crate) fn mount_message(status: mountstat3) -> &'static str {
    match status {
        mountstat3::MNT3ERR_NOENT => "the server has no such export: give the path as it exports it (showmount -e)",
        mountstat3::MNT3ERR_ACCES | mountstat3::MNT3ERR_PERM => {
            "the server has no such export, or refuses this host or user: see what it exports, to whom, and from which ports (showmount -e)"
        }
        mountstat3::MNT3ERR_NOTDIR => "the export is not a directory",
        _ => "the server could not mount the export: see its log",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_that_tests_of_faults_rely_on() {
        let pairs = [
            (5, libc::EIO),
            (13, libc::EACCES),
            (28, libc::ENOSPC),
            (30, libc::EROFS),
            (66, libc::ENOTEMPTY),
            (69, libc::EDQUOT),
            (70, libc::ESTALE),
            (4242, libc::EIO),
        ];
        for (status, errno) in pairs {
            assert_eq!(errno_of(status), errno, "{status}");
        }
    }
}
