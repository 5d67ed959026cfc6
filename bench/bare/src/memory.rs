//! Random copies from a mapping of the file.

use crate::args::Args;
use crate::buffer::aligned;
use crate::meter::{Figures, Meter, BATCH};
use crate::offsets::Offsets;
use crate::reads::open;
use rustix::fs::OFlags;
use rustix::mm::{mmap as map, MapFlags, ProtFlags};
use std::hint::black_box;

pub(crate) fn mmap(mut args: Args) -> Result<Figures, String> {
    let path = args.needed("FILE")?;
    let record = args.positive("--record", 4096)? as usize;
    let seconds = args.seconds()?;
    args.finish()?;
    let (file, size) = open(&path, OFlags::empty())?;
    let mut offsets = Offsets::new(size, record as u64)?;
    let buffer = aligned(record)?;
    // SAFETY: a new shared mapping at an address of the kernel's choice touches nothing of ours.
    let base = unsafe {
        map(std::ptr::null_mut(), size as usize, ProtFlags::READ, MapFlags::SHARED | MapFlags::POPULATE, &file, 0)
    };
    let base = base.map_err(|error| format!("{path}: {error}"))?.cast::<u8>();
    let mut ops = 0;
    let meter = Meter::start(seconds);
    while !meter.over() {
        for _ in 0..BATCH {
            // SAFETY: the record lies within the mapping, whose file nobody shortens, and the buffer holds one record.
            unsafe { std::ptr::copy_nonoverlapping(base.add(offsets.next() as usize), buffer.as_mut_ptr(), record) };
            black_box(&mut *buffer);
        }
        ops += BATCH;
    }
    Ok(meter.finish(ops, ops * record as u64))
}
