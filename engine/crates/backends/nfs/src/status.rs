//! What a server answers that decides what is done next (RFC 1813 section 2.6).

use assay_core::Fault;
use nfs3_types::mount::mountstat3;

/// The server is busy fetching the data from slow storage: the one error after which the call is made again, as the
/// protocol asks for.
pub(crate) const JUKEBOX: u32 = 10008;

pub(crate) const PERM: Fault = Fault::nfs(1);
pub(crate) const NOENT: Fault = Fault::nfs(2);
pub(crate) const ACCES: Fault = Fault::nfs(13);
pub(crate) const EXIST: Fault = Fault::nfs(17);
pub(crate) const ROFS: Fault = Fault::nfs(30);
pub(crate) const NOTEMPTY: Fault = Fault::nfs(66);
pub(crate) const STALE: Fault = Fault::nfs(70);
/// As useless as one that is stale.
pub(crate) const BADHANDLE: Fault = Fault::nfs(10001);

/// A reply that is none: not of this host, but this host says so.
pub(crate) const GARBAGE: Fault = Fault::os(libc::EBADMSG);
/// No reply in time.
pub(crate) const TIMED_OUT: Fault = Fault::os(libc::ETIMEDOUT);

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
