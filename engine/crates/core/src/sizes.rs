//! Sizes of objects: a function of the seed and the object's number, so that any host knows them.

use crate::random::mix2;
use assay_spec::Sizes;

/// Separates sizes from everything else that is drawn from the seed.
const SALT: u64 = 0x517E_5000;

/// Size in bytes of the object with this number among all objects.
pub fn size_of(sizes: &Sizes, seed: u64, object: u64) -> u64 {
    let word = mix2(mix2(seed, SALT), object);
    match sizes {
        Sizes::Listed { sizes } => {
            let all: u64 = sizes.iter().map(|size| u64::from(size.weight)).sum();
            let mut rest = word % all.max(1);
            for size in sizes {
                if rest < u64::from(size.weight) {
                    return size.bytes;
                }
                rest -= u64::from(size.weight);
            }
            0
        }
        Sizes::Range { min_bytes, max_bytes } => {
            let span = u128::from(max_bytes.saturating_sub(*min_bytes)) + 1;
            min_bytes + ((u128::from(word) * span) >> 64) as u64
        }
        Sizes::Log2 { min_bytes, max_bytes } => {
            let (least, most) = (*min_bytes.max(&1), *max_bytes.max(&1));
            let powers = u64::from(most.ilog2().saturating_sub(least.ilog2())) + 1;
            let power = least.ilog2() + (word % powers) as u32;
            let (from, to) = (least.max(1 << power), most.min((1 << power) + ((1 << power) - 1)));
            from + ((u128::from(mix2(word, 1)) * (u128::from(to.saturating_sub(from)) + 1)) >> 64) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spec::WeightedSize;

    #[test]
    fn each_power_of_two_is_equally_likely() {
        let sizes = Sizes::Log2 { min_bytes: 1 << 12, max_bytes: (1 << 22) - 1 };
        let all: Vec<u64> = (0..100_000).map(|object| size_of(&sizes, 3, object)).collect();
        for power in 12..22 {
            let within: Vec<&u64> = all.iter().filter(|size| size.ilog2() == power).collect();
            assert!(within.len().abs_diff(10_000) < 500, "{power}: {}", within.len());
            let upper = within.iter().filter(|size| ***size >= 3 << (power - 1)).count();
            assert!(upper.abs_diff(within.len() / 2) < 400, "{power}: {upper}");
        }
        for (min_bytes, max_bytes) in [(1, 1), (5, 6), (3, 1000), (1000, 1025), (1, i64::MAX as u64)] {
            let sizes = Sizes::Log2 { min_bytes, max_bytes };
            assert!((0..1000).all(|object| (min_bytes..=max_bytes).contains(&size_of(&sizes, 9, object))));
        }
    }

    #[test]
    fn listed_sizes_come_as_often_as_they_weigh() {
        let one = |bytes, weight| WeightedSize { bytes, weight };
        let sizes = Sizes::Listed { sizes: vec![one(100, 7), one(1 << 20, 2), one(0, 1)] };
        let count = |wanted| (0..100_000).filter(|object| size_of(&sizes, 3, *object) == wanted).count();
        for (bytes, share) in [(100, 70_000), (1 << 20, 20_000), (0, 10_000)] {
            assert!(count(bytes).abs_diff(share) < 1_000, "{bytes}: {}", count(bytes));
        }
    }

    #[test]
    fn a_range_is_reached_from_end_to_end() {
        let sizes = Sizes::Range { min_bytes: 5, max_bytes: 8 };
        let found: std::collections::BTreeSet<u64> = (0..100).map(|object| size_of(&sizes, 3, object)).collect();
        assert_eq!(found, (5..=8).collect());
        assert_eq!(size_of(&Sizes::Range { min_bytes: 7, max_bytes: 7 }, 1, 1), 7);
        assert_eq!(size_of(&Sizes::Log2 { min_bytes: 7, max_bytes: 7 }, 1, 1), 7);
        let all = Sizes::Range { min_bytes: 0, max_bytes: i64::MAX as u64 };
        assert!((0..1000).all(|object| i64::try_from(size_of(&all, 3, object)).is_ok()));
    }
}
