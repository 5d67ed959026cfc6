//! The directories of a tree, named as in the file backend.

pub(crate) mod lane;
mod work;

use crate::client::{put_attributes, put_name, Client, Handle, DIRECTORY_MODE};
use crate::replies::{created, looked_up};
use crate::status::{EXIST, GARBAGE};
use assay_core::{names, Fault};
use assay_remote::Forest;
use nfs3_types::nfs3::NFS_PROGRAM as P;

/// Makes all directories below these tops that are not there yet.
pub(crate) fn make(forest: &Forest, client: &mut Client, folder: &[u8], tops: &[u32]) -> Result<(), Fault> {
    go_down(forest, client, folder, tops, true).map(|_| ())
}

/// The leaves below a top, in the order in which they are filled.
fn leaves(forest: &Forest, client: &mut Client, folder: &[u8], top: u32) -> Result<Vec<Handle>, Fault> {
    go_down(forest, client, folder, &[top], false)
}

fn go_down(
    forest: &Forest,
    client: &mut Client,
    folder: &[u8],
    tops: &[u32],
    make: bool,
) -> Result<Vec<Handle>, Fault> {
    let tops: Vec<String> = tops.iter().map(|top| names::top_name(*top)).collect();
    let mut here = level(client, &[folder.to_vec()], &tops, make)?;
    let branches: Vec<String> = (0..forest.tree.width).map(names::branch_name).collect();
    let mut above = Vec::new();
    for _ in 0..forest.tree.depth {
        let below = level(client, &here, &branches, make)?;
        if forest.tree.inner {
            above.append(&mut here);
        }
        here = below;
    }
    above.append(&mut here);
    Ok(above)
}

/// Directories of these names in each of the parents, parent after parent. They are made first if that is asked for;
/// those that are there already are taken.
fn level(client: &mut Client, parents: &[Handle], names: &[String], make: bool) -> Result<Vec<Handle>, Fault> {
    let count = parents.len() * names.len();
    let mut handles = vec![Handle::new(); count];
    let mut failed = None;
    let put = |number: usize, out: &mut Vec<u8>| {
        put_name(out, &parents[number / names.len()], names[number % names.len()].as_bytes());
    };
    if make {
        let with_mode = |number: usize, out: &mut Vec<u8>| {
            put(number, out);
            put_attributes(out, Some(DIRECTORY_MODE), None);
        };
        client.all(P::NFSPROC3_MKDIR, count, with_mode, |number, result| match result {
            Ok(results) => handles[number] = created(results).map(<[u8]>::to_vec).unwrap_or_default(),
            Err(EXIST) => {}
            Err(fault) => failed = failed.or(Some(fault)),
        });
    }
    if let Some(fault) = failed {
        return Err(fault);
    }
    let missing: Vec<usize> = (0..count).filter(|number| handles[*number].is_empty()).collect();
    client.all(
        P::NFSPROC3_LOOKUP,
        missing.len(),
        |number, out| put(missing[number], out),
        |number, result| match result.and_then(|results| looked_up(results).ok_or(GARBAGE)) {
            Ok((handle, _)) => handles[missing[number]] = handle.to_vec(),
            Err(fault) => failed = failed.or(Some(fault)),
        },
    );
    failed.map_or(Ok(handles), Err)
}
