//! Reads a whole trace before it is replayed: whether it can be, which files it begins with, and how much of it there is.

use crate::files::{FileInfo, Ids, NONE};
use crate::handles::Handles;
use crate::record::{Action, FileKind, Operation, Record};
use crate::trace::Trace;
use assay_core::{heartbeat, SetupError};
use assay_spec::RecordedOps;
use std::collections::HashMap;
use std::io::BufRead;

/// Most tasks that run at a time: each is a thread of the replay.
const MAX_LIVE: usize = 4096;
/// Lines between two looks whether the job is to stop.
const LINES_PER_LOOK: u64 = 1 << 16;

/// What is known of a trace as a whole.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) files: Vec<FileInfo>,
    pub(crate) file_ids: Ids,
    pub(crate) tasks: u32,
    /// Most tasks that had begun and not ended at a time.
    pub(crate) max_live: usize,
    /// End of the last operation.
    pub(crate) recorded_ns: u64,
    /// What was recorded, by number of the action.
    pub(crate) recorded: [RecordedOps; Action::ALL.len()],
    /// Bytes at most by which files are longer than at the beginning, together.
    pub(crate) max_growth: u64,
}

/// A task while the trace is read.
#[derive(Debug, Clone, Copy)]
struct Running {
    number: u32,
    has_ended: bool,
}

/// Reads the records of a trace in their order.
#[derive(Default)]
struct Reading {
    survey: Survey,
    tasks: HashMap<u64, Running>,
    live: usize,
    last_start: u64,
    handles: Handles,
    growth: Growth,
}

/// By how much files are longer than when the trace began.
#[derive(Default)]
struct Growth {
    of_file: Vec<u64>,
    now: u64,
    most: u64,
}

impl Growth {
    fn set(&mut self, file: u32, bytes: u64) {
        let before = std::mem::replace(&mut self.of_file[file as usize], bytes);
        self.now = self.now.saturating_sub(before).saturating_add(bytes);
        self.most = self.most.max(self.now);
    }

    /// Note an operation that has succeeded on files of these sizes at the beginning.
    fn note(&mut self, operation: &Operation, (file, size): (u32, u64), other: u32) {
        let end = operation.offset.saturating_add(operation.result as u64);
        match operation.action {
            Action::Write => self.set(file, self.of_file[file as usize].max(end.saturating_sub(size))),
            Action::Truncate => self.set(file, self.of_file[file as usize].min(operation.length.saturating_sub(size))),
            Action::Open if operation.flags.truncate => self.set(file, 0),
            Action::Unlink => self.set(file, 0),
            Action::Rename => {
                let moved = self.of_file[file as usize];
                self.set(file, 0);
                self.set(other, moved);
            }
            _ => {}
        }
    }
}

/// Read a trace to its end.
///
/// # Errors
/// The first line that is damaged or contradicts those before it.
pub(crate) fn survey<R: BufRead>(trace: &mut Trace<R>) -> Result<Survey, SetupError> {
    let mut reading = Reading::default();
    while let Some(record) = trace.next()? {
        if let Err(why) = reading.take(record) {
            return Err(trace.error(why));
        }
        if trace.number().is_multiple_of(LINES_PER_LOOK) {
            heartbeat::beat();
            if heartbeat::stopping_ns().is_some() {
                return Err(trace.error("stopped"));
            }
        }
    }
    if reading.tasks.is_empty() {
        return Err(trace.error("the trace has no task"));
    }
    Ok(reading.finish())
}

impl Reading {
    fn take(&mut self, record: Record<'_>) -> Result<(), String> {
        match record {
            Record::File { id, kind, size, name } => {
                self.survey.file_ids.add(id, self.survey.files.len() as u32)?;
                self.survey.files.push(FileInfo::new(kind, size, &name));
                self.growth.of_file.push(0);
                Ok(())
            }
            Record::Task { id, start, .. } => self.task(id, start),
            Record::End { id } => {
                self.running(id)?.has_ended = true;
                let number = self.running_number(id);
                self.handles.end(number);
                self.live -= 1;
                Ok(())
            }
            Record::Operation(operation) => self.operation(&operation),
            Record::Wait { task, on } => {
                self.running(task)?;
                let other = self.tasks.get(&on).ok_or_else(|| unknown("task", on))?;
                if other.has_ended {
                    return Ok(());
                }
                Err(format!("task {task} has waited for task {on}, which has not ended yet"))
            }
        }
    }

    fn task(&mut self, id: u64, start: u64) -> Result<(), String> {
        self.in_order(start)?;
        let number = self.survey.tasks;
        if self.tasks.insert(id, Running { number, has_ended: false }).is_some() {
            return Err(format!("task {id} begins for the second time"));
        }
        self.survey.tasks += 1;
        self.live += 1;
        self.survey.max_live = self.survey.max_live.max(self.live);
        if self.live > MAX_LIVE {
            return Err(format!("more than {MAX_LIVE} tasks run at a time"));
        }
        Ok(())
    }

