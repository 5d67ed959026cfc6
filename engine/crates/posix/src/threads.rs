//! pread and pwrite in threads of a lane, one for each operation in flight.

use crate::sync_io::SyncIo;
use assay_core::{clock, Completion, Fault, Op};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A thread that makes system calls needs little stack.
const STACK_BYTES: usize = 64 << 10;

/// State that the lane and its threads share.
struct Shared {
    calls: SyncIo,
    state: Mutex<State>,
    /// There is an operation to execute, or nothing more will come.
    work: Condvar,
    /// There is a completion.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Op>,
    done: Vec<Completion>,
    /// Threads without an operation.
    idle: usize,
    /// The lane waits for a completion.
    lane_waits: bool,
    closing: bool,
}

/// A lane's threads during a phase.
pub struct Threads {
    shared: Arc<Shared>,
    running: Vec<JoinHandle<()>>,
    in_flight: usize,
}

impl Threads {
    /// Start the threads; they run on the CPUs of the calling thread, and share its descriptors.
    pub fn start(calls: SyncIo, count: u32) -> std::io::Result<Self> {
        let shared = Shared { calls, state: Mutex::default(), work: Condvar::new(), ended: Condvar::new() };
        let mut pool = Threads { shared: Arc::new(shared), running: Vec::new(), in_flight: 0 };
        for number in 0..count {
            let shared = Arc::clone(&pool.shared);
            let builder = std::thread::Builder::new().name(format!("io{number}")).stack_size(STACK_BYTES);
            pool.running.push(builder.spawn(move || shared.serve())?);
        }
        Ok(pool)
    }

    /// Pass operations to the threads; all of them are accepted.
    pub fn submit(&mut self, ops: &[Op]) -> usize {
        let mut state = self.shared.lock();
        state.waiting.extend(ops);
        // A thread that takes an operation wakes the next one: one call here, however many operations.
        let wakes = state.idle > 0;
        drop(state);
        if wakes {
            self.shared.work.notify_one();
        }
        self.in_flight += ops.len();
        ops.len()
    }

    /// As for `Lane::reap`.
    pub fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        if self.in_flight == 0 {
            return;
        }
        let mut state = self.shared.lock();
        while state.done.is_empty() {
            let Some(left) = deadline.checked_sub(clock::now()).filter(|ns| *ns > 0) else {
                return;
            };
            state.lane_waits = true;
            let waited = self.shared.ended.wait_timeout(state, Duration::from_nanos(left));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.lane_waits = false;
        }
        self.in_flight -= state.done.len();
        done.append(&mut state.done);
    }

    /// Execute one operation while nothing else is in flight.
    pub fn execute(&self, op: &Op) -> Result<u64, Fault> {
        self.shared.calls.execute(op)
    }

    /// End the threads and close the file. Nothing is in flight.
    pub fn close(mut self) -> rustix::io::Result<()> {
        self.end();
        self.running.drain(..).for_each(|thread| drop(thread.join()));
        let shared = Arc::clone(&self.shared);
        drop(self);
        Arc::into_inner(shared).map_or(Err(Errno::BADF), |shared| shared.calls.close())
    }

    fn end(&self) {
        self.shared.lock().closing = true;
        self.shared.work.notify_all();
    }
}

impl Drop for Threads {
    /// A thread whose call never returns is not waited for; it keeps the buffers.
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Execute operations until there will be no more.
    fn serve(&self) {
        let mut state = self.lock();
        loop {
            if let Some(op) = state.waiting.pop_front() {
                let wakes = !state.waiting.is_empty() && state.idle > 0;
                drop(state);
                if wakes {
                    self.work.notify_one();
                }
                let completion = Completion::new(op.slot, self.calls.execute(&op));
                state = self.lock();
                state.done.push(completion);
                if std::mem::take(&mut state.lane_waits) {
                    self.ended.notify_one();
                }
            } else if state.closing {
                return;
            } else {
                state.idle += 1;
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_folder::{buffers, fill_slot, op, slot_bytes, TestFolder};
    use assay_core::OpKind;

    /// In any order of completion, each operation has one completion, with its own result.
    #[test]
    fn each_operation_ends_once() {
        let test_folder = TestFolder::new("threads");
        let buffers = buffers(8, 512);
        let calls = SyncIo::new(test_folder.file("f0", b""), false, Arc::clone(&buffers));
        let mut threads = Threads::start(calls, 3).unwrap();
        (0..8).for_each(|slot| fill_slot(&buffers, slot, slot as u8));
        let each = |kind| (0..8).map(move |slot| op(kind, slot, 512 * u64::from(slot), 512)).collect::<Vec<_>>();
        for (kind, last) in [(OpKind::Write, 512), (OpKind::Read, 512)] {
            assert_eq!(threads.submit(&each(kind)), 8);
            let mut done = Vec::new();
            while done.len() < 8 {
                threads.reap(&mut done, u64::MAX);
            }
            done.sort_by_key(|one| one.slot);
            assert_eq!(done, (0..8).map(|slot| Completion::new(slot, Ok(last))).collect::<Vec<_>>());
            let before = done.len();
            threads.reap(&mut done, u64::MAX);
            assert_eq!(done.len(), before, "nothing is in flight, so no thread waits");
        }
        assert_eq!(slot_bytes(&buffers, 7, 512), [7; 512]);
        threads.submit(&[op(OpKind::Read, 0, 8 * 512, 512), op(OpKind::Stat, 1, 0, 0)]);
        let mut done = Vec::new();
        while done.len() < 2 {
            threads.reap(&mut done, u64::MAX);
        }
        done.sort_by_key(|one| one.slot);
        assert_eq!(done, [Completion::new(0, Ok(0)), Completion::new(1, Err(Fault::os(libc::EINVAL)))]);
        threads.close().unwrap();
    }
}
