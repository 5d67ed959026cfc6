//! Whole files, and whether they are the ones that were named.

use assay_core::{heartbeat, hex, SetupError};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Bytes read at once.
const PIECE: usize = 1 << 20;

fn error(operation: &'static str, path: &Path, error: &io::Error) -> SetupError {
    SetupError::new(operation, path.display().to_string(), error.to_string())
}

/// Open a file for reading; a pipe or a device, which may never end, is refused.
fn open_plain(from: &Path) -> Result<File, SetupError> {
    // A pipe without a writer would block here.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(from);
    let file = file.map_err(|e| error("open", from, &e))?;
    if file.metadata().map_err(|e| error("open", from, &e))?.is_file() {
        return Ok(file);
    }
    Err(SetupError::new("open", from.display().to_string(), "is not a regular file"))
}

/// Read a file to its end, pass each piece on, and return its SHA-256 in hex.
///
/// # Errors
/// If it cannot be read, is no regular file, `each` fails, or the job is to stop.
pub fn read_hashed(from: &Path, mut each: impl FnMut(&[u8]) -> Result<(), SetupError>) -> Result<String, SetupError> {
    let mut file = open_plain(from)?;
    let (mut digest, mut piece) = (Sha256::new(), vec![0; PIECE]);
    loop {
        heartbeat::beat();
        if heartbeat::stopping_ns().is_some() {
            return Err(SetupError::new("read", from.display().to_string(), "stopped"));
        }
        let length = match file.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(error("read", from, &e)),
        };
        digest.update(&piece[..length]);
        each(&piece[..length])?;
    }
    Ok(hex(&digest.finalize()))
}

/// Compare the SHA-256 that a file has with the one that was named, if one was.
///
/// # Errors
/// If they differ.
pub fn expect_sha256(path: &str, found: &str, expected: Option<&str>) -> Result<(), SetupError> {
    match expected {
        Some(expected) if expected != found => {
            Err(SetupError::new("check", path, format!("its SHA-256 is {found}, not {expected}")))
        }
        _ => Ok(()),
    }
}
