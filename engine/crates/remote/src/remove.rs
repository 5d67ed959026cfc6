//! What is left where directories are removed with what jobs have made in them.

use assay_core::names::{is_of_job, MARKER};
use assay_core::Fault;

/// Directories in directories that are gone into; a tree that is deeper is left.
pub const MAX_LEVELS: u32 = 200;
/// So often a directory is looked at in which there is nothing to remove, but which is not empty.
pub const MAX_IN_VAIN: u32 = 20;

/// The first thing that could not be removed, and why.
#[derive(Debug, PartialEq, Eq)]
pub struct Unremoved {
    /// Relative to where the removal started.
    pub path: String,
    /// Why.
    pub fault: Fault,
    /// It has a name that no job gives.
    pub is_foreign: bool,
}

impl Unremoved {
    /// A name that cannot be removed.
    pub fn new(name: impl AsRef<[u8]>, fault: Fault) -> Self {
        Unremoved { path: String::from_utf8_lossy(name.as_ref()).into_owned(), fault, is_foreign: false }
    }

    /// The same, as seen from the directory above `name`.
    #[must_use]
    pub fn below(self, name: impl AsRef<[u8]>) -> Self {
        Unremoved { path: format!("{}/{}", String::from_utf8_lossy(name.as_ref()), self.path), ..self }
    }
}

/// The names that jobs give, and the first of the others, which are left alone.
pub fn names_of_job<N: AsRef<[u8]>>(names: &[N]) -> (Vec<&N>, Option<Unremoved>) {
    let ours = |name: &&N| is_of_job(name.as_ref()) || name.as_ref() == MARKER.as_bytes();
    let foreign = names.iter().find(|name| !ours(name));
    let first = foreign.map(|name| Unremoved { is_foreign: true, ..Unremoved::new(name, Fault::os(libc::EPERM)) });
    (names.iter().filter(ours).collect(), first)
}
