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
