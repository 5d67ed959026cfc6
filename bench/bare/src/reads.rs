//! Random reads, one at a time, with pread.

use crate::args::Args;
use crate::buffer::aligned;
use crate::meter::{Figures, Meter, BATCH};
use crate::offsets::Offsets;
use rustix::fs::{Mode, OFlags};
use rustix::io::pread as read_at;
use std::fs::File;

/// What `--direct` and `--noatime` ask for.
pub(crate) fn open_flags(args: &mut Args) -> OFlags {
    let direct = if args.flag("--direct") { OFlags::DIRECT } else { OFlags::empty() };
    let noatime = if args.flag("--noatime") { OFlags::NOATIME } else { OFlags::empty() };
    direct | noatime
}

/// A file opened for reading, and its size.
pub(crate) fn open(path: &str, flags: OFlags) -> Result<(File, u64), String> {
    let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| format!("{path}: {error}"))?;
    let file = File::from(file);
    let size = file.metadata().map_err(|error| format!("{path}: {error}"))?.len();
    Ok((file, size))
}

pub(crate) fn pread(mut args: Args) -> Result<Figures, String> {
    let path = args.needed("FILE")?;
    let record = args.positive("--record", 4096)?;
    let seconds = args.seconds()?;
    let flags = open_flags(&mut args);
    args.finish()?;
    let (file, size) = open(&path, flags)?;
    let mut offsets = Offsets::new(size, record)?;
    let buffer = aligned(record as usize)?;
    let mut ops = 0;
    let meter = Meter::start(seconds);
    while !meter.over() {
        for _ in 0..BATCH {
            let count = read_at(&file, &mut *buffer, offsets.next()).map_err(|error| format!("{path}: {error}"))?;
            if count as u64 != record {
                return Err(format!("{path}: {count} bytes came back instead of {record}"));
            }
        }
        ops += BATCH;
    }
    Ok(meter.finish(ops, ops * record))
}
