//! What is left where directories are removed with what jobs have made in them.

use assay_core::names::{is_of_job, MARKER};
use assay_core::{clock, heartbeat, Fault};

/// Directories in directories that are gone into; a tree that is deeper is left.
const MAX_LEVELS: u32 = 200;
/// So often a directory is looked at in which there is nothing to remove, but which is not empty.
const MAX_IN_VAIN: u32 = 20;

/// The attempts to empty a directory that others may be filling or removing.
pub struct Attempts<N> {
    /// The last ones, which have removed nothing.
    pub in_vain: u32,
    begin: u64,
    before: Vec<N>,
}

impl<N: PartialEq> Attempts<N> {
    /// None yet, with a directory that is so many levels below the first one.
    ///
    /// # Errors
    /// If that is too deep.
    pub fn at(level: u32) -> Result<Self, Fault> {
        if level > MAX_LEVELS {
            return Err(Fault::os(libc::ELOOP));
        }
        Ok(Attempts { in_vain: 0, begin: clock::now(), before: Vec::new() })
    }

    /// Whether there shall be another one.
    ///
    /// # Errors
    /// If it has taken too long already.
    pub fn go_on(&self) -> Result<bool, Fault> {
        if self.in_vain < MAX_IN_VAIN && heartbeat::removal_is_too_long(self.begin) {
            return Err(Fault::os(libc::ETIMEDOUT));
        }
        Ok(self.in_vain < MAX_IN_VAIN)
    }

    /// One has removed so many of the listed names. Some servers say so, and go on to list them.
    pub fn note(&mut self, removed: usize, listed: Vec<N>) {
        self.in_vain = if removed == 0 || listed == self.before { self.in_vain + 1 } else { 0 };
        self.before = listed;
    }
}

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
