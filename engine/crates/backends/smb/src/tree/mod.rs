//! The directories of a tree, named as in the file backend.

pub(crate) mod lane;
mod work;

use crate::client::{briefly, Client, NEW_DIRECTORY};
use crate::status::NAME_COLLISION;
use assay_core::{names, Fault};
use assay_spec::{Layout, Tree};
use std::ops::Range;

/// The tree of a job: in the job's directory a top directory for each lane, or one for all, and `depth` levels of
/// `width` directories below it. The deepest ones, the leaves, hold the names.
pub(crate) struct Forest {
    tree: Tree,
    layout: Layout,
}

impl Forest {
    pub(crate) fn new(tree: Tree, layout: Layout) -> Self {
        Forest { tree, layout }
    }

    /// Number of the top directory in which a lane works.
    pub(crate) fn top(&self, lane: u32) -> u32 {
        names::top_of(self.layout, lane)
    }

    /// Top directories of lanes.
    pub(crate) fn tops(&self, lanes: Range<u32>) -> Range<u32> {
        names::tops_of(self.layout, lanes)
    }

    /// Leaves below a top directory.
    pub(crate) fn leaves(&self) -> u64 {
        self.tree.leaves()
    }

    /// Names of a lane in a full leaf.
    pub(crate) fn names_per_leaf(&self) -> u64 {
        self.tree.files_per_leaf()
    }

    /// Path in the share of a leaf below a top directory, in place of what is in `path`.
    pub(crate) fn put_leaf(&self, folder: &str, top: u32, leaf: u64, path: &mut String) {
        let mut relative = Vec::new();
        names::put_leaf(top, &self.tree, leaf, &mut relative);
        path.clear();
        path.push_str(folder);
        path.push('\\');
        path.extend(relative.iter().map(|byte| if *byte == b'/' { '\\' } else { char::from(*byte) }));
    }

    /// Makes all directories below these tops that are not there yet, level by level.
    pub(crate) fn make(&self, client: &mut Client, folder: &str, tops: &[u32]) -> Result<(), Fault> {
        let mut here: Vec<String> = tops.iter().map(|top| format!("{folder}\\{}", names::top_name(*top))).collect();
        make_all(client, &here)?;
        for _ in 0..self.tree.depth {
            let below = |path: &String| {
                let path = path.clone();
                (0..self.tree.width).map(move |branch| format!("{path}\\{}", names::branch_name(branch)))
            };
            here = here.iter().flat_map(below).collect();
            make_all(client, &here)?;
        }
        Ok(())
    }
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
