//! Removes directories with what jobs have made in them, and nothing else: no link is followed, and what has another name
//! than jobs give is left alone.

use crate::client::{briefly, let_go, to_change, Client};
use crate::status::{is_absent, NOT_EMPTY};
use assay_remote::{names_of_job, Attempts, Unremoved};

/// The last part of a path.
fn last(path: &str) -> &str {
    path.rsplit('\\').next().unwrap_or(path)
}

/// Removes a directory with all that jobs have made in it.
pub(crate) fn tree(client: &mut Client, path: &str, level: u32) -> Result<(), Unremoved> {
    let left = |fault| Unremoved::new(last(path), fault);
    let mut attempts = Attempts::at(level).map_err(left)?;
    while attempts.go_on().map_err(left)? {
        let found = match client.list(path) {
            Err(fault) if is_absent(fault) => return Ok(()),
            found => found.map_err(left)?,
        };
        let removed = names(client, path, &found, level + 1).map_err(|what| what.below(last(path)))?;
        attempts.note(removed, found);
        match client.remove(path, true) {
            Ok(()) => return Ok(()),
            // Somebody else is at work there, or what was removed goes when the last who has it open closes it.
            Err(NOT_EMPTY) => {}
            Err(fault) if is_absent(fault) => return Ok(()),
            Err(fault) => return Err(left(fault)),
        }
    }
    Err(left(NOT_EMPTY))
}

/// Removes names in a directory, many at a time, and says how many; what is not there is no error. If one cannot be
/// removed, or is none that jobs give, all others are.
pub(crate) fn names(client: &mut Client, directory: &str, names: &[String], level: u32) -> Result<usize, Unremoved> {
    let (names, mut first) = names_of_job(names);
    let (mut removed, mut refused) = (0, Vec::new());
    client.all(
        names.len(),
        |number, chain| briefly(chain, &format!("{directory}\\{}", names[number]), to_change(false), let_go),
        |number, result| match result {
            Ok(_) => removed += 1,
            Err(fault) if is_absent(fault) => {}
            Err(fault) => refused.push((number, fault)),
        },
    );
    for (number, fault) in refused {
        let path = format!("{directory}\\{}", names[number]);
        let found = match client.look(&path) {
            Ok(None) => continue,
            found => found.ok().flatten(),
        };
        let done = if found.is_some_and(|found| found.is_directory()) {
            removed += 1;
            tree(client, &path, level)
        } else {
            Err(Unremoved::new(names[number], fault))
        };
        first = first.or(done.err());
    }
    first.map_or(Ok(removed), Err)
}
