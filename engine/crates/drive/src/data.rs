//! Data that any host can make and check at any time: each byte is a function of (seed, file, offset).

use assay_core::random::{mix, mix2};
use assay_spec::DataSpec;

/// Data is made in blocks of this size.
const BLOCK: usize = 4096;
const WORDS: usize = BLOCK / 8;
/// Blocks that duplicates are copies of.
const COMMON_BLOCKS: u64 = 16;

/// The bytes of one block before its key is mixed in.
static POOL: [u64; WORDS] = pool();

const fn pool() -> [u64; WORDS] {
    let mut words = [0; WORDS];
    let mut index = 0;
    while index < WORDS {
        words[index] = mix(0xA55A_0000 + index as u64);
        index += 1;
    }
    words
}

/// A byte is not what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// Offset of the byte in the file.
    pub offset: u64,
    /// What it should be.
    pub expected: u8,
    /// What it is.
    pub found: u8,
}

/// Makes and checks the data of one file.
///
/// A block is a fixed random pool whose every word is XORed with the block's own key, so that it does not
/// compress and no two blocks (nor 512-byte parts of blocks) are equal, at the speed of memory.
#[derive(Debug, Clone, Copy)]
pub struct Data {
    key: u64,
    common_key: u64,
    duplicate_percent: u64,
    /// Words of a block that are not zero.
    random_words: usize,
}

impl Data {
    /// The data of file number `file`.
    pub fn new(spec: &DataSpec, seed: u64, file: u64) -> Self {
        let zeros = WORDS * usize::from(spec.compressible_percent) / 100;
        Data {
            key: mix2(seed, file),
            common_key: mix2(seed, u64::MAX),
            duplicate_percent: u64::from(spec.duplicate_percent),
            random_words: WORDS - zeros,
        }
    }

    /// The key of block number `block`.
    #[inline]
    fn block_key(&self, block: u64) -> u64 {
        let key = mix2(self.key, block);
        if self.duplicate_percent > 0 && mix(key) % 100 < self.duplicate_percent {
            return mix2(self.common_key, key % COMMON_BLOCKS);
        }
        key
    }

    #[inline]
    fn word(&self, key: u64, index: usize) -> u64 {
        if index < self.random_words {
            POOL[index] ^ key
        } else {
            0
        }
    }

    /// Writes the bytes that belong at `offset` into `buffer`.
    pub fn fill(&self, offset: u64, buffer: &mut [u8]) {
        for (block, from, part) in blocks_mut(offset, buffer) {
            let key = self.block_key(block);
            if !from.is_multiple_of(8) || !part.len().is_multiple_of(8) {
                for (at, byte) in part.iter_mut().enumerate() {
                    *byte = self.byte(key, from + at);
                }
                continue;
            }
            let first = from / 8;
            let random = self.random_words.saturating_sub(first).min(part.len() / 8);
            let (head, zeros) = part.split_at_mut(random * 8);
            for (bytes, word) in head.chunks_exact_mut(8).zip(&POOL[first..first + random]) {
                bytes.copy_from_slice(&(word ^ key).to_le_bytes());
            }
            zeros.fill(0);
        }
    }

    /// The first byte of `buffer` that does not belong at `offset`.
    pub fn check(&self, offset: u64, buffer: &[u8]) -> Option<Mismatch> {
        let mut at = 0;
        while at < buffer.len() {
            let (block, from, length) = block_part(offset + at as u64, buffer.len() - at);
            let part = &buffer[at..at + length];
            let key = self.block_key(block);
            if !self.block_is_right(key, from, part) {
                let wrong = (0..length).find(|index| part[*index] != self.byte(key, from + index))?;
                return Some(Mismatch {
                    offset: offset + (at + wrong) as u64,
                    expected: self.byte(key, from + wrong),
                    found: part[wrong],
                });
            }
            at += length;
        }
        None
    }

    fn byte(&self, key: u64, at: usize) -> u8 {
        self.word(key, at / 8).to_le_bytes()[at % 8]
    }

