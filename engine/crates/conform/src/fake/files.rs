//! One file, or a device: reads, writes and flushes.

use super::{refused, Cargo, Lie, Shared};
use assay_core::names::{file_name, top_of};
use assay_core::SetupError;
use assay_spec::OpKind;
use std::collections::BTreeMap;
use std::sync::Arc;

const SECTOR: u64 = 512;
/// Which byte a lie is about, where it is about one.
const WRONG: usize = 20_000;
const FAR: usize = 1 << 19;

/// The file of a lane, as one opening sees it.
pub(super) struct FileWork {
    shared: Arc<Shared>,
    path: String,
    /// What the lane has written and others do not see; none if there is no such thing.
    own: Option<Vec<u8>>,
    /// The file when it was opened.
    before: Vec<u8>,
    wrote: bool,
    /// What was read, by offset.
    kept: BTreeMap<u64, Vec<u8>>,
}

/// Writes bytes into a file; what lies between its end and them is filled with `hole`.
fn put(file: &mut Vec<u8>, offset: usize, bytes: &[u8], hole: u8) {
    if file.len() < offset {
        file.resize(offset, hole);
    }
    let over = bytes.len().min(file.len() - offset);
    file[offset..offset + over].copy_from_slice(&bytes[..over]);
    file.extend_from_slice(&bytes[over..]);
}

impl FileWork {
    pub(super) fn open(shared: Arc<Shared>, lane: u32) -> Result<Self, SetupError> {
        let path = file_name(top_of(shared.layout, lane));
        let mut world = shared.world();
        if shared.lies(Lie::MakesWhatIsOpened) {
            world.files.entry(path.clone()).or_default();
        }
        let Some(before) = world.files.get(&path).cloned() else {
            return Err(refused("open", &path, libc::ENOENT));
        };
        drop(world);
        Ok(FileWork { shared, path, own: None, before, wrote: false, kept: BTreeMap::new() })
    }

    pub(super) fn execute(&mut self, cargo: &Cargo<'_>) -> Result<u64, i32> {
        match cargo.op.kind {
            OpKind::Read => Ok(cargo.bring(&self.read(cargo.op.offset, cargo.op.length)?)),
            OpKind::Write => self.write(cargo.op.offset, &cargo.out()),
            OpKind::Sync => self.flush(),
            _ => Err(libc::EINVAL),
        }
    }

    fn place(&self, offset: u64) -> u64 {
        match self.shared.world().device {
            Some(bytes) if self.shared.lies(Lie::WrapsAddresses) => offset % (bytes as u64 / 2),
            _ => offset,
        }
    }

    fn read(&mut self, offset: u64, length: u64) -> Result<Vec<u8>, i32> {
        let shared = Arc::clone(&self.shared);
        let lies = |lie| shared.lies(lie);
        let from = self.place(offset) as usize;
        let mut world = shared.world();
        let file = self.own.as_ref().unwrap_or(&world.files[&self.path]);
        let end = file.len();
        if lies(Lie::FailsBeyondTheEnd) && from >= end + FAR {
            return Err(libc::EIO);
        }
        let mut found = file[from.min(end)..(from + length as usize).min(end).max(from.min(end))].to_vec();
        if lies(Lie::PadsTheEnd) && !found.is_empty() {
            found.resize(length as usize, 0);
        }
        if lies(Lie::ReadsShort) && found.len() as u64 == length {
            found.pop();
        }
        let there = (from..from + found.len()).contains(&WRONG);
        if there
            && (lies(Lie::FlipsBits) || lies(Lie::FlipsBitsOnce) && world.flipped.insert((self.path.clone(), offset)))
        {
            found[WRONG - from] ^= 4;
        }
        if lies(Lie::RemembersReads) {
            found = self.kept.entry(offset).or_insert(found).clone();
        }
        Ok(found)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<u64, i32> {
        let lies = |lie| self.shared.lies(lie);
        let place = self.place(offset) as usize;
        let mut world = self.shared.world();
        if world.device.is_some_and(|bytes| offset >= bytes as u64) {
            return Err(libc::ENOSPC);
        }
        let shown = world.files.get_mut(&self.path).ok_or(libc::ENOENT)?;
        let file = if lies(Lie::HidesUntilFlush) || lies(Lie::HidesUntilClose) {
            self.own.get_or_insert_with(|| shown.clone())
        } else {
            shown
        };
        let (over, at_the_end) = (file.get(place).is_some_and(|byte| *byte != 0), place == file.len());
        let stored = match () {
            () if over && lies(Lie::LosesOverwrites) && (place..place + bytes.len()).contains(&WRONG) => &[],
            () if over && lies(Lie::TearsOverwrites) => &bytes[..bytes.len().min(SECTOR as usize)],
            () if at_the_end && lies(Lie::LosesAppends) && !offset.is_multiple_of(SECTOR) => &[],
            () => bytes,
        };
        put(file, place, stored, if lies(Lie::FillsHoles) { 0xAA } else { 0 });
        self.wrote = true;
        Ok(bytes.len() as u64)
    }

    fn flush(&mut self) -> Result<u64, i32> {
        if self.shared.lies(Lie::FailsFlushes) {
            return Err(libc::EIO);
        }
        if !self.shared.lies(Lie::HidesUntilClose) {
            self.show();
        }
        Ok(0)
    }

    fn show(&mut self) {
        if let Some(own) = self.own.take() {
            self.shared.world().files.insert(self.path.clone(), own);
        }
    }

    pub(super) fn close(mut self) {
        self.show();
        if self.shared.lies(Lie::ForgetsAtClose) && self.wrote {
            let before = std::mem::take(&mut self.before);
            self.shared.world().files.insert(self.path.clone(), before);
        }
    }
}
