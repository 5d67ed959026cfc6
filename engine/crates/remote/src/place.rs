//! Where a job's files are: the root that the engine makes and marks in each volume, and the job's directory in it.

use crate::{Forest, Unremoved};
use assay_core::names::MARKER;
use assay_core::refusals::FOREIGN;
use assay_core::{as_errno, fault_message, files_by_protocol, Fault, Lane, LaneSetup, SetupError};
use assay_spec::{BackendCapabilities, Layout, PlaceCapabilities};
use std::sync::Arc;

/// An export or share, as far as all protocols have it.
pub struct Volume {
    /// Its name in messages about limits.
    pub name: String,
    /// Its path in messages.
    pub path: String,
    /// Most bytes of a READ and of a WRITE that the server takes.
    pub limits: (u32, u32),
    /// Bytes that the user may still fill.
    pub free_bytes: u64,
    /// More about it that limits a result, in words.
    pub remarks: Vec<String>,
}

/// What all targets name.
pub struct Settings<'a> {
    /// Name of the root in each volume.
    pub root: &'a str,
    /// Name of the job's directory in the root.
    pub directory: &'a str,
    /// Bytes of a READ and of a WRITE, unless the server takes less.
    pub sizes: (u64, u64),
    /// How long a call may take, in nanoseconds.
    pub timeout_ns: u64,
}

/// A target whose volumes have been reached: the part that depends on the protocol. Volumes have numbers from 0.
pub trait RemotePlace: Send + Sync + Sized + 'static {
    /// The word of its targets.
    const KIND: &'static str;
    /// What its volumes belong to, in messages.
    const OWNERS: &'static str;
    /// Work on several volumes is done at the same time, so that one that does not answer holds up no other.
    const PARALLEL: bool;
    /// What identifies a directory that was made.
    type Made;

    /// Number of volumes.
    fn volume_count(&self) -> usize;

    /// One of them.
    fn volume(&self, number: usize) -> Volume;

    /// What the target names.
    fn settings(&self) -> Settings<'_>;

    /// What may help against an error of a server; none if nothing is known.
    fn hint(errno: i32) -> Option<&'static str>;

    /// Makes root and directory in a volume. `alone`: no other process makes the same directory. `made` has the directories
    /// that were made in other volumes, with their numbers. Returns none if the directory was there.
    fn prepare_volume(
        &self,
        volume: usize,
        alone: bool,
        made: &[(usize, Self::Made)],
    ) -> Result<Option<Self::Made>, SetupError>;

    /// Makes all directories below these top directories that are not there yet.
    fn make_trees(&self, volume: usize, forest: &Forest, tops: &[u32]) -> Result<(), SetupError>;

    /// Makes the files that are missing, and empties the others if `empty`. Only plain files are emptied.
    fn make_files(&self, volume: usize, files: &[u32], empty: bool) -> Result<(), SetupError>;

    /// Removes names in the job's directory, whatever they are, then the directory if it is empty. What is not there is
    /// no error.
    fn remove_folder(&self, volume: usize, names: &[String]) -> Result<(), SetupError>;

    /// Opens a lane on a file.
    fn file_lane(self: Arc<Self>, file: u32, setup: LaneSetup) -> Box<dyn Lane>;

    /// Opens a lane on names in a tree.
    fn tree_lane(self: Arc<Self>, forest: Arc<Forest>, setup: LaneSetup) -> Box<dyn Lane>;

    /// Number of the volume that a lane uses.
    fn volume_of(&self, lane: u32) -> usize {
        lane as usize % self.volume_count()
    }

    /// Bytes of a READ and of a WRITE.
    fn sizes(&self, volume: usize) -> (u32, u32) {
        let least = |wanted: u64, limit: u32| wanted.clamp(1, u64::from(limit)) as u32;
        let ((read, write), limits) = (self.settings().sizes, self.volume(volume).limits);
        (least(read, limits.0), least(write, limits.1))
    }

    /// Path of the root, for messages.
    fn root_path(&self, volume: usize) -> String {
        format!("{}/{}", self.volume(volume).path, self.settings().root)
    }

    /// Path of the job's directory, for messages.
    fn folder_path(&self, volume: usize) -> String {
        format!("{}/{}", self.root_path(volume), self.settings().directory)
    }

    /// An error of a server, with what may help.
    fn error(&self, action: &'static str, object: String, fault: Fault) -> SetupError {
        let words = fault_message(fault);
        let message = match as_errno(fault) {
            Some(libc::ETIMEDOUT) => format!("{words}: no answer for {} s", self.settings().timeout_ns as f64 / 1e9),
            errno => match errno.and_then(Self::hint) {
                Some(hint) => format!("{words}: {hint}"),
                None => words,
            },
        };
        SetupError::new(action, object, message).because(fault)
    }

    /// Something that was to be removed is still there.
    fn removal_error(&self, path: String, left: &Unremoved) -> SetupError {
        if left.is_foreign {
            return SetupError::new("remove", path, FOREIGN);
        }
        self.error("remove", path, left.fault)
    }

    /// Makes root and directory in each volume. `alone`: no other process makes the same directory.
    fn prepare(&self, alone: bool) -> Result<(), SetupError> {
        let mut made = Vec::new();
        let outcome = (0..self.volume_count()).try_for_each(|volume| {
            let new = self.prepare_volume(volume, alone, &made)?;
            made.extend(new.map(|new| (volume, new)));
            Ok(())
        });
        if outcome.is_err() {
            // What is not empty any more belongs to others.
            for (volume, _) in made {
                let _ = self.remove_folder(volume, &[]);
            }
        }
        outcome
    }
}

/// What can be done at a place.
pub fn capabilities<P: RemotePlace>(place: &P) -> BackendCapabilities {
    let mut limits = vec!["no cache on this side, but the server's cannot be bypassed or emptied".to_owned()];
    let mut found = files_by_protocol(P::KIND);
    if place.volume_count() > 1 {
        found.layouts = vec![Layout::Separate];
        limits.push(format!("no shared file: the {} do not share files", P::OWNERS));
    }
    let wanted = place.settings().sizes;
    let volumes = (0..place.volume_count()).map(|number| (place.sizes(number), place.volume(number)));
    let free_bytes = volumes.map(|(sizes, volume)| {
        let short = |what, size, wanted, limit| {
            let words = || format!("{}: {what} {size}, as the server takes no more than {limit}", volume.name);
            (u64::from(size) < wanted).then(words)
        };
        limits.extend(short("rsize", sizes.0, wanted.0, volume.limits.0));
        limits.extend(short("wsize", sizes.1, wanted.1, volume.limits.1));
        limits.extend(volume.remarks);
        volume.free_bytes
    });
    let free_bytes = free_bytes.min();
    found.place = Some(PlaceCapabilities {
        path: place.root_path(0),
        filesystem: P::KIND.to_owned(),
        free_bytes,
        limits,
        absent: String::new(),
    });
    found
}

/// The error of a root without the mark.
pub fn unmarked(path: String) -> SetupError {
    let message =
        format!("is there without {MARKER}: only a directory that Assay has made is written to, name another");
    SetupError::new("open", path, message)
}
