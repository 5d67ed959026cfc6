//! Data that any host can make and check at any time: each byte is a function of (seed, object, offset).

use assay_core::random::{mix, mix2};
use assay_spec::DataSpec;
use std::sync::Arc;

/// Duplicates and zeros come in blocks of this size.
const BLOCK: usize = 4096;
/// The first word of each is a number.
const SECTOR: usize = 512;
/// The base repeats after this many bytes. Most compressors in file systems and arrays look back less far; one that
/// looks back further finds 504 of each 512 bytes again.
const PERIOD: usize = 1 << 20;
const WORD: usize = 8;
/// Blocks that duplicates are copies of.
const COMMON_BLOCKS: u64 = 16;
/// Odd, so that each sector of an object has a number of its own (Weyl sequence of SplitMix64).
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A byte is not what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// Offset of the byte in the object.
    pub offset: u64,
    /// What it should be.
    pub expected: u8,
    /// What it is.
    pub found: u8,
}

/// What the data of all objects of a seed has in common: `PERIOD` random bytes, with zeros at the end of each block.
#[derive(Debug)]
pub struct Base {
    bytes: Box<[u8]>,
    /// Bytes of a block that are not zero.
    random_bytes: usize,
}

impl Base {
    /// The base of a seed, for a share of zeros.
    pub fn new(spec: &DataSpec, seed: u64) -> Arc<Self> {
        let key = mix2(seed, 0xA55A);
        let words = BLOCK / WORD;
        let random_bytes = (words - words * usize::from(spec.compressible_percent) / 100) * WORD;
        let mut bytes = vec![0; PERIOD].into_boxed_slice();
        for (index, word) in bytes.chunks_exact_mut(WORD).enumerate() {
            if index * WORD % BLOCK < random_bytes {
                word.copy_from_slice(&mix(key.wrapping_add(index as u64)).to_le_bytes());
            }
        }
        Arc::new(Base { bytes, random_bytes })
    }
}

/// What lies in a buffer: the base from this position on, for this many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lying {
    position: usize,
    length: usize,
}

/// Makes and checks the data of one object.
///
/// The object is the base again and again, and the first 8 bytes of each 512 are a number that no other sector of this
/// object has, nor, but for one chance in 2^64, another object's. So no two sectors are equal, nothing within a mebibyte compresses, and a large buffer that is used
/// again for the same position of the base needs new numbers only.
#[derive(Debug, Clone)]
pub struct Data {
    base: Arc<Base>,
    seed: u64,
    key: u64,
    common_key: u64,
    duplicate_percent: u64,
}

/// A part of an object that lies in one block.
struct Part {
    /// Offset in the block.
    from: usize,
    length: usize,
    /// Where in the base the block starts.
    base: usize,
    /// Numbers the sectors of the block.
    key: u64,
    /// Sector at the start of the block.
    sector: u64,
}

impl Data {
    /// The data of object number `object`.
    pub fn new(base: &Arc<Base>, spec: &DataSpec, seed: u64, object: u64) -> Self {
        Data {
            base: Arc::clone(base),
            seed,
            key: mix2(seed, object),
            common_key: mix2(seed, u64::MAX),
            duplicate_percent: u64::from(spec.duplicate_percent),
        }
    }

    /// Goes on with the data of another object.
    pub fn select(&mut self, object: u64) {
        self.key = mix2(self.seed, object);
    }

    /// The first word of a sector.
    #[inline]
    fn number(key: u64, sector: u64) -> u64 {
        mix(key ^ sector.wrapping_mul(STEP))
    }

    /// The block at `offset`, as far as `limit` bytes.
    #[inline]
    fn part(&self, offset: u64, limit: usize) -> Part {
        let from = (offset % BLOCK as u64) as usize;
        let block = offset / BLOCK as u64;
        let length = limit.min(BLOCK - from);
        if self.duplicate_percent > 0 {
            let word = mix2(self.key, block);
            if mix(word) % 100 < self.duplicate_percent {
                let common = word % COMMON_BLOCKS;
                let sector = common * (BLOCK / SECTOR) as u64;
                return Part { from, length, base: common as usize * BLOCK, key: self.common_key, sector };
            }
        }
        let sector = block * (BLOCK / SECTOR) as u64;
        Part { from, length, base: (block * BLOCK as u64 % PERIOD as u64) as usize, key: self.key, sector }
    }

