//! Files that a command needs, and those that it must have made.

use assay_core::SetupError;
use assay_posix::{expect_sha256, read_hashed};
use assay_spec::Input;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Copy an input into `folder`.
///
/// # Errors
/// If it cannot be read or written, or its contents are not those that were named.
pub(crate) fn copy(input: &Input, folder: &Path) -> Result<(), SetupError> {
    let to = folder.join(&input.name);
    let error = |operation, e: &io::Error| SetupError::new(operation, to.display().to_string(), e.to_string());
    let mut file = File::create_new(&to).map_err(|e| error("create", &e))?;
    let found = read_hashed(Path::new(&input.path), |piece| file.write_all(piece).map_err(|e| error("write", &e)))?;
    file.sync_all().map_err(|e| error("flush", &e))?;
    expect_sha256(&input.path, &found, input.sha256.as_deref())
}

/// Check the contents of a file.
///
/// # Errors
/// If it cannot be read, or has other contents.
pub(crate) fn check(path: &Path, sha256: &str) -> Result<(), SetupError> {
    let found = read_hashed(path, |_| Ok(()))?;
    expect_sha256(&path.display().to_string(), &found, Some(sha256))
}
