//! Operations on names in one directory: f0.0, f0.1, f0.2, ... by a directory descriptor.
//!
//! They are the names that Assay gives the files of its first lane: the cost of a name depends on its length.

use crate::args::Args;
use crate::meter::{Figures, Meter};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use std::ffi::CStr;
use std::hint::black_box;

/// A letter, `0.`, a number of up to 20 digits, and the closing zero, right-aligned.
struct Name([u8; 24]);

impl Name {
    fn new() -> Self {
        Name([0; 24])
    }

    /// The name with this letter and number.
    #[inline]
    fn set(&mut self, letter: u8, mut number: u64) -> &CStr {
        let mut at = self.0.len() - 1;
        loop {
            at -= 1;
            self.0[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.0[at - 3..at].copy_from_slice(&[letter, b'0', b'.']);
        // SAFETY: the last byte is zero, and no other one of the name is.
        unsafe { CStr::from_bytes_with_nul_unchecked(&self.0[at - 3..]) }
    }
}

pub(crate) fn run(command: &str, mut args: Args) -> Result<Figures, String> {
    let path = args.needed("DIR")?;
    let count = args.positive("--count", 100_000)?;
    args.finish()?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| format!("{path}: {error}"))?;
    let meter = Meter::start(0.0);
    each(command, &dir, count).map_err(|(number, error)| format!("{command} {path}/f0.{number}: {error}"))?;
    Ok(meter.finish(count, 0))
}

/// One operation on each name; the number of the name that failed comes with the error.
fn each(command: &str, dir: &OwnedFd, count: u64) -> Result<(), (u64, rustix::io::Errno)> {
    let file = Mode::RUSR | Mode::WUSR;
    let new = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    match command {
        "create" => repeat(count, |name| rustix::fs::openat(dir, name, new, file).map(drop)),
        "open" => repeat(count, |name| {
            rustix::fs::openat(dir, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map(drop)
        }),
        "stat" => repeat(count, |name| {
            let stat = rustix::fs::statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)?;
            black_box(&stat);
            Ok(())
        }),
        "unlink" => repeat(count, |name| rustix::fs::unlinkat(dir, name, AtFlags::empty())),
        "mkdir" => repeat(count, |name| rustix::fs::mkdirat(dir, name, Mode::RWXU)),
        "rmdir" => repeat(count, |name| rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)),
        _ => {
            let mut to = Name::new();
            let mut number = 0;
            repeat(count, |name| {
                let done = rustix::fs::renameat(dir, name, dir, to.set(b'g', number));
                number += 1;
                done
            })
        }
    }
}

#[inline]
fn repeat(count: u64, mut action: impl FnMut(&CStr) -> rustix::io::Result<()>) -> Result<(), (u64, rustix::io::Errno)> {
    let mut name = Name::new();
    for number in 0..count {
        action(name.set(b'f', number)).map_err(|error| (number, error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_format() {
        let mut name = Name::new();
        for number in [u64::MAX, 0, 7, 10, 99_999] {
            assert_eq!(name.set(b'f', number).to_str().unwrap(), format!("f0.{number}"));
        }
    }
}