    /// Writes the bytes that belong at `offset` into `buffer`, of which `lying` says what is in it already.
    pub fn fill(&self, offset: u64, buffer: &mut [u8], lying: &mut Option<Lying>) {
        let now = Lying { position: (offset % PERIOD as u64) as usize, length: buffer.len() };
        let whole = (offset % SECTOR as u64) as usize + buffer.len() % SECTOR == 0;
        if !whole || self.duplicate_percent > 0 {
            *lying = None;
            self.fill_parts(offset, buffer);
            return;
        }
        if *lying != Some(now) {
            self.lay(now.position, buffer);
            *lying = Some(now);
        }
        let first = offset / SECTOR as u64;
        for (index, sector) in buffer.chunks_exact_mut(SECTOR).enumerate() {
            let at = first + index as u64;
            if self.base.random_bytes == BLOCK || (at as usize % (BLOCK / SECTOR)) * SECTOR < self.base.random_bytes {
                sector[..WORD].copy_from_slice(&Self::number(self.key, at).to_le_bytes());
            }
        }
    }

    /// Copies the base from `position` on.
    fn lay(&self, position: usize, buffer: &mut [u8]) {
        let mut position = position;
        let mut rest = buffer;
        while !rest.is_empty() {
            let length = rest.len().min(PERIOD - position);
            let (head, tail) = rest.split_at_mut(length);
            head.copy_from_slice(&self.base.bytes[position..position + length]);
            rest = tail;
            position = 0;
        }
    }

    /// The same for any offset and length, block by block.
    fn fill_parts(&self, offset: u64, buffer: &mut [u8]) {
        let mut at = 0;
        while at < buffer.len() {
            let part = self.part(offset + at as u64, buffer.len() - at);
            self.fill_part(&part, &mut buffer[at..at + part.length]);
            at += part.length;
        }
    }

