//! Sentences with which several kinds of storage refuse, each written once.

/// Why a job's directory that exists is refused.
pub const ALREADY_THERE: &str = "is already there: another job, or remains of one, which `assay-engine clean` removes";
/// Why what is not a directory is refused.
pub const NOT_A_DIRECTORY: &str = "is not a directory, or a symbolic link: refused";
/// Why what is in a file's place is refused.
pub const NOT_PLAIN: &str = "is not a plain file with one name: refused";
/// Why something is not removed.
pub const FOREIGN: &str = "was not made by Assay: left alone";
/// Why a bucket or table of another run is not used.
pub const REMOVED_AGAIN: &str = "another run removes it again and again: name another";
