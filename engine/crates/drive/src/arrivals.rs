//! Intended start times in open loop.

use assay_core::random::{exponential, mix2};
use assay_spec::Arrivals;

/// With more random arrivals than this, their expected number is close enough.
const COUNTED_ARRIVALS: f64 = 1e6;

/// Fraction bits of a time: exact enough for 10^12 operations, and added faster than a float is converted.
const FRACTION: u32 = 32;
/// Nanoseconds as a fixed-point number.
fn fixed(ns: f64) -> u128 {
    (ns * (1_u64 << FRACTION) as f64) as u128
}

/// A lane's intended starts, in nanoseconds after the phase's start.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    arrivals: Arrivals,
    /// Mean time between this lane's starts.
    gap_ns: f64,
    gap: u128,
    seed: u64,
    number: u64,
    next: u128,
}

impl Schedule {
    /// The schedule of lane `lane` of `lanes`, which together start `rate` operations per second.
    pub fn new(arrivals: Arrivals, rate: f64, lane: u32, lanes: u32, seed: u64) -> Self {
        let gap_ns = 1e9 / rate * f64::from(lanes);
        let seed = mix2(seed, u64::from(lane) + (1 << 40));
        // Lanes take turns, so that all lanes together keep the spacing.
        let first = match arrivals {
            Arrivals::Constant => gap_ns * f64::from(lane) / f64::from(lanes),
            Arrivals::Poisson => exponential(mix2(seed, 0), gap_ns),
        };
        Schedule { arrivals, gap_ns, gap: fixed(gap_ns), seed, number: 0, next: fixed(first) }
    }

    /// The next intended start.
    #[inline]
    pub fn next_ns(&self) -> u64 {
        u64::try_from(self.next >> FRACTION).unwrap_or(u64::MAX)
    }

    /// Go on to the next start.
    #[inline]
    pub fn advance(&mut self) {
        let gap = match self.arrivals {
            Arrivals::Constant => self.gap,
            Arrivals::Poisson => {
                self.number += 1;
                fixed(exponential(mix2(self.seed, self.number), self.gap_ns))
            }
        };
        self.next = self.next.saturating_add(gap);
    }

    /// Number of starts from now to `end_ns`; for very many random arrivals the expected number.
    pub fn due_before(&self, end_ns: u64) -> u64 {
        let left = (u128::from(end_ns) << FRACTION).saturating_sub(self.next);
        let expected = u64::try_from(left.div_ceil(self.gap.max(1))).unwrap_or(u64::MAX);
        if self.arrivals == Arrivals::Constant || expected as f64 > COUNTED_ARRIVALS {
            return expected;
        }
        let mut copy = *self;
        let mut due = 0;
        while copy.next_ns() < end_ns {
            copy.advance();
            due += 1;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_lanes_interleave() {
        let mut all: Vec<u64> = (0..4)
            .flat_map(|lane| {
                let mut schedule = Schedule::new(Arrivals::Constant, 1000.0, lane, 4, 1);
                (0..100).map(move |_| {
                    let at = schedule.next_ns();
                    schedule.advance();
                    at
                })
            })
            .collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| (pair[1] - pair[0]).abs_diff(1_000_000) <= 1));
    }

    #[test]
    fn poisson_keeps_the_rate_and_spreads() {
        let lanes = 4;
        let due: u64 = (0..lanes)
            .map(|lane| Schedule::new(Arrivals::Poisson, 10_000.0, lane, lanes, 3).due_before(10_000_000_000))
            .sum();
        // 100,000 arrivals with a standard deviation of 316.
        assert!((98_500..101_500).contains(&due), "{due}");
        let mut schedule = Schedule::new(Arrivals::Poisson, 1000.0, 0, 1, 3);
        let mut short = 0;
        for _ in 0..10_000 {
            let at = schedule.next_ns();
            schedule.advance();
            short += u32::from(schedule.next_ns() - at < 693_147);
        }
        // The median gap of a Poisson process is ln 2 of the mean.
        assert!((4_800..5_200).contains(&short), "{short}");
    }
}
