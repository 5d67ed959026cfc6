//! The way to a disk through one interface: how long answers take, and how many commands may be in flight.

use crate::frame::Mac;

/// Shortest time after which a frame is sent again, in nanoseconds: a busy disk, or a host with other processes to run,
/// answers late without having lost anything.
const MIN_RESEND_NS: u64 = 20_000_000;
/// Longest time after which a frame is sent again.
const MAX_RESEND_NS: u64 = 1_000_000_000;
/// The same before any answer has come.
const INITIAL_RESEND_NS: u64 = 200_000_000;

/// A way to the disk.
pub(crate) struct Path<W> {
    pub(crate) wire: W,
    /// The station at its other end.
    pub(crate) to: Mac,
    /// Smoothed time to an answer, and its variation (RFC 6298), in nanoseconds; none before the first answer.
    times: Option<(u64, u64)>,
    /// How many commands may be in flight now, and at most.
    window: f64,
    most: u32,
    pub(crate) in_flight: u32,
    /// When the window was last made smaller: losses at the same time count as one.
    shrunk_at: u64,
    /// Frames without an answer in time, since the last one with an answer.
    pub(crate) silent: u32,
}

impl<W> Path<W> {
    pub(crate) fn new(wire: W, to: Mac, most: u32) -> Self {
        Path { wire, to, times: None, window: f64::from(most), most, in_flight: 0, shrunk_at: 0, silent: 0 }
    }

    /// Whether one more command may be in flight.
    pub(crate) fn has_room(&self) -> bool {
        f64::from(self.in_flight) + 1.0 <= self.window.max(1.0)
    }

    /// Time after which a frame is sent again, in nanoseconds (RFC 6298, section 2); it doubles each time.
    pub(crate) fn resend_after_ns(&self, sent: u32) -> u64 {
        let first = self
            .times
            .map_or(INITIAL_RESEND_NS, |(smooth, varies)| smooth + 4 * varies)
            .clamp(MIN_RESEND_NS, MAX_RESEND_NS);
        (first << sent.saturating_sub(1).min(10)).min(MAX_RESEND_NS)
    }

    /// Notes an answer after `took` nanoseconds; none if it may belong to one of several frames (Karn's rule).
    pub(crate) fn note_answer(&mut self, took: Option<u64>) {
        self.in_flight -= 1;
        self.silent = 0;
        self.window = (self.window + 1.0 / self.window.max(1.0)).min(f64::from(self.most));
        let Some(took) = took else { return };
        self.times = Some(match self.times {
            None => (took, took / 2),
            Some((smooth, varies)) => ((7 * smooth + took) / 8, (3 * varies + smooth.abs_diff(took)) / 4),
        });
    }

    /// Notes that a frame sent at `sent_at` has had no answer in time: the disk or the network is overloaded.
    pub(crate) fn note_timeout(&mut self, sent_at: u64, now: u64) {
        self.silent = self.silent.saturating_add(1);
        if sent_at >= self.shrunk_at {
            self.window = (self.window / 2.0).max(1.0);
            self.shrunk_at = now;
        }
    }

    /// Notes that a command has ended without an answer, or is sent on another way.
    pub(crate) fn release(&mut self) {
        self.in_flight -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patience_follows_the_answers_and_doubles() {
        let mut path = Path::new((), [0; 6], 16);
        assert_eq!(
            (path.resend_after_ns(1), path.resend_after_ns(2), path.resend_after_ns(9)),
            (INITIAL_RESEND_NS, 2 * INITIAL_RESEND_NS, MAX_RESEND_NS)
        );
        for _ in 0..100 {
            path.in_flight += 1;
            path.note_answer(Some(50_000_000));
        }
        let steady = path.resend_after_ns(1);
        assert!((50_000_000..60_000_000).contains(&steady), "{steady}");
        for _ in 0..100 {
            path.in_flight += 1;
            path.note_answer(Some(50_000));
        }
        assert_eq!(path.resend_after_ns(1), MIN_RESEND_NS);
    }

    #[test]
    fn losses_of_one_moment_halve_the_window_once_and_answers_open_it_again() {
        let mut path = Path::new((), [0; 6], 16);
        for _ in 0..5 {
            path.note_timeout(100, 200);
        }
        let room = |path: &mut Path<()>| {
            path.in_flight = 0;
            while path.has_room() {
                path.in_flight += 1;
            }
            std::mem::take(&mut path.in_flight)
        };
        assert_eq!(room(&mut path), 8);
        path.note_timeout(201, 300);
        assert_eq!(room(&mut path), 4);
        for _ in 0..1000 {
            path.in_flight += 1;
            path.note_answer(None);
        }
        assert_eq!(room(&mut path), 16);
        for at in 0..100 {
            path.note_timeout(1000 * at + 1000, 1000 * at + 1500);
        }
        assert_eq!(room(&mut path), 1);
    }

    proptest! {
        #[test]
        fn whatever_happens_the_window_and_the_patience_keep_their_limits(
            most in 1_u32..64,
            events in proptest::collection::vec((0_u8..5, 0_u64..1 << 40), 0..200),
        ) {
            let (mut path, mut now) = (Path::new((), [0; 6], most), 0);
            for (kind, time) in events {
                now += time % 1000;
                match kind {
                    0 | 1 if path.has_room() => path.in_flight += 1,
                    2 if path.in_flight > 0 => path.note_answer(Some(time)),
                    3 if path.in_flight > 0 => path.note_answer(None),
                    _ => path.note_timeout(now.saturating_sub(time % 2000), now),
                }
                prop_assert!(path.in_flight <= most);
                prop_assert!(path.in_flight > 0 || path.has_room(), "one frame may always be under way");
                let waits: Vec<u64> = (0..40).map(|sent| path.resend_after_ns(sent)).collect();
                prop_assert!(waits.is_sorted() && waits[0] >= MIN_RESEND_NS && waits[39] == MAX_RESEND_NS, "{waits:?}");
            }
        }
    }
}
