//! Tasks of a trace, and the threads that execute them. What stands next in the trace can always be executed: its task
//! has a thread, and waits only for what stands before. So the reader may stop at any place until there is room.

use crate::files::NONE;
use crate::order::Needs;
use crate::progress::{Progress, LOOK};
use crate::record::{Action, OpenFlags};
use assay_core::SetupError;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Most operations that were read and have not ended.
const MAX_READ: usize = 32 << 10;
/// Tasks that may have ended in the trace and still run, besides those that run in the trace at the same time.
const MAX_BEHIND: usize = 64;

/// An operation as a task executes it.
#[derive(Debug)]
pub(crate) struct Step {
    /// Recorded start.
    pub(crate) start: u64,
    pub(crate) line: u64,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) result: i64,
    pub(crate) file: u32,
    pub(crate) other: u32,
    pub(crate) action: Action,
    pub(crate) flags: OpenFlags,
    pub(crate) needs: Needs,
}

/// What a task does next.
#[derive(Debug)]
pub(crate) enum Item {
    Step(Step),
    /// Wait for the end of another task.
    Wait(Arc<Task>),
    /// Let another task begin.
    Start(Arc<Task>),
    /// Close all that is open, and end.
    End(Needs),
}

/// A task of the trace.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) number: u32,
    items: Mutex<Vec<Item>>,
    more: Condvar,
    has_ended: AtomicBool,
}

