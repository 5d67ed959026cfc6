//! What an operation must wait for so that files are as they were when it was recorded: by operations of other tasks on
//! the same files, in the order of the trace. Operations that only use a file run side by side; one that changes what is
//! there under a name waits for all before it, and all behind it wait for it. So each waits only for what stands before
//! it in the trace.

use crate::files::{FileInfo, NONE};
use crate::handles::Handles;
use crate::record::{Action, Operation};

/// What is to be waited for, of the operations on a file before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Those that change something.
    Changes,
    /// All.
    All,
    /// Those that change something, and those that open it.
    Opens,
}

/// An operation's place in the order of those on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) file: u32,
    pub(crate) after: After,
    /// Counts of the operations before it.
    pub(crate) before: Counts,
    /// It changes something.
    pub(crate) changes: bool,
    /// It opens the file.
    pub(crate) opens: bool,
}

/// Numbers of operations on a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) all: u32,
    pub(crate) changes: u32,
    pub(crate) opens: u32,
}

/// The places of an operation, on each of its files; None if no other task has to do with them.
pub(crate) type Needs = Option<Box<[Need]>>;

/// Gives operations their places, in the order of the trace.
pub(crate) struct Order<'a> {
    files: &'a [FileInfo],
    handles: Handles,
    counts: Vec<Counts>,
}

impl<'a> Order<'a> {
    pub(crate) fn new(files: &'a [FileInfo]) -> Self {
        Order { files, handles: Handles::default(), counts: vec![Counts::default(); files.len()] }
    }

    /// The places of the next operation, which is one of `task` on `file` and, if it has two, on `other`.
    pub(crate) fn next(&mut self, operation: &Operation, task: u32, file: u32, other: u32) -> Needs {
        let mut found = Vec::new();
        let of_several = |number: u32| number != NONE && self.files[number as usize].is_shared;
        let (first, second) = (of_several(file), of_several(other));
        if first {
            let (after, changes) = self.role(operation, task, file);
            found.push(self.place(file, after, changes, operation.action == Action::Open));
        }
        if second {
            found.push(self.place(other, After::All, true, false));
        }
        if !operation.action.on_open_file() {
            let parents = [file, other].map(|number| self.changing_parent(number));
            for (place, parent) in parents.iter().enumerate() {
                let is_new = !parents[..place].contains(parent) && !found.iter().any(|need| need.file == *parent);
                if *parent != NONE && is_new {
                    found.push(self.place(*parent, After::Changes, false, false));
                }
            }
        }
        (!found.is_empty()).then(|| found.into_boxed_slice())
    }

    /// The directory of a file, if several tasks have to do with it and one makes, moves or removes it.
    fn changing_parent(&self, file: u32) -> u32 {
        let parent = if file == NONE { NONE } else { self.files[file as usize].parent };
        let in_question = parent != NONE && {
            let folder = &self.files[parent as usize];
            folder.is_shared && folder.changes
        };
        if in_question {
            parent
        } else {
            NONE
        }
    }

    fn place(&mut self, file: u32, after: After, changes: bool, opens: bool) -> Need {
        let counts = &mut self.counts[file as usize];
        let need = Need { file, after, before: *counts, changes, opens };
        counts.all += 1;
        counts.changes += u32::from(changes);
        counts.opens += u32::from(opens);
        need
    }

    /// What an operation on a shared file waits for, and whether it changes something.
    fn role(&mut self, operation: &Operation, task: u32, file: u32) -> (After, bool) {
        match operation.action {
            Action::Open => {
                if operation.result >= 0 {
                    self.handles.open(file, task, operation.flags.write);
                }
                let changes = operation.flags.changes();
                (if changes { After::All } else { After::Changes }, changes)
            }
            Action::Stat | Action::List => (After::Changes, false),
            Action::Read | Action::Write | Action::Fsync | Action::Fdatasync => {
                let own = self.handles.get(file, task).is_some_and(|opened| opened.task == task);
                (if own { After::Changes } else { After::Opens }, false)
            }
            Action::Close => {
                let opened = self.handles.get(file, task);
                self.handles.close(file, task);
                // Another task opens a file when what was written to it is complete.
                let only_read = opened.is_some_and(|opened| opened.task == task && !opened.is_writable);
                let alone = only_read && !self.files[file as usize].is_borrowed;
                (if alone { After::Changes } else { After::All }, !alone)
            }
            Action::Truncate
            | Action::Mkdir
            | Action::Rmdir
            | Action::Unlink
            | Action::Rename
            | Action::Link
            | Action::Symlink => (After::All, true),
        }
    }

