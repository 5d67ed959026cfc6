//! A directory for a test, and helpers for single operations.

use assay_core::{Buffers, Op, OpKind};
use rustix::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

/// A directory that is removed at the end, with everything in it.
pub(crate) struct TestFolder(pub(crate) PathBuf);

impl TestFolder {
    /// Create it; no other test uses this name.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("assay-posix-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        TestFolder(path)
    }

    /// The directory, open.
    pub(crate) fn folder(&self) -> OwnedFd {
        std::fs::File::open(&self.0).unwrap().into()
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Names of all entries, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// A file with these contents, open for reading and writing.
    pub(crate) fn file(&self, name: &str, contents: &[u8]) -> OwnedFd {
        std::fs::write(self.at(name), contents).unwrap();
        std::fs::OpenOptions::new().read(true).write(true).open(self.at(name)).unwrap().into()
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn op(kind: OpKind, slot: u32, offset: u64, length: u64) -> Op {
    Op { kind, count: 1, slot, object: 0, offset, length }
}

/// `count` slots of `length` bytes.
pub(crate) fn buffers(count: usize, length: usize) -> Arc<Buffers> {
    Arc::new(Buffers::new(count, length, false).unwrap())
}

/// Fill a slot with a byte.
pub(crate) fn fill_slot(buffers: &Buffers, slot: u32, byte: u8) {
    // SAFETY: nothing is in flight.
    unsafe { buffers.slice(slot, buffers.length()) }.fill(byte);
}

/// The first bytes of a slot.
pub(crate) fn slot_bytes(buffers: &Buffers, slot: u32, length: usize) -> Vec<u8> {
    // SAFETY: as above.
    unsafe { buffers.slice(slot, length) }.to_vec()
}
