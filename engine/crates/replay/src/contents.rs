//! What is in the files of a copy: each byte is a function of the seed, the file and the offset, so that what is read can
//! be checked.

use crate::files::FileInfo;
use assay_drive::data::{Base, BufferContents, Data};
use assay_spec::{DataSpec, Job};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicU8, Ordering};
use std::sync::Arc;

/// All bytes are known.
const KNOWN: u8 = 0;
/// Some bytes may never have been written: these are zero.
const HOLES: u8 = 1;
/// Nothing is known: several tasks append to it, so that the order of their writes is not that of the trace.
const UNKNOWN: u8 = 2;

/// A mebibyte of a file is made at once when it is laid out.
pub(crate) const PIECE: usize = 1 << 20;

/// Makes the data of a job's files.
#[derive(Debug, Clone)]
pub(crate) struct Maker {
    base: Arc<Base>,
    spec: DataSpec,
    seed: u64,
}

impl Maker {
    pub(crate) fn new(job: &Job) -> Self {
        Maker { base: Base::new(&job.data, job.seed), spec: job.data, seed: job.seed }
    }

    /// Data of the files of a copy.
    pub(crate) fn of_copy(&self, copy: u32) -> CopyData {
        CopyData { data: Data::new(&self.base, &self.spec, self.seed, 0), copy, scratch: Vec::new() }
    }
}

/// Makes and checks the data of one copy's files.
pub(crate) struct CopyData {
    data: Data,
    copy: u32,
    scratch: Vec<u8>,
}

impl CopyData {
    fn select(&mut self, key: u32) {
        self.data.select(u64::from(self.copy) << assay_core::OBJECT_BITS | u64::from(key));
    }

    /// Make the data at an offset; `known` describes the buffer's contents before and after.
    pub(crate) fn fill(&mut self, key: u32, offset: u64, buffer: &mut [u8], known: &mut Option<BufferContents>) {
        self.select(key);
        self.data.fill(offset, buffer, known);
    }

    /// What is wrong with data that was read at an offset, in words; None if it is right.
    fn wrong(&mut self, key: u32, offset: u64, found: &[u8], has_holes: bool) -> Option<String> {
        self.select(key);
        let mismatch = self.data.check(offset, found)?;
        if has_holes {
            let mut wanted = std::mem::take(&mut self.scratch);
            wanted.resize(found.len(), 0);
            self.data.fill(offset, &mut wanted, &mut None);
            let right = found.iter().zip(&wanted).all(|(found, wanted)| found == wanted || *found == 0);
            self.scratch = wanted;
            if right {
                return None;
            }
        }
        Some(mismatch.to_string())
    }
}

#[derive(Debug)]
struct Content {
    /// Which data it has: that of the file with this number.
    key: AtomicU32,
    state: AtomicU8,
    size: AtomicU64,
}

/// What is in each file, by number.
#[derive(Debug)]
pub(crate) struct Contents {
    files: Vec<Content>,
    verify: bool,
}

impl Contents {
    pub(crate) fn new(files: &[FileInfo], verify: bool) -> Self {
        let content = |(number, file): (usize, &FileInfo)| Content {
            key: AtomicU32::new(number as u32),
            state: AtomicU8::new(KNOWN),
            size: AtomicU64::new(file.size.unwrap_or(0)),
        };
        Contents { files: files.iter().enumerate().map(content).collect(), verify }
    }

    fn of(&self, file: u32) -> &Content {
        &self.files[file as usize]
    }

    /// Which data is written to a file.
    pub(crate) fn key(&self, file: u32) -> u32 {
        self.of(file).key.load(Ordering::Relaxed)
    }

    fn worsen(&self, file: u32, state: u8) {
        self.of(file).state.fetch_max(state, Ordering::Relaxed);
    }

    /// Note that bytes were written.
    pub(crate) fn written(&self, file: u32, offset: u64, length: u64) {
        let before = self.of(file).size.fetch_max(offset + length, Ordering::Relaxed);
        if offset > before {
            self.worsen(file, HOLES);
        }
    }

    /// Note that the data at some offset is not what the trace says.
    pub(crate) fn unknown(&self, file: u32) {
        self.worsen(file, UNKNOWN);
    }

    /// Note a new size.
    pub(crate) fn truncated(&self, file: u32, size: u64) {
        if self.of(file).size.swap(size, Ordering::Relaxed) < size {
            self.worsen(file, HOLES);
        }
    }

    /// Note that a file has got another name, or a second one. What is written under one of them is not known of the
    /// other.
    pub(crate) fn named(&self, file: u32, other: u32) {
        let (from, to) = (self.of(file), self.of(other));
        to.key.store(from.key.load(Ordering::Relaxed), Ordering::Relaxed);
        to.size.store(from.size.load(Ordering::Relaxed), Ordering::Relaxed);
        to.state.store(from.state.load(Ordering::Relaxed).max(HOLES), Ordering::Relaxed);
        self.worsen(file, HOLES);
    }

    /// What is wrong with data that was read, in words; None if it is right or not to be checked.
    pub(crate) fn wrong(&self, data: &mut CopyData, file: u32, offset: u64, found: &[u8]) -> Option<String> {
        let state = self.of(file).state.load(Ordering::Relaxed);
        if !self.verify || state == UNKNOWN {
            return None;
        }
        data.wrong(self.key(file), offset, found, state == HOLES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FileKind;

    fn maker() -> CopyData {
        let spec = DataSpec::default();
        Maker { base: Base::new(&spec, 9), spec, seed: 9 }.of_copy(1)
    }

    fn contents() -> Contents {
        let file = |name: &[u8], size| FileInfo::new(FileKind::File, size, name);
        Contents::new(&[file(b"a", Some(10_000)), file(b"b", None)], true)
    }

    #[test]
    fn data_of_another_file_or_place_is_wrong() {
        let (mut data, contents) = (maker(), contents());
        let mut piece = vec![0; 5000];
        data.fill(contents.key(0), 700, &mut piece, &mut None);
        assert_eq!(contents.wrong(&mut data, 0, 700, &piece), None);
        assert!(contents.wrong(&mut data, 0, 1212, &piece).is_some());
        assert!(contents.wrong(&mut data, 1, 700, &piece).is_some());
        piece[4000] ^= 1;
        assert!(contents.wrong(&mut data, 0, 700, &piece).is_some());
    }

    #[test]
    fn zeros_are_right_only_where_there_may_be_holes() {
        let (mut data, contents) = (maker(), contents());
        let mut piece = vec![0; 4096];
        data.fill(0, 8192, &mut piece, &mut None);
        piece[..100].fill(0);
        assert!(contents.wrong(&mut data, 0, 8192, &piece).is_some());
        contents.written(0, 10_000, 10);
        assert!(contents.wrong(&mut data, 0, 8192, &piece).is_some());
        contents.written(0, 20_000, 10);
        assert_eq!(contents.wrong(&mut data, 0, 8192, &piece), None);
        piece[2000] ^= 1;
        assert!(contents.wrong(&mut data, 0, 8192, &piece).is_some());
        contents.unknown(0);
        assert_eq!(contents.wrong(&mut data, 0, 8192, &piece), None);
    }

    #[test]
    fn a_file_keeps_its_data_under_another_name() {
        let (mut data, contents) = (maker(), contents());
        let mut piece = vec![0; 4096];
        data.fill(0, 0, &mut piece, &mut None);
        contents.named(0, 1);
        assert_eq!((contents.key(1), contents.wrong(&mut data, 1, 0, &piece)), (0, None));
    }
}
