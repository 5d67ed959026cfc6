//! Work on one file or a device: reads, writes and flushes.

use super::{refused, Defect, OpData, Shared};
use assay_core::names::{file_name, top_of};
use assay_core::SetupError;
use assay_spec::OpKind;
use std::collections::BTreeMap;
use std::sync::Arc;

const SECTOR: u64 = 512;
/// Offset of the byte affected by defects that affect a single byte.
const WRONG: usize = 20_000;
const FAR: usize = 1 << 19;

/// The file of a lane, as one opening sees it.
pub(super) struct FileWork {
    shared: Arc<Shared>,
    path: String,
    /// Data the lane has written that others do not see, or `None` if all data is visible.
    own: Option<Vec<u8>>,
    /// Contents of the file when it was opened.
    before: Vec<u8>,
    wrote: bool,
    /// Data that was read, by offset.
    remembered: BTreeMap<u64, Vec<u8>>,
}

/// Writes bytes into a file. The gap between its end and the bytes is filled with `hole`.
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
        if shared.has_defect(Defect::MakesWhatIsOpened) {
            world.files.entry(path.clone()).or_default();
        }
        let Some(before) = world.files.get(&path).cloned() else {
            return Err(refused("open", &path, libc::ENOENT));
        };
        drop(world);
        Ok(FileWork { shared, path, own: None, before, wrote: false, remembered: BTreeMap::new() })
    }

    pub(super) fn execute(&mut self, op_data: &OpData<'_>) -> Result<u64, i32> {
        match op_data.op.kind {
            OpKind::Read => Ok(op_data.deliver(&self.read(op_data.op.offset, op_data.op.length)?)),
            OpKind::Write => self.write(op_data.op.offset, &op_data.data_to_store()),
            OpKind::Sync => self.flush(),
            _ => Err(libc::EINVAL),
        }
    }

    fn place(&self, offset: u64) -> u64 {
        match self.shared.world().device {
            Some(bytes) if self.shared.has_defect(Defect::WrapsAddresses) => offset % (bytes as u64 / 2),
            _ => offset,
        }
    }

    fn read(&mut self, offset: u64, length: u64) -> Result<Vec<u8>, i32> {
        let shared = Arc::clone(&self.shared);
        let has_defect = |defect| shared.has_defect(defect);
        let from = self.place(offset) as usize;
        let mut world = shared.world();
        let file = self.own.as_ref().unwrap_or(&world.files[&self.path]);
        let end = file.len();
        if has_defect(Defect::FailsBeyondTheEnd) && from >= end + FAR {
            return Err(libc::EIO);
        }
        let mut found = file[from.min(end)..(from + length as usize).min(end).max(from.min(end))].to_vec();
        if has_defect(Defect::PadsTheEnd) && !found.is_empty() {
            found.resize(length as usize, 0);
        }
        if has_defect(Defect::ReadsShort) && found.len() as u64 == length {
            found.pop();
        }
        let there = (from..from + found.len()).contains(&WRONG);
        if there
            && (has_defect(Defect::FlipsBits)
                || has_defect(Defect::FlipsBitsOnce) && world.flipped.insert((self.path.clone(), offset)))
        {
            found[WRONG - from] ^= 4;
        }
        if has_defect(Defect::RemembersReads) {
            found = self.remembered.entry(offset).or_insert(found).clone();
        }
        Ok(found)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<u64, i32> {
        let has_defect = |defect| self.shared.has_defect(defect);
        let place = self.place(offset) as usize;
        let mut world = self.shared.world();
        if world.device.is_some_and(|bytes| offset >= bytes as u64) {
            return Err(libc::ENOSPC);
        }
        let shown = world.files.get_mut(&self.path).ok_or(libc::ENOENT)?;
        let file = if has_defect(Defect::HidesUntilFlush) || has_defect(Defect::HidesUntilClose) {
            self.own.get_or_insert_with(|| shown.clone())
        } else {
            shown
        };
        let (over, at_the_end) = (file.get(place).is_some_and(|byte| *byte != 0), place == file.len());
        let stored = match () {
            () if over && has_defect(Defect::LosesOverwrites) && (place..place + bytes.len()).contains(&WRONG) => &[],
            () if over && has_defect(Defect::TearsOverwrites) => &bytes[..bytes.len().min(SECTOR as usize)],
            () if at_the_end && has_defect(Defect::LosesAppends) && !offset.is_multiple_of(SECTOR) => &[],
            () => bytes,
        };
        put(file, place, stored, if has_defect(Defect::FillsHoles) { 0xAA } else { 0 });
        self.wrote = true;
        Ok(bytes.len() as u64)
    }

    fn flush(&mut self) -> Result<u64, i32> {
        if self.shared.has_defect(Defect::FailsFlushes) {
            return Err(libc::EIO);
        }
        if !self.shared.has_defect(Defect::HidesUntilClose) {
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
        if self.shared.has_defect(Defect::ForgetsAtClose) && self.wrote {
            let before = std::mem::take(&mut self.before);
            self.shared.world().files.insert(self.path.clone(), before);
        }
    }
}
