//! Reads and writes of an open file, correct or with a fault.

use crate::rules::Fault;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The data that the last write of each byte replaced, for stale reads.
#[derive(Debug, Default)]
pub(crate) struct OldData(Vec<u8>);

impl OldData {
    /// Saves the data that is about to be overwritten. Beyond the end of the file it is zeros.
    fn save_old(&mut self, file: &File, offset: u64, length: usize) -> io::Result<()> {
        let (begin, end) = (offset as usize, offset as usize + length);
        if self.0.len() < end {
            self.0.resize(end, 0);
        }
        let old = &mut self.0[begin..end];
        old.fill(0);
        read_full(file, old, offset).map(drop)
    }

    /// Replaces read data with the saved old data.
    fn overlay(&self, data: &mut [u8], offset: u64) {
        let old = self.0.get(offset as usize..).unwrap_or_default();
        let length = old.len().min(data.len());
        data[..length].copy_from_slice(&old[..length]);
    }
}

/// The data replaced by writes through one handle, for writes that are undone when it is closed.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    /// Offset and bytes, oldest first.
    replaced: Vec<(u64, Vec<u8>)>,
    /// Size of the file before the first of these writes.
    size: Option<u64>,
}

impl Undo {
    /// Saves the data that is about to be overwritten.
    pub(crate) fn note(&mut self, file: &File, offset: u64, length: usize) -> io::Result<()> {
        let size = file.metadata()?.len();
        self.size.get_or_insert(size);
        let mut old = vec![0; length];
        let there = read_full(file, &mut old, offset)?;
        old.truncate(there);
        self.replaced.push((offset, old));
        Ok(())
    }

    /// Restores the old data, the last write first.
    pub(crate) fn apply(&mut self, file: &File) -> io::Result<()> {
        for (offset, old) in self.replaced.drain(..).rev() {
            file.write_all_at(&old, offset)?;
        }
        self.size.take().map_or(Ok(()), |size| file.set_len(size))
    }
}

/// Reads data and applies the fault.
pub(crate) fn read(
    file: &File,
    old_data: &OldData,
    offset: u64,
    size: usize,
    fault: Option<Fault>,
) -> io::Result<Vec<u8>> {
    let wanted = if fault == Some(Fault::Short) { size / 2 } else { size };
    let mut data = vec![0; wanted];
    let length = read_full(file, &mut data, offset)?;
    data.truncate(length);
    match fault {
        Some(Fault::Stale) => old_data.overlay(&mut data, offset),
        Some(Fault::Corrupt) => flip(&mut data),
        _ => {}
    }
    Ok(data)
}

/// Writes data and applies the fault. Returns the number of bytes to report as written.
pub(crate) fn write(
    file: &File,
    old_data: &mut OldData,
    offset: u64,
    data: &[u8],
    fault: Option<Fault>,
) -> io::Result<usize> {
    let half = data.len() / 2;
    match fault {
        Some(Fault::Lost) => return lengthen(file, offset, data.len()),
        Some(Fault::Torn) => {
            old_data.save_old(file, offset, half)?;
            file.write_all_at(&data[..half], offset)?;
            return lengthen(file, offset, data.len());
        }
        _ => {}
    }
    let stored = if fault == Some(Fault::Short) { &data[..half] } else { data };
    old_data.save_old(file, offset, stored.len())?;
    if fault == Some(Fault::Corrupt) {
        let mut changed = stored.to_vec();
        flip(&mut changed);
        file.write_all_at(&changed, offset)?;
    } else {
        file.write_all_at(stored, offset)?;
    }
    Ok(stored.len())
}

/// Extends the file as if everything had been written. Data that was not written is a hole, or unchanged.
fn lengthen(file: &File, offset: u64, length: usize) -> io::Result<usize> {
    let end = offset + length as u64;
    if file.metadata()?.len() < end {
        file.set_len(end)?;
    }
    Ok(length)
}

/// Changes one byte at a third of the length, so not the first byte of a sector.
fn flip(data: &mut [u8]) {
    let third = data.len() / 3;
    if let Some(byte) = data.get_mut(third) {
        *byte ^= 0x40;
    }
}

fn read_full(file: &File, data: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < data.len() {
        match file.read_at(&mut data[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