    /// The base, and over it the numbers of the sectors, as far as they lie in the part.
    fn fill_part(&self, part: &Part, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.base.bytes[part.base + part.from..][..part.length]);
        let end = (part.from + part.length).min(self.base.random_bytes);
        for sector in part.from / SECTOR..end.div_ceil(SECTOR) {
            let number = Self::number(part.key, part.sector + sector as u64).to_le_bytes();
            let start = (sector * SECTOR).max(part.from);
            let stop = (sector * SECTOR + WORD).min(part.from + part.length);
            if start < stop {
                bytes[start - part.from..stop - part.from]
                    .copy_from_slice(&number[start - sector * SECTOR..stop - sector * SECTOR]);
            }
        }
    }

    /// Byte `index` of a part.
    fn byte(&self, part: &Part, index: usize) -> u8 {
        let at = part.from + index;
        if at % SECTOR < WORD && at / SECTOR * SECTOR < self.base.random_bytes {
            let number = Self::number(part.key, part.sector + (at / SECTOR) as u64);
            return number.to_le_bytes()[at % SECTOR];
        }
        self.base.bytes[part.base + at]
    }

    /// The first byte of `buffer` that does not belong at `offset`.
    pub fn check(&self, offset: u64, buffer: &[u8]) -> Option<Mismatch> {
        let mut at = 0;
        while at < buffer.len() {
            let start = offset + at as u64;
            let part = self.part(start, buffer.len() - at);
            let bytes = &buffer[at..at + part.length];
            if !self.is_right(&part, bytes) {
                let wrong = (0..part.length).find(|index| bytes[*index] != self.byte(&part, *index))?;
                let expected = self.byte(&part, wrong);
                return Some(Mismatch { offset: start + wrong as u64, expected, found: bytes[wrong] });
            }
            at += part.length;
        }
        None
    }

    #[inline]
    fn is_right(&self, part: &Part, bytes: &[u8]) -> bool {
        if !part.from.is_multiple_of(SECTOR) || !part.length.is_multiple_of(SECTOR) {
            let mut wanted = [0; BLOCK];
            self.fill_part(part, &mut wanted[..part.length]);
            return bytes == &wanted[..part.length];
        }
        let base = &self.base.bytes[part.base + part.from..][..part.length];
        let mut right = true;
        for (index, (found, wanted)) in bytes.chunks_exact(SECTOR).zip(base.chunks_exact(SECTOR)).enumerate() {
            let sector = part.from / SECTOR + index;
            let numbered = sector * SECTOR < self.base.random_bytes;
            let first =
                if numbered { Self::number(part.key, part.sector + sector as u64).to_le_bytes() } else { [0; WORD] };
            right &= found[..WORD] == first && found[WORD..] == wanted[WORD..];
        }
        right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn data(spec: &DataSpec, seed: u64, object: u64) -> Data {
        Data::new(&Base::new(spec, seed), spec, seed, object)
    }

    fn made(spec: DataSpec, offset: u64, length: usize) -> Vec<u8> {
        let mut buffer = vec![0xEE; length];
        data(&spec, 9, 3).fill(offset, &mut buffer, &mut None);
        buffer
    }

    fn byte_by_byte(data: &Data, offset: u64, buffer: &mut [u8]) {
        for (index, byte) in buffer.iter_mut().enumerate() {
            *byte = data.byte(&data.part(offset + index as u64, 1), 0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_cut_gives_the_same_bytes(
            offset in 0_u64..20_000, length in 0_usize..20_000, cut in 0_usize..20_000,
            compressible_percent in 0_u8..=100, duplicate_percent in 0_u8..=100,
        ) {
            let spec = DataSpec { compressible_percent, duplicate_percent, verify: true };
            let whole = made(spec, offset, length);
            let mut slowly = vec![0; length];
            byte_by_byte(&data(&spec, 9, 3), offset, &mut slowly);
            prop_assert_eq!(&whole, &slowly);
            let cut = cut.min(length);
            let mut parts = made(spec, offset, cut);
            parts.extend(made(spec, offset + cut as u64, length - cut));
            prop_assert_eq!(&whole, &parts);
            prop_assert_eq!(data(&spec, 9, 3).check(offset, &whole), None);
        }

        /// Whole sectors, for which there are shorter ways, have the bytes that the long way gives.
        #[test]
        fn sectors_are_made_as_bytes_are(
            offset in 0_u64..6_000, sectors in 1_usize..40, compressible_percent in 0_u8..=100, before in 0_u64..9_000,
        ) {
            let spec = DataSpec { compressible_percent, ..DataSpec::default() };
            let data = data(&spec, 4, 5);
            let (mut long, mut short) = (vec![1; sectors * SECTOR], vec![2; sectors * SECTOR]);
            byte_by_byte(&data, offset * SECTOR as u64, &mut long);
            let mut lying = None;
            data.fill(before * SECTOR as u64, &mut short, &mut lying);
            data.fill(offset * SECTOR as u64, &mut short, &mut lying);
            prop_assert_eq!(&long, &short);
            // The same place of the base again, in another object.
            let mut other = data.clone();
            other.select(77);
            byte_by_byte(&other, offset * SECTOR as u64 + 5 * PERIOD as u64, &mut long);
            other.fill(offset * SECTOR as u64 + 5 * PERIOD as u64, &mut short, &mut lying);
            prop_assert_eq!(&long, &short);
        }

        #[test]
        fn one_wrong_byte_is_named(offset in 0_u64..9_000, length in 1_usize..9_000, at: prop::sample::Index, flip in 1_u8..) {
            let data = data(&DataSpec::default(), 1, 2);
            let mut buffer = vec![0; length];
            data.fill(offset, &mut buffer, &mut None);
            let at = at.index(length);
            let expected = buffer[at];
            buffer[at] ^= flip;
            let want = Mismatch { offset: offset + at as u64, expected, found: expected ^ flip };
            prop_assert_eq!(data.check(offset, &buffer), Some(want));
        }
    }

    #[test]
    fn sectors_are_unique_over_objects_offsets_and_seeds() {
        let spec = DataSpec::default();
        let mut seen = HashSet::new();
        for (seed, object, offset) in [(1, 0, 0), (1, 0, 7 << 20), (1, 1, 0), (2, 0, 0)] {
            let mut buffer = vec![0; 1 << 20];
            data(&spec, seed, object).fill(offset, &mut buffer, &mut None);
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
