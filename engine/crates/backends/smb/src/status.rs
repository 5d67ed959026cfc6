//! What a server answers that decides what is done next ([MS-ERREF] section 2.3.1).

use assay_core::Fault;
use assay_spec::FaultDomain;

const fn status(code: u32) -> Fault {
    Fault::new(FaultDomain::Smb, code as i32)
}

/// All went well.
pub(crate) const SUCCESS: u32 = 0;
/// The answer itself follows.
pub(crate) const PENDING: u32 = 0x103;
/// Signing in goes on.
pub(crate) const MORE_PROCESSING: u32 = 0xC000_0016;
/// Nothing stands behind the end of a file.
pub(crate) const END_OF_FILE: u32 = 0xC000_0011;

pub(crate) const NO_MORE_FILES: Fault = status(0x8000_0006);
pub(crate) const NO_SUCH_FILE: Fault = status(0xC000_000F);
pub(crate) const NAME_NOT_FOUND: Fault = status(0xC000_0034);
pub(crate) const NAME_COLLISION: Fault = status(0xC000_0035);
pub(crate) const PATH_NOT_FOUND: Fault = status(0xC000_003A);
pub(crate) const DELETE_PENDING: Fault = status(0xC000_0056);
pub(crate) const NOT_EMPTY: Fault = status(0xC000_0101);

/// An answer that is none: not of this host, but this host says so.
pub(crate) const GARBAGE: Fault = Fault::os(libc::EBADMSG);
/// No answer in time.
pub(crate) const TIMED_OUT: Fault = Fault::os(libc::ETIMEDOUT);

/// What a server has answered.
pub(crate) fn answered(code: u32) -> Fault {
    status(code)
}

/// There is nothing of that name, or will be nothing soon.
pub(crate) fn is_absent(fault: Fault) -> bool {
    matches!(fault, NAME_NOT_FOUND | PATH_NOT_FOUND | NO_SUCH_FILE | DELETE_PENDING)
}
