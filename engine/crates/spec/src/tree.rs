//! Many files instead of one: their number, their directories, and their order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The files that metadata operations work on (vdbench: depth, width, files; mdtest: -z, -b, -n).
///
/// With layout `separate` each lane has its own tree, with `shared` all lanes work in the same directories. A lane
/// fills one leaf directory after the other.
///
/// Operations on data (write, rewrite, read, reread, random_read, random_write and the mixes) work on such files, too:
/// a lane opens one of its files, processes its records, closes it, and continues with the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// Files of each lane, or directories for operations on directories. At least 1, or 0 with `more`.
    #[schemars(range(max = 1_000_000_000))]
    pub files: u64,
    /// Levels of directories below the top; 0: everything in one directory.
    #[serde(default)]
    #[schemars(range(max = 16))]
    pub depth: u32,
    /// Directories in each directory that is not a leaf.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub width: u32,
    /// This many lanes, the first of all, have one file more, so that any number of files can be divided among lanes.
    #[serde(default)]
    #[schemars(range(max = 67_108_863))]
    pub more: u32,
    /// Every directory of the tree holds files, the top one first, not only the leaves (mdtest without -L).
    #[serde(default)]
    pub inner: bool,
}

impl Tree {
    /// Files of a lane, numbered among all lanes.
    pub fn files_of(&self, lane: u32) -> u64 {
        self.files + u64::from(lane < self.more)
    }

    /// Most files of a lane.
    pub fn max_files(&self) -> u64 {
        self.files_of(0)
    }

    /// Files of `lanes` lanes together.
    pub fn all_files(&self, lanes: u32) -> u64 {
        self.files.saturating_mul(u64::from(lanes)).saturating_add(u64::from(self.more))
    }

    /// Number of directories that hold files: width^depth leaves, or all.
    pub fn leaves(&self) -> u64 {
        let on_level = |level| u64::from(self.width).saturating_pow(level);
        if self.inner {
            return (0..=self.depth).map(on_level).fold(0, u64::saturating_add);
        }
        on_level(self.depth)
    }

    /// Files of a lane in each directory that holds files; the last ones may hold fewer.
    pub fn files_per_leaf(&self) -> u64 {
        self.max_files().div_ceil(self.leaves())
    }
}

/// The order in which a lane opens the files of a tree to read and write them (vdbench fileselect).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "FileOrder")]
pub enum FileOrder {
    /// By number, directory after directory.
    #[default]
    Sequential,
    /// Each once, in random order; then each again in another.
    Random,
}

impl FileOrder {
    /// True for the order by number.
    pub fn is_sequential(&self) -> bool {
        *self == FileOrder::Sequential
    }
}

fn one() -> u32 {
    1
}
