//! Files that a command needs, and those that it must have made.

use assay_core::{heartbeat, SetupError};
use assay_spec::Input;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Bytes copied or hashed at once.
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
fn pieces(from: &Path, mut each: impl FnMut(&[u8]) -> Result<(), SetupError>) -> Result<String, SetupError> {
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
    Ok(digest.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Copy an input into `folder`.
///
/// # Errors
/// If it cannot be read or written, or its contents are not those that were named.
pub(crate) fn copy(input: &Input, folder: &Path) -> Result<(), SetupError> {
    let to = folder.join(&input.name);
    let mut file = File::create_new(&to).map_err(|e| error("create", &to, &e))?;
    let found = pieces(Path::new(&input.path), |piece| file.write_all(piece).map_err(|e| error("write", &to, &e)))?;
    file.sync_all().map_err(|e| error("flush", &to, &e))?;
    expect(&input.path, &found, input.sha256.as_deref())
}

fn expect(path: &str, found: &str, expected: Option<&str>) -> Result<(), SetupError> {
    match expected {
        Some(expected) if expected != found => {
            Err(SetupError::new("check", path, format!("its SHA-256 is {found}, not {expected}")))
        }
        _ => Ok(()),
    }
}

/// Check the contents of a file.
///
/// # Errors
/// If it cannot be read, or has other contents.
pub(crate) fn check(path: &Path, sha256: &str) -> Result<(), SetupError> {
    let found = pieces(path, |_| Ok(()))?;
    expect(&path.display().to_string(), &found, Some(sha256))
}
