//! Names in a tree of files, and which of them a phase works on. All kinds of storage use the same, so that one can
//! check what another has made.

use super::Name;
use crate::PhasePlan;
use assay_spec::{data_operations, object_operations, program_operations, Layout, Operation, Tree};
use std::ops::Range;

/// Number of the top directory in which a lane works.
pub fn top_of(layout: Layout, lane: u32) -> u32 {
    match layout {
        Layout::Separate => lane,
        Layout::Shared => 0,
    }
}

/// Top directories of lanes.
pub fn tops_of(layout: Layout, lanes: Range<u32>) -> Range<u32> {
    match layout {
        Layout::Separate => lanes,
        Layout::Shared => 0..1,
    }
}

/// Name of a top directory.
pub fn top_name(top: u32) -> String {
    format!("t{top}")
}

/// Name of a directory on a level below.
pub fn branch_name(branch: u32) -> String {
    format!("b{branch}")
}

/// Name of the file of a lane, or of the file that all lanes share, for data operations.
pub fn file_name(file: u32) -> String {
    format!("f{file}")
}

/// Write into `path` the path of a leaf directory below the job's: `t<top>/b<n>/...`. From leaf to leaf the last number
/// changes fastest, and a level comes after the one above it. Replaces the contents of `path`.
pub fn put_leaf(top: u32, tree: &Tree, leaf: u64, path: &mut Vec<u8>) {
    path.clear();
    path.extend_from_slice(top_name(top).as_bytes());
    let width = u64::from(tree.width);
    let (mut leaf, mut depth) = (leaf, tree.depth);
    if tree.inner {
        depth = 0;
        while leaf >= width.saturating_pow(depth) && depth < tree.depth {
            leaf -= width.saturating_pow(depth);
            depth += 1;
        }
    }
    for level in (0..depth).rev() {
        path.push(b'/');
        let branch = leaf / width.saturating_pow(level) % width;
        path.extend_from_slice(branch_name(branch as u32).as_bytes());
    }
}

/// The names that a phase works on, and the names that `Rename` gives.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    /// The existing or created name.
    pub current: Name,
    /// The name after a rename.
    pub other: Name,
}

impl Names {
    /// Directories are `d<lane>.<number>`, files `f<lane>.<number>` or, once renamed, `r<lane>.<number>`.
    pub fn new(lane: u32, plan: &PhasePlan) -> Self {
        let (current, other) = match plan.operation {
            Operation::Mkdir | Operation::Rmdir => (b'd', b'd'),
            Operation::Prepare
            | Operation::Create
            | Operation::Stat
            | Operation::Open
            | Operation::Readdir
            | Operation::Rename
            | Operation::Unlink
            | data_operations!()
            | object_operations!()
            | program_operations!() => {
                if plan.renamed {
                    (b'r', b'f')
                } else {
                    (b'f', b'r')
                }
            }
        };
        Names { current: Name::new(current, lane), other: Name::new(other, lane) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(top: u32, depth: u32, width: u32, inner: bool) -> Vec<String> {
        let tree = Tree { files: 100, depth, width, more: 0, inner };
        let mut path = Vec::new();
        let text = |leaf| {
            put_leaf(top, &tree, leaf, &mut path);
            std::str::from_utf8(&path).unwrap().to_owned()
        };
        (0..tree.leaves()).map(text).collect()
    }

    #[test]
    fn leaves_follow_each_other() {
        assert_eq!(paths(3, 0, 5, false), ["t3"]);
        assert_eq!(paths(0, 1, 2, false), ["t0/b0", "t0/b1"]);
        assert_eq!(paths(10, 2, 2, false), ["t10/b0/b0", "t10/b0/b1", "t10/b1/b0", "t10/b1/b1"]);
        assert_eq!(paths(4, 0, 9, true), ["t4"]);
        let all = ["t1", "t1/b0", "t1/b1", "t1/b0/b0", "t1/b0/b1", "t1/b1/b0", "t1/b1/b1"];
        assert_eq!(paths(1, 2, 2, true), all);
    }
}