impl Task {
    pub(crate) fn new(number: u32) -> Arc<Self> {
        Arc::new(Task { number, items: Mutex::default(), more: Condvar::new(), has_ended: AtomicBool::new(false) })
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    fn add(&self, items: &mut Vec<Item>) {
        self.items.lock().unwrap_or_else(PoisonError::into_inner).append(items);
        self.more.notify_one();
    }

    /// Move all that is to do next into `items`, which is empty; false if the replay is to stop.
    pub(crate) fn take(&self, items: &mut Vec<Item>, stop: &AtomicBool) -> bool {
        let mut found = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        while found.is_empty() {
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            found = self.more.wait_timeout(found, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        std::mem::swap(&mut *found, items);
        !stop.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
struct Board {
    /// Operations that were read and have not ended.
    read: usize,
    /// Tasks that were read and have not ended.
    tasks: usize,
    /// Tasks that may begin.
    ready: VecDeque<Arc<Task>>,
    /// Threads without a task.
    idle: usize,
    /// No task will begin any more.
    is_over: bool,
}

/// What the reader and the threads of a copy have in common.
#[derive(Debug)]
pub(crate) struct Crew {
    board: Mutex<Board>,
    /// There is room for the reader, or a task has ended.
    changed: Condvar,
    /// A task is ready, or all is over.
    work: Condvar,
    max_tasks: usize,
    pub(crate) stop: AtomicBool,
    /// Monotonic time at which the trace's time begins.
    begin: AtomicU64,
    pub(crate) progress: Progress,
    /// Why the replay has stopped before its end.
    failure: Mutex<Option<SetupError>>,
}

impl Crew {
    /// For a trace with this many files, and tasks at a time.
    pub(crate) fn new(files: usize, max_live: usize) -> Self {
        Crew {
            board: Mutex::default(),
            changed: Condvar::new(),
            work: Condvar::new(),
            max_tasks: max_live + MAX_BEHIND,
            stop: AtomicBool::new(false),
            begin: AtomicU64::new(0),
            progress: Progress::new(files),
            failure: Mutex::default(),
        }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Stop the replay because of an error.
    pub(crate) fn fail(&self, error: SetupError) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.end();
    }

    /// Why it has failed.
    pub(crate) fn failure(&self) -> Option<SetupError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Have all threads end as soon as they can.
    pub(crate) fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.finish();
    }

    /// Say that no task will begin any more.
    pub(crate) fn finish(&self) {
        self.board().is_over = true;
        self.work.notify_all();
        self.changed.notify_all();
    }

    /// Monotonic time at which the trace's time begins.
    pub(crate) fn begin(&self) -> u64 {
        self.begin.load(Ordering::Acquire)
    }

    /// Set it, unless it is set.
    pub(crate) fn begin_at(&self, now: u64) {
        let _ = self.begin.compare_exchange(0, now, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Wait until `is_over` of the board; false if the replay is to stop.
    fn wait(&self, is_over: impl Fn(&Board) -> bool) -> bool {
        let mut board = self.board();
        while !is_over(&board) {
            if self.is_stopping() {
                return false;
            }
            board = self.changed.wait_timeout(board, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        !self.is_stopping()
    }

    /// Give a task what it does next.
    pub(crate) fn add(&self, task: &Task, items: &mut Vec<Item>) {
        self.board().read += items.len();
        task.add(items);
    }

    /// Wait until more may be read.
    pub(crate) fn wait_for_room(&self) -> bool {
        self.wait(|board| board.read < MAX_READ)
    }

    /// Wait until another task may be read, and count it.
    pub(crate) fn wait_for_task(&self) -> bool {
        let may = self.wait(|board| board.tasks < self.max_tasks);
        self.board().tasks += 1;
        may
    }

    /// Wait a moment for the end of all tasks; true if they have ended, or the replay stops.
    pub(crate) fn is_over(&self) -> bool {
        let over = |board: &Board| self.is_stopping() || (board.is_over && board.tasks == 0);
        let board = self.board();
        if over(&board) {
            return true;
        }
        over(&self.changed.wait_timeout(board, LOOK).unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Wait until a task has ended; false if the replay is to stop.
    pub(crate) fn wait_for(&self, task: &Task) -> bool {
        task.has_ended() || self.wait(|_| task.has_ended())
    }

    /// Count items that were executed.
    pub(crate) fn executed(&self, items: usize) {
        let mut board = self.board();
        let was_full = board.read >= MAX_READ;
        board.read -= items;
        if was_full && board.read < MAX_READ {
            self.changed.notify_all();
        }
    }

    /// Let a task begin; true if it needs another thread.
    pub(crate) fn start(&self, task: Arc<Task>) -> bool {
        let mut board = self.board();
        board.ready.push_back(task);
        let needs_thread = board.ready.len() > board.idle;
        drop(board);
        self.work.notify_one();
        needs_thread
    }

    /// The next task of a thread; None at the end of all.
    pub(crate) fn next_task(&self) -> Option<Arc<Task>> {
        let mut board = self.board();
        loop {
            if self.is_stopping() {
                return None;
            }
            if let Some(task) = board.ready.pop_front() {
                return Some(task);
            }
            if board.is_over {
                return None;
            }
            board.idle += 1;
            board = self.work.wait(board).unwrap_or_else(PoisonError::into_inner);
            board.idle -= 1;
        }
    }

    /// Note that a task has ended.
    pub(crate) fn task_ended(&self, task: &Task) {
        task.has_ended.store(true, Ordering::Release);
        self.board().tasks -= 1;
        self.changed.notify_all();
    }
}

impl Step {
    /// Its second file, if it has one.
    pub(crate) fn other(&self) -> Option<u32> {
        (self.other != NONE).then_some(self.other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_is_ready_goes_to_an_idle_thread_or_needs_one() {
        let crew = Crew::new(0, 1);
        assert!(crew.start(Task::new(0)));
        assert_eq!(crew.next_task().map(|task| task.number), Some(0));
        crew.finish();
        assert!(crew.next_task().is_none());
    }

    /// The reader waits while too much has been read, and goes on when something has ended.
    #[test]
    fn there_is_room_again_when_operations_have_ended() {
        let crew = Crew::new(0, 1);
        let task = Task::new(0);
        let mut items: Vec<Item> = (0..MAX_READ).map(|_| Item::End(None)).collect();
        crew.add(&task, &mut items);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| crew.wait_for_room());
            let mut taken = Vec::new();
            assert!(task.take(&mut taken, &crew.stop) && taken.len() == MAX_READ);
            crew.executed(taken.len());
            assert!(reader.join().unwrap());
        });
    }

    #[test]
    fn a_stop_ends_every_wait() {
        let crew = Crew::new(0, 1);
        let task = Task::new(0);
        let waits: [&(dyn Fn() -> bool + Sync); 3] =
            [&|| crew.wait_for(&task), &|| task.take(&mut Vec::new(), &crew.stop), &|| crew.next_task().is_some()];
        std::thread::scope(|scope| {
            let all: Vec<_> = waits.into_iter().map(|wait| scope.spawn(wait)).collect();
            crew.fail(SetupError::new("read", "trace", "why"));
            assert!(all.into_iter().all(|one| !one.join().unwrap()));
        });
        assert_eq!(crew.failure().map(|error| error.message), Some("why".to_owned()));
    }
}
