//! Large records in sequence, from or to one constant buffer.

use crate::args::Args;
use crate::buffer::aligned;
use crate::meter::{Figures, Meter};
use rustix::fs::{Mode, OFlags};
use rustix::io::{pread, pwrite, Errno};
use std::fs::File;

/// What is asked for.
struct Plan {
    path: String,
    bytes: u64,
    seconds: f64,
    direct: bool,
    fsync: bool,
}

pub(crate) fn run(mut args: Args) -> Result<Figures, String> {
    let path = args.needed("FILE")?;
    let record = args.positive("--record", 1 << 20)?;
    let bytes = args.positive("--bytes", 1 << 30)?;
    let seconds = args.value("--seconds", 0.0)?;
    let passes = args.positive("--passes", 1)?;
    let modes = [args.flag("--read"), args.flag("--write"), args.flag("--rewrite")];
    let (direct, fsync) = (args.flag("--direct"), args.flag("--fsync"));
    args.finish()?;
    if !bytes.is_multiple_of(record) {
        return Err("--bytes must be a multiple of --record".to_owned());
    }
    let buffer = aligned(record as usize)?;
    let plan = Plan { path, bytes, seconds, direct, fsync };
    let figures = match modes {
        [true, false, false] => plan.read(buffer),
        [false, true, false] => plan.write(buffer, passes),
        [false, false, true] => plan.rewrite(buffer),
        _ => return Err("say one of --read, --write and --rewrite".to_owned()),
    };
    figures.map_err(|error| format!("{}: {error}", plan.path))
}

impl Plan {
    fn open(&self, flags: OFlags) -> Result<File, String> {
        let direct = if self.direct { OFlags::DIRECT } else { OFlags::empty() };
        let file = rustix::fs::open(&self.path, flags | direct | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
        file.map(File::from).map_err(|error| error.to_string())
    }

    /// Reads an existing file again and again until the time is up, once at least.
    fn read(&self, buffer: &mut [u8]) -> Result<Figures, String> {
        let file = self.open(OFlags::RDONLY)?;
        self.turn(&file, buffer.len(), |offset| pread(&file, &mut *buffer, offset))
    }

    /// Writes over an existing file again and again until the time is up, once at least.
    fn rewrite(&self, buffer: &[u8]) -> Result<Figures, String> {
        let file = self.open(OFlags::WRONLY)?;
        self.turn(&file, buffer.len(), |offset| pwrite(&file, buffer, offset))
    }

    /// Writes a new file `passes` times. The pass before them is not measured: in a virtual machine the first use of a
    /// page can cost ten times a later one.
    fn write(&self, buffer: &[u8], passes: u64) -> Result<Figures, String> {
        let mut total = Figures::default();
        for pass in 0..=passes {
            let file = self.open(OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)?;
            let figures = self.turn(&file, buffer.len(), |offset| pwrite(&file, buffer, offset))?;
            if pass > 0 {
                total.add(&figures);
            }
        }
        Ok(total)
    }

    /// Calls `action` with the offset of each record until everything is done and the time is up; then flushes, if asked.
    fn turn(
        &self,
        file: &File,
        record: usize,
        mut action: impl FnMut(u64) -> Result<usize, Errno>,
    ) -> Result<Figures, String> {
        let (mut ops, mut offset) = (0, 0);
        let least = self.bytes / record as u64;
        let meter = Meter::start(self.seconds);
        // A large record takes a thousand times what a reading of the clock does.
        while ops < least || (self.seconds > 0.0 && !meter.over()) {
            let count = action(offset).map_err(|error| error.to_string())?;
            if count != record {
                return Err(format!("{count} bytes were moved instead of {record}"));
            }
            ops += 1;
            offset = (offset + record as u64) % self.bytes;
        }
        if self.fsync {
            file.sync_all().map_err(|error| error.to_string())?;
        }
        Ok(meter.finish(ops, ops * record as u64))
    }
}
