//! Whether what was written is safe: how stable each WRITE shall be, and what a server's write verifiers say of those
//! that were not (RFC 1813 sections 3.3.7 and 3.3.21).

use crate::replies::{Verifier, Written};
use assay_core::Fault;
use assay_spec::SyncPolicy;

/// How stable a server shall make a WRITE before it answers (RFC 1813 section 3.3.7, stable_how).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stable {
    Unstable = 0,
    Data = 1,
    File = 2,
}

impl Stable {
    /// Of a file that is flushed by COMMIT, where the policy says so.
    pub(crate) fn of(policy: SyncPolicy) -> Self {
        match policy {
            SyncPolicy::None | SyncPolicy::Fsync | SyncPolicy::Fdatasync => Stable::Unstable,
            SyncPolicy::ODsync => Stable::Data,
            SyncPolicy::OSync => Stable::File,
        }
    }

    /// Of a small file in a tree, which is stable as soon as it is written: to commit each of them at the end would be
    /// as many calls again.
    pub(crate) fn of_tree(policy: SyncPolicy) -> Self {
        match policy {
            SyncPolicy::None => Stable::Unstable,
            SyncPolicy::ODsync => Stable::Data,
            SyncPolicy::Fsync | SyncPolicy::Fdatasync | SyncPolicy::OSync => Stable::File,
        }
    }

    /// The protocol's word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Stable::Unstable => "UNSTABLE",
            Stable::Data => "DATA_SYNC",
            Stable::File => "FILE_SYNC",
        }
    }
}

/// What was written to a file and is not known to be stable.
#[derive(Debug, Default)]
pub(crate) struct Uncommitted {
    verifier: Option<Verifier>,
    /// The server has restarted between two writes: it may have lost the first.
    lost: bool,
}

impl Uncommitted {
    /// Something has to be committed.
    pub(crate) fn any(&self) -> bool {
        self.verifier.is_some()
    }

    /// A WRITE that was to be `wanted` stable has succeeded. EIO if it is less so.
    pub(crate) fn note(&mut self, written: &Written, wanted: Stable) -> Result<(), Fault> {
        if written.committed < wanted as u32 {
            return Err(Fault::os(libc::EIO));
        }
        if written.committed == Stable::Unstable as u32 {
            self.lost |= self.verifier.is_some_and(|known| known != written.verifier);
            self.verifier = Some(written.verifier);
        }
        Ok(())
    }

    /// A COMMIT has succeeded. EIO if the server has restarted since the first of the writes: what it had not yet
    /// written is lost.
    pub(crate) fn commit(&mut self, verifier: Verifier) -> Result<(), Fault> {
        let before = std::mem::take(self);
        if before.lost || before.verifier.is_some_and(|known| known != verifier) {
            return Err(Fault::os(libc::EIO));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(committed: u32, verifier: u8) -> Written {
        Written { count: 1, committed, verifier: [verifier; 8] }
    }

    #[test]
    fn a_restart_between_writes_or_before_the_commit_is_a_loss() {
        let mut kept = Uncommitted::default();
        for _ in 0..3 {
            assert_eq!(kept.note(&written(0, 1), Stable::Unstable), Ok(()));
        }
        assert!(kept.any());
        assert_eq!(kept.commit([1; 8]), Ok(()));
        assert!(!kept.any());
        for (first, second, commit) in [(1, 1, 2), (1, 2, 2), (1, 2, 1)] {
            let mut kept = Uncommitted::default();
            kept.note(&written(0, first), Stable::Unstable).unwrap();
            kept.note(&written(0, second), Stable::Unstable).unwrap();
            assert_eq!(kept.commit([commit; 8]), Err(Fault::os(libc::EIO)));
            assert_eq!(kept.commit([9; 8]), Ok(()), "what was lost is told once");
        }
    }

    #[test]
    fn what_is_stable_needs_no_commit() {
        let mut kept = Uncommitted::default();
        kept.note(&written(2, 1), Stable::Unstable).unwrap();
        kept.note(&written(2, 2), Stable::Data).unwrap();
        assert!(!kept.any());
        assert_eq!(kept.note(&written(1, 1), Stable::File), Err(Fault::os(libc::EIO)));
    }
}