    /// The places of the end of a task, which closes what it has still open.
    pub(crate) fn end(&mut self, task: u32) -> Needs {
        let written = self.handles.end(task);
        let found: Vec<Need> = written.into_iter().map(|file| self.place(file, After::All, true, false)).collect();
        (!found.is_empty()).then(|| found.into_boxed_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{parse, FileKind, Record};

    fn operation(text: &str) -> Operation {
        match parse(text.replace(' ', "\t").as_bytes()) {
            Ok(Record::Operation(operation)) => operation,
            other => panic!("{other:?}"),
        }
    }

    fn file(name: &str, tasks: &[u32]) -> FileInfo {
        let mut file = FileInfo::new(FileKind::File, None, name.as_bytes());
        for task in tasks {
            file.touch(*task);
        }
        file
    }

    #[test]
    fn a_file_of_one_task_has_no_order() {
        let files = [file("a", &[0])];
        let mut order = Order::new(&files);
        assert_eq!(order.next(&operation("O 0 1 1 open 1 - - 0 wc"), 0, 0, NONE), None);
        assert_eq!(order.next(&operation("O 0 1 1 close 1 - - 0 -"), 0, 0, NONE), None);
        assert_eq!(order.end(0), None);
    }

    /// A reader waits until the file is created and closed; two readers do not wait for each other.
    #[test]
    fn readers_wait_for_the_writer_and_not_for_each_other() {
        let files = [file("a", &[0, 1, 2])];
        let mut order = Order::new(&files);
        let mut next = |text: &str, task| {
            let needs = order.next(&operation(text), task, 0, NONE).unwrap();
            (needs[0].after, needs[0].before.all, needs[0].before.changes, needs[0].changes)
        };
        assert_eq!(next("O 0 1 1 open 1 - - 0 wc", 0), (After::All, 0, 0, true));
        assert_eq!(next("O 0 1 1 write 1 0 5 5 -", 0), (After::Changes, 1, 1, false));
        assert_eq!(next("O 0 1 1 close 1 - - 0 -", 0), (After::All, 2, 1, true));
        assert_eq!(next("O 0 1 1 open 1 - - 0 r", 1), (After::Changes, 3, 2, false));
        assert_eq!(next("O 0 1 1 open 1 - - 0 r", 2), (After::Changes, 4, 2, false));
        assert_eq!(next("O 0 1 1 close 1 - - 0 -", 1), (After::Changes, 5, 2, false));
        assert_eq!(next("O 0 1 1 unlink 1 - - 0 -", 0), (After::All, 6, 2, true));
    }

    #[test]
    fn what_another_task_has_opened_must_be_open() {
        let files = [file("a", &[0, 1])];
        let mut order = Order::new(&files);
        order.next(&operation("O 0 1 1 open 1 - - 0 r"), 0, 0, NONE);
        let needs = order.next(&operation("O 0 1 1 read 1 0 5 5 -"), 1, 0, NONE).unwrap();
        assert_eq!((needs[0].after, needs[0].before.opens), (After::Opens, 1));
    }

    #[test]
    fn a_task_that_ends_closes_what_it_has_written() {
        let files = [file("a", &[0, 1]), file("b", &[0, 1])];
        let mut order = Order::new(&files);
        order.next(&operation("O 0 1 1 open 1 - - 0 wc"), 0, 0, NONE);
        order.next(&operation("O 0 1 1 open 2 - - 0 r"), 0, 1, NONE);
        let needs = order.end(0).unwrap();
        assert_eq!((needs.len(), needs[0].file, needs[0].after), (1, 0, After::All));
    }

    /// Names in a directory that another task makes wait for it, and its removal for them.
    #[test]
    fn names_wait_for_their_directory() {
        let mut folder = FileInfo::new(FileKind::Directory, None, b"d");
        (folder.changes, folder.is_shared) = (true, true);
        let mut inside = file("d/a", &[1]);
        inside.parent = 0;
        let files = [folder, inside];
        let mut order = Order::new(&files);
        order.next(&operation("O 0 1 1 mkdir 1 - - 0 -"), 0, 0, NONE);
        let needs = order.next(&operation("O 0 1 1 open 2 - - 0 wc"), 1, 1, NONE).unwrap();
        assert_eq!((needs[0].file, needs[0].after, needs[0].before.changes), (0, After::Changes, 1));
        let needs = order.next(&operation("O 0 1 1 rmdir 1 - - 0 -"), 0, 0, NONE).unwrap();
        assert_eq!((needs[0].after, needs[0].before.all), (After::All, 2));
    }
}
