//! Which tasks have which files open, as the trace tells.

use crate::ids::ById;

/// A file that a task has opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) task: u32,
    pub(crate) is_writable: bool,
}

/// All that is open at a point of the trace.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    by_file: ById<u32, Vec<Opened>>,
    by_task: ById<u32, Vec<u32>>,
}

impl Handles {
    pub(crate) fn open(&mut self, file: u32, task: u32, is_writable: bool) {
        self.by_file.entry(file).or_default().push(Opened { task, is_writable });
        self.by_task.entry(task).or_default().push(file);
    }

    /// What operations of a task on a file would use: what it has opened itself, else what others have.
    pub(crate) fn get(&self, file: u32, task: u32) -> Option<Opened> {
        let opened = self.by_file.get(&file)?;
        opened.iter().rev().find(|one| one.task == task).or(opened.last()).copied()
    }

    /// Close what `get` returns.
    pub(crate) fn close(&mut self, file: u32, task: u32) {
        let Some(found) = self.get(file, task) else { return };
        if let Some(files) = self.by_task.get_mut(&found.task) {
            // What was opened last is closed first, mostly.
            if let Some(place) = files.iter().rposition(|one| *one == file) {
                files.swap_remove(place);
            }
        }
        self.forget(file, found.task);
    }

    fn forget(&mut self, file: u32, task: u32) {
        if let Some(opened) = self.by_file.get_mut(&file) {
            if let Some(place) = opened.iter().rposition(|one| one.task == task) {
                opened.remove(place);
            }
            if opened.is_empty() {
                self.by_file.remove(&file);
            }
        }
    }

    /// Forget a task that has ended; returns the files that it had open for writing.
    pub(crate) fn end(&mut self, task: u32) -> Vec<u32> {
        let mut written = Vec::new();
        for file in self.by_task.remove(&task).unwrap_or_default() {
            if self.get(file, task).is_some_and(|opened| opened.is_writable) && !written.contains(&file) {
                written.push(file);
            }
            self.forget(file, task);
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_uses_its_own_first() {
        let mut handles = Handles::default();
        assert_eq!(handles.get(1, 7), None);
        handles.open(1, 7, true);
        handles.open(1, 8, false);
        assert_eq!(handles.get(1, 7).map(|one| one.task), Some(7));
        assert_eq!(handles.get(1, 9).map(|one| one.task), Some(8));
        handles.close(1, 7);
        assert_eq!(handles.get(1, 7).map(|one| one.task), Some(8));
        handles.close(1, 7);
        assert_eq!(handles.get(1, 7), None);
        handles.close(1, 7);
    }

    #[test]
    fn what_a_task_leaves_open_goes_with_it() {
        let mut handles = Handles::default();
        handles.open(1, 7, true);
        handles.open(2, 7, false);
        handles.open(1, 8, false);
        assert_eq!(handles.end(7), [1]);
        assert_eq!((handles.get(2, 7), handles.get(1, 7).map(|one| one.task)), (None, Some(8)));
        assert!(handles.end(7).is_empty());
    }
}
