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

/// The word of which `mix` makes this one.
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
