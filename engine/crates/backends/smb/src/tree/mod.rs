//! The directories of a tree, named as in the file backend.

pub(crate) mod lane;
mod work;

use crate::client::{briefly, Client, NEW_DIRECTORY};
use crate::status::NAME_COLLISION;
use assay_core::{names, Fault};
use assay_remote::Forest;

/// Path in the share of a leaf below a top directory, in place of what is in `path`.
pub(crate) fn put_leaf(forest: &Forest, folder: &str, top: u32, leaf: u64, path: &mut String) {
    let mut relative = Vec::new();
    names::put_leaf(top, &forest.tree, leaf, &mut relative);
    path.clear();
    path.push_str(folder);
    path.push('\\');
    path.extend(relative.iter().map(|byte| if *byte == b'/' { '\\' } else { char::from(*byte) }));
}

/// Makes all directories below these tops that are not there yet, level by level.
pub(crate) fn make(forest: &Forest, client: &mut Client, folder: &str, tops: &[u32]) -> Result<(), Fault> {
    let mut here: Vec<String> = tops.iter().map(|top| format!("{folder}\\{}", names::top_name(*top))).collect();
    make_all(client, &here)?;
    for _ in 0..forest.tree.depth {
        let below = |path: &String| {
            let path = path.clone();
            (0..forest.tree.width).map(move |branch| format!("{path}\\{}", names::branch_name(branch)))
        };
        here = here.iter().flat_map(below).collect();
        make_all(client, &here)?;
    }
    Ok(())
}

/// Makes directories; those that are there already are taken.
fn make_all(client: &mut Client, paths: &[String]) -> Result<(), Fault> {
    let mut failed = None;
    client.all(
        paths.len(),
        |number, chain| briefly(chain, &paths[number], NEW_DIRECTORY, |_| {}),
        |_, result| match result {
            Ok(_) | Err(NAME_COLLISION) => {}
            Err(fault) => failed = failed.or(Some(fault)),
        },
    );
    failed.map_or(Ok(()), Err)
}
