//! The files of a trace, by number.

use crate::record::FileKind;
use std::ffi::{CStr, CString};

/// A number in a table that stands for none.
pub(crate) const NONE: u32 = u32::MAX;
/// Greatest id: they are counted from 1.
const MAX_ID: u64 = 1 << 27;

/// Numbers in a table, by id in the trace.
#[derive(Debug, Default)]
pub(crate) struct Ids(Vec<u32>);

impl Ids {
    /// The number of an id.
    pub(crate) fn get(&self, id: u64) -> Option<u32> {
        self.0.get(id as usize).copied().filter(|number| *number != NONE)
    }

    /// Give an id its number.
    ///
    /// # Errors
    /// If it has one, or is too great.
    pub(crate) fn add(&mut self, id: u64, number: u32) -> Result<(), String> {
        if id > MAX_ID {
            return Err(format!("id {id} is too great: ids are counted from 1"));
        }
        if self.0.len() <= id as usize {
            self.0.resize(id as usize + 1, NONE);
        }
        match &mut self.0[id as usize] {
            known if *known != NONE => Err(format!("id {id} is there for the second time")),
            unknown => {
                *unknown = number;
                Ok(())
            }
        }
    }
}

/// What is known of a file before the trace is replayed.
#[derive(Debug)]
pub(crate) struct FileInfo {
    /// Path below the copy's directory.
    pub(crate) name: Box<CStr>,
    pub(crate) kind: FileKind,
    /// Bytes when the trace began; None if it did not exist.
    pub(crate) size: Option<u64>,
    /// It was there when the trace began.
    pub(crate) existed: bool,
    /// Some operation on it has succeeded, which says whether it was there before.
    pub(crate) is_decided: bool,
    /// End of the bytes that are read or written, of those that it had at the beginning.
    pub(crate) used_bytes: u64,
    /// The first task that has to do with it, and whether there are others.
    first_task: u32,
    pub(crate) is_shared: bool,
    /// Some task has used what another task has opened.
    pub(crate) is_borrowed: bool,
    /// A directory that is made, removed or renamed.
    pub(crate) changes: bool,
    /// Its directory, if that is in the table.
    pub(crate) parent: u32,
}

impl FileInfo {
    /// A file; the name has no zero bytes.
    pub(crate) fn new(kind: FileKind, size: Option<u64>, name: &[u8]) -> Self {
        let existed = size.is_some() && kind == FileKind::File;
        FileInfo {
            name: CString::new(name).unwrap_or_default().into_boxed_c_str(),
            kind,
            size: size.filter(|_| existed),
            existed,
            is_decided: existed,
            used_bytes: 0,
            first_task: NONE,
            is_shared: false,
            is_borrowed: false,
            changes: false,
            parent: NONE,
        }
    }

    /// Note that a task has to do with it.
    pub(crate) fn touch(&mut self, task: u32) {
        if self.first_task == NONE {
            self.first_task = task;
        }
        self.is_shared |= self.first_task != task;
    }

    /// Note the same tasks as for another file.
    pub(crate) fn touch_as(&mut self, other: (u32, bool)) {
        if other.0 != NONE {
            self.touch(other.0);
        }
        self.is_shared |= other.1;
    }

    /// The tasks that have to do with it: the first, and whether there are others.
    pub(crate) fn touched(&self) -> (u32, bool) {
        (self.first_task, self.is_shared)
    }

    /// Its name, for messages.
    pub(crate) fn shown(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_number() {
        let mut ids = Ids::default();
        assert_eq!((ids.add(7, 0), ids.add(2, 1)), (Ok(()), Ok(())));
        assert_eq!((ids.get(7), ids.get(2), ids.get(3), ids.get(99)), (Some(0), Some(1), None, None));
        assert!(ids.add(7, 2).is_err() && ids.add(1 << 40, 3).is_err());
    }

    #[test]
    fn a_file_of_two_tasks_is_shared() {
        let mut file = FileInfo::new(FileKind::File, Some(5), b"a");
        file.touch(3);
        file.touch(3);
        assert!(!file.is_shared);
        let mut folder = FileInfo::new(FileKind::Directory, None, b".");
        folder.touch_as((NONE, false));
        folder.touch_as(file.touched());
        assert_eq!(folder.touched(), (3, false));
        folder.touch(4);
        assert_eq!(folder.touched(), (3, true));
    }
}
