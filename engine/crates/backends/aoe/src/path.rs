//! The way to a disk through one interface: how long answers take, and how many commands may be under way.

use crate::frame::Mac;

/// Least time after which a frame is sent again, in nanoseconds: a disk that is busy, or a host that has other processes to
/// run, answers late without having lost anything.
const LEAST_NS: u64 = 20_000_000;
/// Longest one.
const MOST_NS: u64 = 1_000_000_000;
/// The one before any answer has come.
const FIRST_NS: u64 = 200_000_000;

/// A way to the disk.
pub(crate) struct Path<W> {
    pub(crate) wire: W,
    /// The station at its other end.
    pub(crate) to: Mac,
    /// Smoothed time to an answer, and how much it varies (RFC 6298), in nanoseconds; none before the first.
    times: Option<(u64, u64)>,
    /// Commands that may be under way now, and at most.
    window: f64,
    most: u32,
    pub(crate) in_flight: u32,
    /// When the window last was made smaller: losses of one moment are one sign.
    shrunk_at: u64,
    /// Frames without an answer in time since the last one that had one.
    pub(crate) silent: u32,
}

impl<W> Path<W> {
    pub(crate) fn new(wire: W, to: Mac, most: u32) -> Self {
        Path { wire, to, times: None, window: f64::from(most), most, in_flight: 0, shrunk_at: 0, silent: 0 }
    }

    /// One more command may be under way.
    pub(crate) fn has_room(&self) -> bool {
        f64::from(self.in_flight) + 1.0 <= self.window.max(1.0)
    }

    /// Time after which a frame is sent again (RFC 6298, section 2), and twice as long each time it has been.
    pub(crate) fn patience(&self, sent: u32) -> u64 {
        let first = self.times.map_or(FIRST_NS, |(smooth, varies)| smooth + 4 * varies).clamp(LEAST_NS, MOST_NS);
        (first << sent.saturating_sub(1).min(10)).min(MOST_NS)
    }

    /// An answer has come after so long; none if it cannot be told to which of several frames (Karn's rule).
    pub(crate) fn answered(&mut self, took: Option<u64>) {
        self.in_flight -= 1;
        self.silent = 0;
        self.window = (self.window + 1.0 / self.window.max(1.0)).min(f64::from(self.most));
        let Some(took) = took else { return };
        self.times = Some(match self.times {
            None => (took, took / 2),
            Some((smooth, varies)) => ((7 * smooth + took) / 8, (3 * varies + smooth.abs_diff(took)) / 4),
        });
    }

    /// A frame that was sent at `sent_at` has had no answer in time: the disk, or the network, has more than it can take.
    pub(crate) fn unanswered(&mut self, sent_at: u64, now: u64) {
        self.silent = self.silent.saturating_add(1);
        if sent_at >= self.shrunk_at {
            self.window = (self.window / 2.0).max(1.0);
            self.shrunk_at = now;
        }
    }

    /// A command has gone from here: it has ended without an answer, or goes another way.
    pub(crate) fn forgotten(&mut self) {
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
        assert_eq!((path.patience(1), path.patience(2), path.patience(9)), (FIRST_NS, 2 * FIRST_NS, MOST_NS));
        for _ in 0..100 {
            path.in_flight += 1;
            path.answered(Some(50_000_000));
        }
        let steady = path.patience(1);
        assert!((50_000_000..60_000_000).contains(&steady), "{steady}");
        for _ in 0..100 {
            path.in_flight += 1;
            path.answered(Some(50_000));
        }
        assert_eq!(path.patience(1), LEAST_NS);
    }

    #[test]
    fn losses_of_one_moment_halve_the_window_once_and_answers_open_it_again() {
        let mut path = Path::new((), [0; 6], 16);
        for _ in 0..5 {
            path.unanswered(100, 200);
        }
        let room = |path: &mut Path<()>| {
            path.in_flight = 0;
            while path.has_room() {
                path.in_flight += 1;
            }
            std::mem::take(&mut path.in_flight)
        };
        assert_eq!(room(&mut path), 8);
        path.unanswered(201, 300);
        assert_eq!(room(&mut path), 4);
        for _ in 0..1000 {
            path.in_flight += 1;
            path.answered(None);
        }
        assert_eq!(room(&mut path), 16);
        for at in 0..100 {
            path.unanswered(1000 * at + 1000, 1000 * at + 1500);
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
                    2 if path.in_flight > 0 => path.answered(Some(time)),
                    3 if path.in_flight > 0 => path.answered(None),
                    _ => path.unanswered(now.saturating_sub(time % 2000), now),
                }
                prop_assert!(path.in_flight <= most);
                prop_assert!(path.in_flight > 0 || path.has_room(), "one frame may always be under way");
                let waits: Vec<u64> = (0..40).map(|sent| path.patience(sent)).collect();
                prop_assert!(waits.is_sorted() && waits[0] >= LEAST_NS && waits[39] == MOST_NS, "{waits:?}");
            }
        }
    }
}
