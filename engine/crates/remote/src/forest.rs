//! The directories of a tree, named as in the file backend.

use assay_core::names;
use assay_spec::{Layout, Tree};
use std::ops::Range;

/// The tree of a job: in the job's directory a top directory for each lane, or one for all, and `depth` levels of
/// `width` directories below it. The deepest ones, the leaves, hold the names.
pub struct Forest {
    /// Its shape.
    pub tree: Tree,
    layout: Layout,
}

impl Forest {
    /// A tree of this shape for each lane, or one for all.
    pub fn new(tree: Tree, layout: Layout) -> Self {
        Forest { tree, layout }
    }

    /// Number of the top directory in which a lane works.
    pub fn top(&self, lane: u32) -> u32 {
        names::top_of(self.layout, lane)
    }

    /// Top directories of lanes.
    pub fn tops(&self, lanes: Range<u32>) -> Range<u32> {
        names::tops_of(self.layout, lanes)
    }

    /// Names of a lane in a full leaf.
    #[inline]
    pub fn names_per_leaf(&self) -> u64 {
        self.tree.files_per_leaf()
    }
}
