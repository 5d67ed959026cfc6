//! Which object comes next if any may: each once, or some more often than others.

use assay_core::permutation::Permutation;
use assay_core::random::{mix2, unit};
use assay_spec::Access;

/// Separates the order of popularity from everything else that is drawn.
const SALT: u64 = 0x21BF_0A11;

/// An endless sequence of positions below a count.
#[derive(Debug, Clone)]
pub(super) struct Round {
    access: Access,
    count: u64,
    seed: u64,
    order: Permutation,
    index: u64,
    pass: u64,
}

impl Round {
    /// A sequence of positions below `count`, which is taken as 1 if it is 0.
    pub(super) fn new(access: Access, count: u64, seed: u64) -> Self {
        let count = count.max(1);
        Round { access, count, seed, order: Permutation::new(count, seed), index: 0, pass: 0 }
    }

    /// True if each comes once before any comes again.
    pub(super) fn is_each(&self) -> bool {
        self.access.is_uniform()
    }

    /// The next position, and a random word.
    pub(super) fn next(&mut self) -> (u64, u64) {
        if self.index >= self.count {
            (self.index, self.pass) = (0, self.pass + 1);
            self.order = Permutation::new(self.count, mix2(self.seed, self.pass));
        }
        let index = self.index;
        self.index += 1;
        let word = mix2(self.seed, !(self.pass.wrapping_mul(self.count).wrapping_add(self.index)));
        if self.is_each() {
            return (self.order.at(index), word);
        }
        (place(self.access, self.count, word), mix2(word, 1))
    }
}

/// The position below `count` that belongs to a random word; the same positions are popular in every phase.
pub(super) fn place(access: Access, count: u64, word: u64) -> u64 {
    match access {
        Access::Uniform => word % count,
        Access::Zipfian { exponent } => {
            let rank = zipf(count, exponent, word);
            Permutation::new(count, SALT).at(rank)
        }
        Access::Hotspot { operations_percent, objects_percent } => {
            let hot = ((count as f64 * objects_percent / 100.0).round() as u64).clamp(1, count);
            let (number, which) = (mix2(word, 2), mix2(word, 3) % 100);
            if which < u64::from(operations_percent) || hot == count {
                number % hot
            } else {
                hot + number % (count - hot)
            }
        }
    }
}

/// A rank from 0 to `count` - 1, drawn by Zipf's law: rank k in proportion to (k + 1)^-`exponent`.
///
/// Rejection-inversion (Hoermann, Derflinger: Rejection-inversion to generate variates from monotone discrete
/// distributions, ACM TOMACS 6, 1996): constant memory, and about one attempt.
fn zipf(count: u64, exponent: f64, word: u64) -> u64 {
    let power = |x: f64| (-exponent * x.ln()).exp();
    // The integral of x^-exponent, and its inverse; both also for an exponent of 1.
    let integral = |x: f64| {
        let log = x.ln();
        ratio((1.0 - exponent) * log, f64::exp_m1) * log
    };
    let inverse = |x: f64| (ratio((x * (1.0 - exponent)).max(-1.0), f64::ln_1p) * x).exp();
    let (low, high) = (integral(1.5) - 1.0, integral(count as f64 + 0.5));
    let near = 2.0 - inverse(integral(2.5) - power(2.0));
    let mut tries = 0;
    loop {
        let at = high + unit(mix2(word, tries)) * (low - high);
        let x = inverse(at);
        let rank = (x + 0.5).floor().clamp(1.0, count as f64);
        if rank - x <= near || at >= integral(rank + 0.5) - power(rank) {
            return rank as u64 - 1;
        }
        tries += 1;
    }
}

/// `f(x) / x`, or its limit 1 for x near 0.
fn ratio(x: f64, f: impl Fn(f64) -> f64) -> f64 {
    if x.abs() < 1e-8 {
        1.0
    } else {
        f(x) / x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Frequencies follow the law within five standard deviations.
        #[test]
        fn ranks_follow_zipfs_law(count in 1_u64..60, exponent in 0.05_f64..4.0, seed: u64) {
            const DRAWS: u64 = 20_000;
            let mut found = vec![0_u64; count as usize];
            for draw in 0..DRAWS {
                found[zipf(count, exponent, mix2(seed, draw)) as usize] += 1;
            }
            let weight = |rank: u64| ((rank + 1) as f64).powf(-exponent);
            let sum: f64 = (0..count).map(weight).sum();
            for (rank, found) in (0..).zip(found) {
                let share = weight(rank) / sum;
                let (wanted, spread) = (share * DRAWS as f64, (share * (1.0 - share) * DRAWS as f64).sqrt());
                // Rare ranks are Poisson distributed: 5 of 0.46 expected draws come once in 10,000 times.
                prop_assert!((found as f64 - wanted).abs() <= 6.0 * spread + 6.0, "{rank}: {found}, {wanted}");
            }
        }

        #[test]
        fn places_are_among_all(count in 1_u64..u64::MAX / 2, exponent in 0.01_f64..10.0, percent in 1_u8..99, word: u64) {
            for access in [
                Access::Uniform,
                Access::Zipfian { exponent },
                Access::Hotspot { operations_percent: percent, objects_percent: f64::from(percent) },
            ] {
                prop_assert!(place(access, count, word) < count);
            }
        }
    }

    #[test]
    fn hot_objects_are_the_first_and_get_their_share() {
        let access = Access::Hotspot { operations_percent: 80, objects_percent: 20.0 };
        let mut round = Round::new(access, 100, 7);
        let hot = (0..10_000).filter(|_| round.next().0 < 20).count();
        assert!((7_800..8_200).contains(&hot), "{hot}");
        let one = Access::Hotspot { operations_percent: 90, objects_percent: 0.1 };
        let mut round = Round::new(one, 50, 7);
        let first = (0..10_000).filter(|_| round.next().0 == 0).count();
        assert!((8_850..9_150).contains(&first), "{first}");
    }

    #[test]
    fn each_comes_once_in_each_round() {
        let mut round = Round::new(Access::Uniform, 37, 5);
        for _ in 0..3 {
            let mut places: Vec<u64> = (0..37).map(|_| round.next().0).collect();
            places.sort_unstable();
            assert_eq!(places, (0..37).collect::<Vec<_>>());
        }
    }
}
