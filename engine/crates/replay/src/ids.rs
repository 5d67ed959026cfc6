//! Maps by numbers that a trace gives, which are small and dense.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by the number of a file or a task.
pub(crate) type ById<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Spreads numbers by one multiplication (D. Knuth, The Art of Computer Programming, volume 3, section 6.4). The usual
/// hash of the standard library takes five times as long.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_found() {
        let map: ById<u64, u64> = (0..1000).map(|number| (number * 4096, number)).collect();
        assert!((0..1000).all(|number| map.get(&(number * 4096)) == Some(&number)) && !map.contains_key(&1));
        let hashes = |number: u32| {
            let mut hasher = IdHasher::default();
            hasher.write_u32(number);
            hasher.finish()
        };
        let mut low: Vec<u64> = (0..256).map(|number| hashes(number) >> 57).collect();
        low.sort_unstable();
        low.dedup();
        assert!(low.len() > 100, "{}", low.len());
    }
}
