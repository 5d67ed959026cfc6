//! Waiting for calls: for one, or for many of which a few are in flight at a time.

use crate::{Calls, State};
use assay_core::{heartbeat, Fault};

/// Calls that `all` has in flight at once.
pub const WINDOW: usize = 64;

/// A lane's connections to a server, over which calls are made.
pub trait Transport {
    /// What the protocol notes of a call.
    type Own: Default;

    /// The calls in flight.
    fn calls(&mut self) -> &mut Calls<Self::Own>;

    /// Sends and receives until something can be taken or the time comes. May return earlier.
    fn wait(&mut self, until: u64);

    /// The next call that has ended.
    #[inline]
    fn take_finished(&mut self) -> Option<u32> {
        self.calls().finished.pop_front()
    }

    /// Waits until that call has ended, whatever else ends meanwhile, and returns its results or fault. Calls always end by
    /// their deadline.
    fn complete(&mut self, call: u32) -> Result<Vec<u8>, Fault> {
        while self.calls().get(call).state != State::Done {
            let others = std::mem::take(&mut self.calls().finished);
            self.wait(u64::MAX);
            let new = std::mem::replace(&mut self.calls().finished, others);
            self.calls().finished.extend(new);
        }
        self.calls().finished.retain(|other| *other != call);
        heartbeat::beat();
        let results = self.calls().results(call).map(<[u8]>::to_vec);
        self.calls().release(call);
        results
    }

    /// Does `count` calls, many at a time. `start` makes the call with a number, which is its tag; `done` gets the results in
    /// any order.
    fn all(
        &mut self,
        count: usize,
        mut start: impl FnMut(&mut Self, usize),
        mut done: impl FnMut(usize, Result<&[u8], Fault>),
    ) {
        let (mut started, mut ended) = (0, 0);
        while ended < count {
            while started < count && started - ended < WINDOW {
                start(self, started);
                started += 1;
            }
            self.wait(u64::MAX);
            while let Some(call) = self.take_finished() {
                let tag = self.calls().get(call).tag as usize;
                done(tag, self.calls().results(call));
                self.calls().release(call);
                ended += 1;
                heartbeat::beat();
            }
        }
    }
}