    /// A task that has begun and not ended.
    fn running(&mut self, id: u64) -> Result<&mut Running, String> {
        match self.tasks.get_mut(&id) {
            None => Err(unknown("task", id)),
            Some(task) if task.has_ended => Err(format!("task {id} has ended before")),
            Some(task) => Ok(task),
        }
    }

    fn running_number(&self, id: u64) -> u32 {
        self.tasks.get(&id).map_or(NONE, |task| task.number)
    }

    fn in_order(&mut self, start: u64) -> Result<(), String> {
        if start < self.last_start {
            return Err(format!("starts at {start} ns, before the line above it at {} ns", self.last_start));
        }
        self.last_start = start;
        Ok(())
    }

    fn operation(&mut self, operation: &Operation) -> Result<(), String> {
        self.in_order(operation.start)?;
        let task = self.running(operation.task)?.number;
        let file = self.survey.file_ids.get(operation.file).ok_or_else(|| unknown("file", operation.file))?;
        let other = match operation.other {
            Some(id) => self.survey.file_ids.get(id).ok_or_else(|| unknown("file", id))?,
            None => NONE,
        };
        let end = operation.start.saturating_add(operation.duration);
        self.survey.recorded_ns = self.survey.recorded_ns.max(end);
        self.count(operation);
        if operation.result >= 0 {
            let size = self.survey.files[file as usize].size.unwrap_or(0);
            self.growth.note(operation, (file, size), other);
        }
        self.note_handles(operation, file, task);
        note(&mut self.survey.files[file as usize], operation, task);
        if other != NONE {
            let other = &mut self.survey.files[other as usize];
            other.touch(task);
            other.changes = true;
            // What appears by a rename was not there before.
            other.is_decided |= operation.result >= 0;
        }
        Ok(())
    }

    fn count(&mut self, operation: &Operation) {
        let recorded = &mut self.survey.recorded[operation.action as usize];
        recorded.count += 1;
        recorded.recorded_ns = recorded.recorded_ns.saturating_add(operation.duration);
        if operation.action.moves_bytes() && operation.result > 0 {
            recorded.bytes = recorded.bytes.saturating_add(operation.result as u64);
        }
    }

    fn note_handles(&mut self, operation: &Operation, file: u32, task: u32) {
        if operation.action == Action::Open {
            if operation.result >= 0 {
                self.handles.open(file, task, operation.flags.write);
            }
        } else if operation.action.on_open_file() {
            let borrowed = self.handles.get(file, task).is_some_and(|opened| opened.task != task);
            self.survey.files[file as usize].is_borrowed |= borrowed;
            if operation.action == Action::Close {
                self.handles.close(file, task);
            }
        }
    }

    /// Link files to their directories.
    fn finish(mut self) -> Survey {
        self.survey.max_growth = self.growth.most;
        let files = &mut self.survey.files;
        let folders: HashMap<Box<[u8]>, u32> = files
            .iter()
            .enumerate()
            .filter(|(_, file)| file.kind == FileKind::Directory)
            .map(|(number, file)| (Box::from(file.name.to_bytes()), number as u32))
            .collect();
        for number in 0..files.len() {
            let Some(folder) = folder_of(files[number].name.to_bytes()) else { continue };
            let Some(parent) = folders.get(folder).copied() else { continue };
            files[number].parent = parent;
            let (touched, was_there) = (files[number].touched(), files[number].existed || files[number].is_decided);
            let parent = &mut files[parent as usize];
            parent.touch_as(touched);
            if was_there && !parent.is_decided {
                (parent.existed, parent.is_decided) = (true, true);
            }
        }
        self.survey
    }
}

/// Path of the directory that a file is in; None for the top.
pub(crate) fn folder_of(name: &[u8]) -> Option<&[u8]> {
    if name == b"." {
        return None;
    }
    Some(name.iter().rposition(|byte| *byte == b'/').map_or(b".".as_slice(), |end| &name[..end]))
}

fn unknown(what: &str, id: u64) -> String {
    format!("{what} {id} is in no line before this one")
}

