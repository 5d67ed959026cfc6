//! A thread that executes tasks, one after the other.

use crate::calls::Calls;
use crate::copy::CopyRun;
use crate::crew::{Item, Step, Task};
use crate::descriptors::Descriptors;
use crate::order::Need;
use crate::progress::LOOK;
use crate::tally::{Counter, Timed};
use assay_core::clock::{Clock, TimeSource};
use assay_core::{fault_name, os_message};
use assay_spec::Fault;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Operations between two corrections of a thread's clock.
const OPS_PER_ADJUSTMENT: u32 = 4096;

/// What a thread executes tasks with.
pub(crate) struct Worker<'a> {
    run: &'a CopyRun<'a>,
    calls: Calls<'a>,
    counter: Counter<'a>,
    clock: Clock,
    until_adjustment: u32,
    /// Odd during a call.
    pulse: Arc<AtomicU64>,
    beats: u64,
}

/// The name of an errno.
fn named(errno: i32) -> String {
    fault_name(Fault::os(errno)).map_or_else(|| format!("error {errno}"), str::to_owned)
}

/// How an operation differs from what was recorded, in words; None if it does not.
fn difference(step: &Step, result: Result<u64, i32>) -> Option<String> {
    match (result, step.result) {
        (Ok(bytes), recorded) if recorded >= 0 => {
            let same = !step.action.moves_bytes() || bytes == recorded as u64;
            (!same).then(|| format!("{bytes} bytes instead of {recorded}"))
        }
        (Ok(_), recorded) => Some(format!("has succeeded; recorded was {}", named(-recorded as i32))),
        (Err(errno), recorded) if i64::from(errno) == -recorded => None,
        (Err(errno), recorded) => {
            let before = if recorded < 0 { named(-recorded as i32) } else { "success".to_owned() };
            Some(format!("{} ({}); recorded was {before}", named(errno), os_message(errno)))
        }
    }
}

impl<'a> Worker<'a> {
    pub(crate) fn new(run: &'a CopyRun<'a>) -> Self {
        let files = &run.survey.files;
        let descriptors = Descriptors::new(&run.borrowed, files);
        Worker {
            run,
            calls: Calls::new(&run.folder, files, &run.contents, run.maker.of_copy(run.lane), descriptors),
            counter: Counter::new(&run.tally),
            clock: Clock::new(),
            until_adjustment: OPS_PER_ADJUSTMENT,
            pulse: run.new_pulse(),
            beats: 0,
        }
    }

    /// Execute tasks until there are none; `more` has another thread take tasks.
    pub(crate) fn serve(&mut self, more: &dyn Fn()) {
        while let Some(task) = self.run.crew.next_task() {
            self.calls.descriptors.begin(task.number);
            let whole = self.task(&task, more);
            self.calls.descriptors.begin(task.number);
            self.counter.flush();
            if !whole {
                return;
            }
            self.run.crew.task_ended(&task);
        }
    }

    /// Execute a task; false if the replay stops before its end.
    fn task(&mut self, task: &Task, more: &dyn Fn()) -> bool {
        let crew = &self.run.crew;
        let mut items = Vec::new();
        let mut has_ended = false;
        while !has_ended {
            if !task.take(&mut items, &crew.stop) {
                return false;
            }
            let count = items.len();
            for item in items.drain(..) {
                let goes_on = match item {
                    Item::Step(step) => self.step(&step),
                    Item::Wait(on) => crew.wait_for(&on),
                    Item::Start(other) => {
                        if crew.start(other) {
                            more();
                        }
                        true
                    }
                    Item::End(needs) => {
                        has_ended = true;
                        let needs = needs.as_deref().unwrap_or_default();
                        let over = self.wait(needs);
                        self.calls.descriptors.begin(task.number);
                        self.note_end(needs);
                        over
                    }
                };
                if !goes_on {
                    return false;
                }
            }
            crew.executed(count);
        }
        true
    }

