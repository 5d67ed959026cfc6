//! Reads and writes of one open file, whole or as a fault wants them.

use crate::rules::Fault;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// What the last write of each byte of a file has replaced, for reads that are to be stale.
#[derive(Debug, Default)]
pub(crate) struct Before(Vec<u8>);

impl Before {
    /// Keep what is about to be overwritten; beyond the file's end that is zeros.
    fn keep(&mut self, file: &File, offset: u64, length: usize) -> io::Result<()> {
        let (begin, end) = (offset as usize, offset as usize + length);
        if self.0.len() < end {
            self.0.resize(end, 0);
        }
        let old = &mut self.0[begin..end];
        old.fill(0);
        read_full(file, old, offset).map(drop)
    }

    /// Lay the old bytes over what was read.
    fn show(&self, data: &mut [u8], offset: u64) {
        let old = self.0.get(offset as usize..).unwrap_or_default();
        let length = old.len().min(data.len());
        data[..length].copy_from_slice(&old[..length]);
    }
}

/// What writes through one opening have replaced, for what is to vanish when that is closed.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    /// Offset and bytes, oldest first.
    replaced: Vec<(u64, Vec<u8>)>,
    /// Bytes that the file had before the first of them.
    size: Option<u64>,
}

impl Undo {
    /// Keep what is about to be overwritten.
    pub(crate) fn note(&mut self, file: &File, offset: u64, length: usize) -> io::Result<()> {
        let size = file.metadata()?.len();
        self.size.get_or_insert(size);
        let mut old = vec![0; length];
        let there = read_full(file, &mut old, offset)?;
        old.truncate(there);
        self.replaced.push((offset, old));
        Ok(())
    }

    /// Put everything back, the last write first.
    pub(crate) fn apply(&mut self, file: &File) -> io::Result<()> {
        for (offset, old) in self.replaced.drain(..).rev() {
            file.write_all_at(&old, offset)?;
        }
        self.size.take().map_or(Ok(()), |size| file.set_len(size))
    }
}

/// Read, and do the fault to it.
pub(crate) fn read(
    file: &File,
    before: &Before,
    offset: u64,
    size: usize,
    fault: Option<Fault>,
) -> io::Result<Vec<u8>> {
    let wanted = if fault == Some(Fault::Short) { size / 2 } else { size };
    let mut data = vec![0; wanted];
    let length = read_full(file, &mut data, offset)?;
    data.truncate(length);
    match fault {
        Some(Fault::Stale) => before.show(&mut data, offset),
        Some(Fault::Corrupt) => flip(&mut data),
        _ => {}
    }
    Ok(data)
}

/// Write, and do the fault to it. Returns how many bytes the answer says.
pub(crate) fn write(
    file: &File,
    before: &mut Before,
    offset: u64,
    data: &[u8],
    fault: Option<Fault>,
) -> io::Result<usize> {
    let half = data.len() / 2;
    match fault {
        Some(Fault::Lost) => return lengthen(file, offset, data.len()),
        Some(Fault::Torn) => {
            before.keep(file, offset, half)?;
            file.write_all_at(&data[..half], offset)?;
            return lengthen(file, offset, data.len());
        }
        _ => {}
    }
    let stored = if fault == Some(Fault::Short) { &data[..half] } else { data };
    before.keep(file, offset, stored.len())?;
    if fault == Some(Fault::Corrupt) {
        let mut changed = stored.to_vec();
        flip(&mut changed);
        file.write_all_at(&changed, offset)?;
    } else {
        file.write_all_at(stored, offset)?;
    }
    Ok(stored.len())
}

/// The file is as long as if all had been written; what was not is a hole, or as before.
fn lengthen(file: &File, offset: u64, length: usize) -> io::Result<usize> {
    let end = offset + length as u64;
    if file.metadata()?.len() < end {
        file.set_len(end)?;
    }
    Ok(length)
}

/// Change one byte, a third of the way: not the first of a sector.
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