/// Note what an operation says of a file.
fn note(file: &mut FileInfo, operation: &Operation, task: u32) {
    file.touch(task);
    let action = operation.action;
    file.changes |= matches!(action, Action::Mkdir | Action::Rmdir | Action::Unlink | Action::Rename);
    let found_one = action == Action::Mkdir && operation.result == -i64::from(libc::EEXIST);
    if (operation.result >= 0 || found_one) && !file.is_decided {
        file.is_decided = true;
        file.existed = file.kind == FileKind::Directory && (action != Action::Mkdir || found_one);
    }
    if let Some(size) = file.size.filter(|_| action.moves_bytes()) {
        file.used_bytes = file.used_bytes.max(operation.offset.saturating_add(operation.length).min(size));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{packed, HEADER};

    fn of(lines: &str) -> Result<Survey, String> {
        let text = lines.replace(' ', "\t");
        let bytes = packed(&format!("{HEADER}\n{text}\n"));
        let mut trace = Trace::new("t", bytes.as_slice()).unwrap();
        survey(&mut trace).map_err(|error| error.to_string())
    }

    #[test]
    fn what_contradicts_itself_is_refused_with_its_line() {
        let cases = [
            ("T 1 - 0\nO 5 1 1 stat 1 - - 0 -", "line 3: file 1 is in no line before"),
            ("F 1 f 5 a\nO 5 1 1 stat 1 - - 0 -", "line 3: task 1 is in no line before"),
            ("F 1 f 5 a\nF 1 f 5 b", "line 3: id 1 is there for the second time"),
            ("T 1 - 0\nT 1 - 5", "line 3: task 1 begins for the second time"),
            ("T 1 - 0\nE 1 5\nE 1 6", "line 4: task 1 has ended before"),
            ("T 1 - 5\nT 2 1 4", "line 3: starts at 4 ns, before"),
            ("T 1 - 0\nT 2 1 0\nW 1 2", "line 4: task 1 has waited for task 2, which has not ended yet"),
            ("T 1 - 0\nW 1 1", "line 3: task 1 has waited for task 1"),
            ("T 1 - 0\nF 1 f - a\nO 1 1 1 rename 1 - - 0 >2", "line 4: file 2 is in no line before"),
            ("F 1 f 5 a", "no task"),
        ];
        for (lines, why) in cases {
            let error = of(lines).expect_err(why);
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn directories_were_there_if_nothing_made_them() {
        let made = "F 1 d - new\nF 2 d - old\nF 3 f - old/a\nF 4 f 5 deep/er/b\nF 5 d - moved\nF 6 d - gone\nT 1 - 0\n";
        let done = "O 1 1 1 stat 1 - - -ENOENT -\nO 2 1 1 mkdir 1 - - 0 -\nO 3 1 1 open 3 - - 0 wc\n\
                    O 4 1 1 rename 2 - - 0 >5\nO 5 1 1 stat 6 - - -ENOENT -";
        let found = of(&format!("{made}{done}")).unwrap();
        let existed: Vec<bool> = found.files.iter().map(|file| file.existed).collect();
        assert_eq!(existed, [false, true, false, true, false, false]);
        assert_eq!((found.files[2].parent, found.files[0].parent), (1, NONE));
    }

    #[test]
    fn files_are_laid_out_as_far_as_they_are_used() {
        let lines = "F 1 f 100000 a\nT 1 - 0\nO 1 1 1 read 1 4096 8192 8192 -\nO 2 1 1 write 1 500000 10 10 -";
        assert_eq!(of(lines).unwrap().files[0].used_bytes, 100_000);
        let lines = "F 1 f 100000 a\nT 1 - 0\nO 1 1 1 read 1 4096 8192 8192 -";
        assert_eq!(of(lines).unwrap().files[0].used_bytes, 12_288);
    }

    #[test]
    fn space_is_that_of_the_moment_with_most() {
        let lines =
            "F 1 f 100 a\nF 2 f - b\nF 3 f - c\nT 1 - 0\nO 1 1 1 write 1 50 80 80 -\nO 2 1 1 write 2 0 1000 1000 -\n\
                     O 3 1 1 rename 2 - - 0 >3\nO 4 1 1 unlink 3 - - 0 -\nO 5 1 1 write 2 0 500 500 -\n\
                     O 6 1 1 write 2 9000 5 -ENOSPC -";
        assert_eq!(of(lines).unwrap().max_growth, 30 + 1000);
    }

    #[test]
    fn tasks_and_times_are_counted() {
        let lines =
            "F 1 f 5 a\nT 1 - 0\nT 2 1 5\nO 6 9 2 open 1 - - 0 r\nO 7 2 1 read 1 0 5 5 -\nE 2 9\nT 3 1 9\nE 3 9";
        let found = of(lines).unwrap();
        assert_eq!((found.tasks, found.max_live, found.recorded_ns), (3, 2, 15));
        let read = found.recorded[Action::Read as usize];
        assert_eq!((found.recorded[Action::Open as usize].recorded_ns, read.recorded_ns), (9, 2));
        assert_eq!((read.count, read.bytes), (1, 5));
        assert!(found.files[0].is_shared && found.files[0].is_borrowed);
    }
}