    /// Wait for all that stands before; false if the replay is to stop.
    fn wait(&self, needs: &[Need]) -> bool {
        let crew = &self.run.crew;
        needs.iter().all(|need| crew.progress.wait(need, &crew.stop))
    }

    fn note_end(&self, needs: &[Need]) {
        for need in needs {
            self.run.crew.progress.ended(need);
        }
    }

    /// Execute an operation; false if the replay is to stop.
    fn step(&mut self, step: &Step) -> bool {
        let needs = step.needs.as_deref().unwrap_or_default();
        if !self.wait(needs) {
            return false;
        }
        let prepared = self.calls.prepare(step);
        let due = self.run.due(step.start);
        if due.is_some_and(|due| !self.wait_until(due)) || self.run.crew.is_stopping() {
            return false;
        }
        self.beat();
        let start = self.clock.now();
        let mut opened = false;
        let result = match prepared {
            Ok(mut ready) => {
                opened = ready.opened;
                self.calls.execute(step, &mut ready)
            }
            Err(errno) => Err(errno),
        };
        let end = self.clock.now();
        self.beat();
        let wrong = result.ok().and_then(|bytes| self.calls.note(step, bytes));
        self.note_end(needs);
        self.count(step, result, wrong, due, (start, end));
        if opened {
            self.run.tally.opened();
        }
        self.calls.release();
        true
    }

    fn count(
        &mut self,
        step: &Step,
        result: Result<u64, i32>,
        wrong: Option<String>,
        due: Option<u64>,
        (start, end): (u64, u64),
    ) {
        let service = end.saturating_sub(start);
        self.counter.add(Timed {
            action: step.action,
            failed: result.is_err() && step.result < 0,
            bytes: result.ok().filter(|_| step.action.moves_bytes()).unwrap_or(0),
            latency: due.map(|due| end.saturating_sub(due)),
            service,
            end,
        });
        if let Some(message) = difference(step, result).or(wrong) {
            self.run.tally.differs(
                step.line,
                step.action,
                &self.run.survey.files[step.file as usize].shown(),
                &message,
            );
        }
        self.until_adjustment -= 1;
        if self.until_adjustment == 0 {
            self.clock.adjust();
            self.until_adjustment = OPS_PER_ADJUSTMENT;
        }
    }

    fn beat(&mut self) {
        self.beats += 1;
        self.pulse.store(self.beats, Ordering::Relaxed);
    }

    /// Wait until a moment; false if the replay is to stop before it.
    fn wait_until(&mut self, moment: u64) -> bool {
        let look = LOOK.as_nanos() as u64;
        loop {
            let now = self.clock.now();
            if now >= moment {
                return true;
            }
            if self.run.crew.is_stopping() {
                return false;
            }
            if moment - now > look {
                self.clock.adjust();
            }
            self.clock.wait_until(moment.min(now + look));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::NONE;
    use crate::record::{Action, OpenFlags};

    fn step(action: Action, result: i64) -> Step {
        let flags = OpenFlags::default();
        Step { start: 0, line: 1, offset: 0, length: 10, result, file: 0, other: NONE, action, flags, needs: None }
    }

    #[test]
    fn what_fails_as_it_did_is_no_difference() {
        let cases = [
            (Action::Read, 10, Ok(10), None),
            (Action::Read, 10, Ok(5), Some("5 bytes instead of 10")),
            (Action::Read, 0, Ok(0), None),
            (Action::List, 0, Ok(48), None),
            (Action::Open, -2, Err(2), None),
            (Action::Open, -2, Ok(0), Some("has succeeded; recorded was ENOENT")),
            (Action::Open, -2, Err(13), Some("EACCES (Permission denied (EACCES)); recorded was ENOENT")),
            (Action::Open, 0, Err(2), Some("recorded was success")),
        ];
        for (action, recorded, result, words) in cases {
            let found = difference(&step(action, recorded), result);
            match words {
                None => assert_eq!(found, None),
                Some(words) => {
                    let found = found.expect(words);
                    let last = words.rsplit("; ").next().unwrap();
                    assert!(found.contains(last), "{found}");
                }
            }
        }
    }
}