    fn block_is_right(&self, key: u64, from: usize, part: &[u8]) -> bool {
        if !from.is_multiple_of(8) || !part.len().is_multiple_of(8) {
            return part.iter().enumerate().all(|(at, byte)| *byte == self.byte(key, from + at));
        }
        let first = from / 8;
        let random = self.random_words.saturating_sub(first).min(part.len() / 8);
        let (head, zeros) = part.split_at(random * 8);
        let mut wrong = 0;
        for (bytes, word) in head.chunks_exact(8).zip(&POOL[first..first + random]) {
            let found =
                u64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]);
            wrong |= found ^ word ^ key;
        }
        wrong == 0 && zeros.iter().all(|byte| *byte == 0)
    }
}

/// Block number, offset in the block and length of the first part of `length` bytes at `offset` that lies in one block.
fn block_part(offset: u64, length: usize) -> (u64, usize, usize) {
    let from = (offset % BLOCK as u64) as usize;
    (offset / BLOCK as u64, from, length.min(BLOCK - from))
}

/// `buffer` cut at block borders: block number, offset in the block, bytes.
fn blocks_mut(offset: u64, buffer: &mut [u8]) -> impl Iterator<Item = (u64, usize, &mut [u8])> {
    let mut rest = buffer;
    let mut at = offset;
    std::iter::from_fn(move || {
        let taken = std::mem::take(&mut rest);
        if taken.is_empty() {
            return None;
        }
        let (block, from, length) = block_part(at, taken.len());
        let (part, more) = taken.split_at_mut(length);
        rest = more;
        at += length as u64;
        Some((block, from, part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn made(spec: DataSpec, offset: u64, length: usize) -> Vec<u8> {
        let mut buffer = vec![0xEE; length];
        Data::new(&spec, 9, 3).fill(offset, &mut buffer);
        buffer
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_bytes(
            offset in 0_u64..20_000, length in 0_usize..20_000, cut in 0_usize..20_000,
            compressible_percent in 0_u8..=100, duplicate_percent in 0_u8..=100,
        ) {
            let spec = DataSpec { compressible_percent, duplicate_percent, verify: true };
            let whole = made(spec, offset, length);
            let cut = cut.min(length);
            let mut parts = made(spec, offset, cut);
            parts.extend(made(spec, offset + cut as u64, length - cut));
            prop_assert_eq!(&whole, &parts);
            prop_assert_eq!(Data::new(&spec, 9, 3).check(offset, &whole), None);
        }

        #[test]
        fn one_wrong_byte_is_named(offset in 0_u64..9_000, length in 1_usize..9_000, at: prop::sample::Index, flip in 1_u8..) {
            let data = Data::new(&DataSpec::default(), 1, 2);
            let mut buffer = vec![0; length];
            data.fill(offset, &mut buffer);
            let at = at.index(length);
            let expected = buffer[at];
            buffer[at] ^= flip;
            let want = Mismatch { offset: offset + at as u64, expected, found: expected ^ flip };
            prop_assert_eq!(data.check(offset, &buffer), Some(want));
        }
    }

    #[test]
    fn sectors_are_unique_over_files_offsets_and_seeds() {
        let spec = DataSpec::default();
        let mut seen = HashSet::new();
        for (seed, file) in [(1, 0), (1, 1), (2, 0)] {
            let mut buffer = vec![0; 1 << 20];
            Data::new(&spec, seed, file).fill(0, &mut buffer);
            for sector in buffer.chunks(512) {
                assert!(seen.insert(sector.to_vec()), "a sector came twice");
            }
        }
    }

    #[test]
    fn zeros_and_duplicates_have_their_share() {
        let half = DataSpec { compressible_percent: 50, ..DataSpec::default() };
        let zeros = made(half, 0, 1 << 20).iter().filter(|byte| **byte == 0).count();
        assert!((zeros as f64 / f64::from(1 << 20) - 0.5).abs() < 0.01, "{zeros}");
        let dedupe = DataSpec { duplicate_percent: 40, ..DataSpec::default() };
        let blocks = made(dedupe, 0, 4 << 20);
        let different = blocks.chunks(4096).collect::<HashSet<_>>().len();
        assert!((1024 * 55 / 100..1024 * 68 / 100).contains(&different), "{different}");
    }
}
