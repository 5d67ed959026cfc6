//! Whether a file is the one that was named.

use assay_core::{heartbeat, SetupError};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;

/// Bytes hashed at once.
const PIECE: usize = 1 << 20;

/// Check the SHA-256 of a file, if one is named.
///
/// # Errors
/// If it is another, or the file cannot be read.
pub(crate) fn expect(path: &str, sha256: Option<&str>) -> Result<(), SetupError> {
    let Some(expected) = sha256 else { return Ok(()) };
    let error = |error: std::io::Error| SetupError::new("read", path, error.to_string());
    // A pipe without a writer would block here.
    let mut file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(error)?;
    let (mut digest, mut piece) = (Sha256::new(), vec![0; PIECE]);
    loop {
        heartbeat::beat();
        match file.read(&mut piece).map_err(error)? {
            0 => break,
            length => digest.update(&piece[..length]),
        }
    }
    let found = digest.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    if found == expected {
        return Ok(());
    }
    Err(SetupError::new("check", path, format!("its SHA-256 is {found}, not {expected}")))
}
