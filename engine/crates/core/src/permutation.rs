//! A random order of n records in constant memory.

use crate::random::mix2;

/// Odd, so that multiplication is a bijection modulo any power of two.
const FACTOR: u64 = 0xD134_2543_DE82_EF95;
/// The inverse of `FACTOR` modulo any power of two.
const INVERSE: u64 = inverse(FACTOR);

/// The inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the number of correct bits.
const fn inverse(odd: u64) -> u64 {
    let (mut found, mut step) = (odd, 0);
    while step < 5 {
        found = found.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(found)));
        step += 1;
    }
    found
}

/// A bijection of 0..n that looks random: "each record once" without a bitmap.
///
/// Four rounds of multiply, add and fold on the least power of two that holds n; a result of n or more goes through the
/// rounds again (cycle walking: Black and Rogaway, Ciphers with Arbitrary Finite Domains, CT-RSA 2002), which takes
/// fewer than two attempts on average.
#[derive(Debug, Clone, Copy)]
pub struct Permutation {
    n: u64,
    mask: u64,
    fold: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// The order of `n` records that belongs to `seed`; `n` must not be 0.
    pub fn new(n: u64, seed: u64) -> Self {
        assert!(n > 0, "nothing to order");
        let bits = 64 - (n - 1).leading_zeros();
        let mask = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
        let keys = [0, 1, 2, 3].map(|round| mix2(seed, round));
        Permutation { n, mask, fold: bits.div_ceil(2).max(1), keys }
    }

    /// The record at position `index` of the order; `index` must be below n.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.n);
        let mut x = index;
        loop {
            for key in self.keys {
                x = x.wrapping_mul(FACTOR).wrapping_add(key) & self.mask;
                x ^= x >> self.fold;
            }
            if x < self.n {
                return x;
            }
        }
    }

    /// The position of a record in the order; `record` must be below n.
    pub fn place_of(&self, record: u64) -> u64 {
        debug_assert!(record < self.n);
        let mut x = record;
        loop {
            for key in self.keys.iter().rev() {
                // A fold by half the bits or more undoes itself.
                x ^= x >> self.fold;
                x = x.wrapping_sub(*key).wrapping_mul(INVERSE) & self.mask;
            }
            if x < self.n {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Permutation;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_record_once(n in 1_u64..5000, seed: u64) {
            let order = Permutation::new(n, seed);
            let mut seen: Vec<u64> = (0..n).map(|i| order.at(i)).collect();
            seen.sort_unstable();
            prop_assert!(seen.into_iter().eq(0..n));
            prop_assert!((0..n).all(|i| order.place_of(order.at(i)) == i));
        }
    }

    #[test]
    fn neighbours_are_far_apart() {
        let n = 1 << 20;
        let order = Permutation::new(n, 7);
        let jumps: u64 = (0..10_000).map(|i| order.at(i).abs_diff(order.at(i + 1))).sum();
        let mean = jumps / 10_000;
        // Two independent uniform numbers are n/3 apart on average.
        assert!((n / 3 - n / 20..n / 3 + n / 20).contains(&mean), "{mean}");
    }

    #[test]
    fn low_bits_do_not_alternate() {
        let order = Permutation::new(1 << 16, 3);
        let same = (0..10_000).filter(|i| order.at(*i) % 2 == order.at(i + 1) % 2).count();
        assert!((4_500..5_500).contains(&same), "{same}");
    }
}
