//! Reads a trace while it is replayed, and gives its operations to their tasks.

use crate::crew::{Crew, Item, Step, Task};
use crate::files::NONE;
use crate::ids::ById;
use crate::order::Order;
use crate::record::{Operation, Record};
use crate::survey::Survey;
use crate::trace::Trace;
use assay_core::{clock, SetupError};
use std::io::BufRead;
use std::sync::Arc;

/// Records that are read before tasks are given what they have to do.
const AT_ONCE: usize = 512;
/// Ended tasks that are kept before those that have also ended in the replay are forgotten.
const PAST_TASKS: usize = 1024;

/// A task that has not ended in the trace.
struct Live {
    task: Arc<Task>,
    items: Vec<Item>,
}

/// What reads the trace.
pub(crate) struct Reader<'a> {
    crew: &'a Crew,
    survey: &'a Survey,
    order: Order<'a>,
    /// Has another thread take tasks.
    more: &'a dyn Fn(),
    live: ById<u64, Live>,
    past: ById<u64, Arc<Task>>,
    /// Tasks that have something to do which they have not got yet.
    waiting: Vec<u64>,
    /// Tasks that begin when it is given out.
    beginning: Vec<Arc<Task>>,
    collected: usize,
    tasks: u32,
    past_limit: usize,
}

/// The file has changed, since what it has was checked before.
const CHANGED: &str = "has changed since the replay has begun";

impl<'a> Reader<'a> {
    pub(crate) fn new(crew: &'a Crew, survey: &'a Survey, more: &'a dyn Fn()) -> Self {
        Reader {
            crew,
            survey,
            order: Order::new(&survey.files),
            more,
            live: ById::default(),
            past: ById::default(),
            waiting: Vec::new(),
            beginning: Vec::new(),
            collected: 0,
            tasks: 0,
            past_limit: PAST_TASKS,
        }
    }

    /// Read a trace to its end, or until the replay stops.
    ///
    /// # Errors
    /// If it has changed since it was surveyed.
    pub(crate) fn read<R: BufRead>(&mut self, trace: &mut Trace<R>) -> Result<(), SetupError> {
        loop {
            let line = trace.number() + 1;
            let Some(record) = trace.next()? else { break };
            let taken = self.take(&record, line);
            if taken.is_none() {
                return Err(trace.error(CHANGED));
            }
            if self.collected >= AT_ONCE {
                self.give();
                if !self.crew.wait_for_room() {
                    return Ok(());
                }
            }
        }
        let mut open: Vec<u64> = self.live.keys().copied().collect();
        open.sort_unstable();
        for id in open {
            self.end(id);
        }
        self.give();
        self.crew.finish();
        Ok(())
    }

    /// Take a record; None if it contradicts those before.
    fn take(&mut self, record: &Record<'_>, line: u64) -> Option<()> {
        match *record {
            Record::File { .. } => {}
            Record::Task { id, parent, .. } => self.begin(id, parent),
            Record::End { id } => {
                self.live.get(&id)?;
                self.end(id);
            }
            Record::Operation(ref operation) => self.operation(operation, line)?,
            Record::Wait { task, on } => {
                if let Some(other) = self.past.get(&on).filter(|other| !other.has_ended()) {
                    let other = Arc::clone(other);
                    self.live.get(&task)?;
                    self.push(task, Item::Wait(other));
                }
            }
        }
        Some(())
    }

    fn push(&mut self, id: u64, item: Item) {
        let Some(live) = self.live.get_mut(&id) else { return };
        if live.items.is_empty() {
            self.waiting.push(id);
        }
        live.items.push(item);
        self.collected += 1;
    }

    fn begin(&mut self, id: u64, parent: Option<u64>) {
        self.give();
        self.crew.wait_for_task();
        let task = Task::new(self.tasks);
        self.tasks += 1;
        match parent.filter(|parent| self.live.contains_key(parent)) {
            Some(parent) => self.push(parent, Item::Start(Arc::clone(&task))),
            None => self.beginning.push(Arc::clone(&task)),
        }
        self.live.insert(id, Live { task, items: Vec::new() });
    }

    fn end(&mut self, id: u64) {
        let Some(number) = self.live.get(&id).map(|live| live.task.number) else { return };
        let needs = self.order.end(number);
        self.push(id, Item::End(needs));
        self.give_one(id);
        self.waiting.retain(|one| *one != id);
        if let Some(live) = self.live.remove(&id) {
            self.past.insert(id, live.task);
        }
        if self.past.len() > self.past_limit {
            self.past.retain(|_, task| !task.has_ended());
            self.past_limit = PAST_TASKS.max(2 * self.past.len());
        }
    }

    fn operation(&mut self, operation: &Operation, line: u64) -> Option<()> {
        let number = self.live.get(&operation.task)?.task.number;
        let file = self.survey.file_ids.get(operation.file)?;
        let other = match operation.other {
            Some(id) => self.survey.file_ids.get(id)?,
            None => NONE,
        };
        let Operation { start, offset, length, result, action, flags, .. } = *operation;
        let needs = self.order.next(operation, number, file, other);
        let step = Step { start, line, offset, length, result, file, other, action, flags, needs };
        self.push(operation.task, Item::Step(step));
        Some(())
    }

    /// Give a task what it has to do.
    fn give_one(&mut self, id: u64) {
        if let Some(live) = self.live.get_mut(&id) {
            self.collected -= live.items.len();
            self.crew.add(&live.task, &mut live.items);
        }
    }

    /// Give all tasks what they have to do, and let those begin that may.
    fn give(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        // A task that has ended in the trace got its operations before, and waits only for its beginning.
        if self.crew.begin() == 0 && !(waiting.is_empty() && self.beginning.is_empty()) {
            self.crew.begin_at(clock::now());
        }
        for id in waiting.drain(..) {
            self.give_one(id);
        }
        self.waiting = waiting;
        for task in self.beginning.drain(..) {
            if self.crew.start(task) {
                (self.more)();
            }
        }
    }
}
