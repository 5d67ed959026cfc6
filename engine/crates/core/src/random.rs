//! Numbers that look random but are functions of a seed and an index.

/// SplitMix64's output function: a bijection of 64-bit words with good avalanche.
///
/// Source: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
#[inline]
pub const fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The inverse of `mix`.
#[inline]
pub const fn unmix(word: u64) -> u64 {
    let mut z = word ^ (word >> 31) ^ (word >> 62);
    z = z.wrapping_mul(0x3196_42B2_D24D_8EC3);
    z = (z ^ (z >> 27) ^ (z >> 54)).wrapping_mul(0x96DE_1B17_3F11_9089);
    (z ^ (z >> 30) ^ (z >> 60)).wrapping_sub(0x9E37_79B9_7F4A_7C15)
}

/// A word that depends on two.
#[inline]
pub const fn mix2(a: u64, b: u64) -> u64 {
    mix(mix(a) ^ b)
}

/// Uniform in (0, 1].
#[inline]
pub fn unit(word: u64) -> f64 {
    ((mix(word) >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// Exponentially distributed with the given mean.
pub fn exponential(word: u64, mean: f64) -> f64 {
    -unit(word).ln() * mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn unmix_is_the_inverse_of_mix(word: u64) {
            prop_assert_eq!(unmix(mix(word)), word);
            prop_assert_eq!(mix(unmix(word)), word);
        }

        /// One bit of either word changes about half of the bits, and the two are not the same.
        #[test]
        fn each_bit_counts(a: u64, b: u64, bit in 0_u32..64) {
            for other in [mix2(a ^ (1 << bit), b), mix2(a, b ^ (1 << bit))] {
                let changed = (mix2(a, b) ^ other).count_ones();
                prop_assert!((8..=56).contains(&changed), "{} bits", changed);
            }
            prop_assert!(a == b || mix2(a, b) != mix2(b, a));
        }

        /// Above 0, so that it has a logarithm.
        #[test]
        fn a_unit_is_above_0_and_at_most_1(word: u64) {
            prop_assert!(unit(word) > 0.0 && unit(word) <= 1.0);
            prop_assert!(exponential(word, 7.0) >= 0.0 && exponential(word, 7.0).is_finite());
        }
    }

    /// The reference values of SplitMix64 with seed 0 (java.util.SplittableRandom).
    #[test]
    fn words_are_those_of_splitmix64() {
        let first: Vec<u64> = (0..3_u64).map(|step| mix(step.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
        assert_eq!(first, [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]);
    }

    #[test]
    fn the_ends_of_a_unit() {
        assert!(unit(unmix(0)) > 0.0 && exponential(unmix(0), 1.0).is_finite());
        assert!((unit(unmix(u64::MAX)) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn means_are_as_wanted() {
        let count = 20_000;
        let mean = |draw: fn(u64) -> f64| (0..count).map(draw).sum::<f64>() / count as f64;
        assert!((mean(unit) - 0.5).abs() < 0.01);
        assert!((mean(|word| exponential(word, 100.0)) - 100.0).abs() < 3.0);
    }
}
