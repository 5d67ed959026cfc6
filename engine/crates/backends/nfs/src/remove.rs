//! Removes directories with what jobs have made in them, and nothing else: no link is followed, no other file system
//! entered, and what has another name than jobs give is left alone.

use crate::client::{put_name, Client};
use crate::replies::DIRECTORY;
use crate::status::{BADHANDLE, EXIST, NOENT, NOTEMPTY, STALE};
use assay_core::Fault;
use assay_remote::{names_of_job, Attempts, Unremoved};
use nfs3_types::nfs3::NFS_PROGRAM;

/// Removes the directory `name` in `parent` with all that jobs have made in it.
pub(crate) fn tree(
    client: &mut Client,
    parent: &[u8],
    name: &[u8],
    file_system: u64,
    level: u32,
) -> Result<(), Unremoved> {
    let left = |fault| Unremoved::new(name, fault);
    let mut attempts = Attempts::at(level).map_err(left)?;
    while attempts.go_on().map_err(left)? {
        match client.rmdir(parent, name) {
            // If the parent is gone, so is what was in it.
            Ok(()) | Err(NOENT | STALE | BADHANDLE) => return Ok(()),
            Err(NOTEMPTY | EXIST) => {}
            Err(fault) => return Err(left(fault)),
        }
        let found = match client.look(parent, name) {
            Err(NOENT | STALE | BADHANDLE) => {
                attempts.in_vain += 1;
                continue;
            }
            found => found.map_err(left)?,
        };
        let inside = found.attributes.is_some_and(|its| its.file_system == file_system);
        if !inside {
            return Err(left(Fault::os(libc::EXDEV)));
        }
        let listed = match client.first_names(&found.handle) {
            Err(NOENT | STALE | BADHANDLE) => Vec::new(),
            listed => listed.map_err(left)?,
        };
        let removed = names(client, &found.handle, &listed, file_system, level + 1).map_err(|what| what.below(name))?;
        attempts.note(removed, listed);
    }
    Err(left(NOTEMPTY))
}

/// Removes names in a directory, many at a time, and says how many; what is not there is no error. If one cannot be
/// removed, or is none that jobs give, all others are.
pub(crate) fn names(
    client: &mut Client,
    directory: &[u8],
    names: &[Vec<u8>],
    file_system: u64,
    level: u32,
) -> Result<usize, Unremoved> {
    let (names, mut first) = names_of_job(names);
    let (mut removed, mut refused) = (0, Vec::new());
    client.all(
        NFS_PROGRAM::NFSPROC3_REMOVE,
        names.len(),
        |number, out| put_name(out, directory, names[number]),
        |number, result| match result {
            Ok(_) => removed += 1,
            Err(NOENT | STALE | BADHANDLE) => {}
            Err(fault) => refused.push((number, fault)),
        },
    );
    for (number, fault) in refused {
        // Servers differ in how they refuse to remove a directory as a file.
        let name = names[number];
        let found = match client.look(directory, name) {
            Err(NOENT | STALE | BADHANDLE) => continue,
            found => found.ok().and_then(|found| found.attributes),
        };
        let done = if found.is_some_and(|its| its.kind == DIRECTORY) {
            removed += 1;
            tree(client, directory, name, file_system, level)
        } else {
            Err(Unremoved::new(name, fault))
        };
        match done {
            // The server makes it up: there is no end to it.
            Err(what) if what.fault == Fault::os(libc::ELOOP) => return Err(what),
            done => first = first.or(done.err()),
        }
    }
    first.map_or(Ok(removed), Err)
}
