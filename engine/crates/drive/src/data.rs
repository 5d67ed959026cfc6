//! Data that any host can make and check at any time: each byte is a function of (seed, object, offset) and of the
//! write, so that each write differs from the data before.

use assay_core::random::{mix, mix2, unmix};
use assay_spec::DataSpec;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// Granularity of duplicates and zeros.
const BLOCK: usize = 4096;
/// The first word of each sector is a number.
const SECTOR: usize = 512;
/// The base repeats after this many bytes. Most compressors in file systems and arrays look back less far; one that
/// looks back further finds 504 of each 512 bytes again.
const PERIOD: usize = 1 << 20;
const WORD: usize = 8;
/// While data is made, something else can be checked after this many bytes: every 5 to 50 µs.
const PIECE: usize = 1 << 17;
/// Number of blocks that duplicates are copies of.
const COMMON_BLOCKS: u64 = 16;
/// Odd, so that each sector of an object has its own number (Weyl sequence of SplitMix64).
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Bits that distinguish the writes of a phase.
const WRITE_BITS: u32 = 24;

/// A byte, number or sector that differs from what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// Offset of the first wrong byte in the object.
    pub offset: u64,
    /// The kind of damage.
    pub damage: Damage,
}

/// Kinds of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// A wrong byte.
    Byte {
        /// The expected byte.
        expected: u8,
        /// The byte that was read.
        found: u8,
    },
    /// The number of a sector that no write made.
    Number {
        /// The number that was read.
        found: u64,
    },
    /// A sector is complete, but should have been overwritten since.
    Stale {
        /// Number of the phase that wrote it.
        phase: u32,
    },
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.offset;
        match self.damage {
            Damage::Byte { expected, found } => {
                write!(out, "byte {at} of the file is 0x{found:02x}, written was 0x{expected:02x}")
            }
            Damage::Number { found } => {
                write!(out, "the 8 bytes at {at} of the file, 0x{found:016x}, were never written")
            }
            Damage::Stale { phase } => {
                write!(
                    out,
                    "the file has at {at} what phase {phase} wrote: it was written over since, and that is lost"
                )
            }
        }
    }
}

/// Identifies a write: the phase's number + 1, then the write's number in the phase; 0 where writes are not
/// distinguished.
type Stamp = u64;

/// The first stamp of a phase.
fn first_stamp(phase: u32) -> Stamp {
    (u64::from(phase) + 1) << WRITE_BITS
}

/// Stamps of the next writes, and of the writes that a read may find.
#[derive(Debug, Clone, Copy)]
pub struct Writes {
    next: Stamp,
    oldest: Stamp,
    newest: Stamp,
}

impl Writes {
    /// Every write to an offset writes the same data.
    const ALIKE: Writes = Writes { next: 0, oldest: 0, newest: 0 };
    /// More phases than a job has.
    const LAST_PHASE: u32 = 1 << 16;

    /// The stamps of a phase. Each write has its own stamp if records are whole sectors; otherwise two writes share a
    /// sector, and its number cannot be that of both.
    ///
    /// `since` is the last phase that has written everything; `others_wrote`: other jobs have written, too.
    pub fn in_phase(phase: u32, record: u64, since: Option<u32>, others_wrote: bool) -> Self {
        let whole = record.is_multiple_of(SECTOR as u64);
        let next = if whole { first_stamp(phase) } else { 0 };
        let last = if others_wrote { Self::LAST_PHASE } else { phase };
        let newest = if whole || others_wrote { first_stamp(last + 1) - 1 } else { 0 };
        Writes { next, oldest: since.filter(|_| whole).map_or(0, first_stamp), newest }
    }

    /// The stamp of the next write.
    #[inline]
    fn take(&mut self) -> Stamp {
        let now = self.next;
        let phase = now >> WRITE_BITS << WRITE_BITS;
        self.next = phase | (now + u64::from(phase > 0)) & ((1 << WRITE_BITS) - 1);
        now
    }
}

/// The common part of the data of all objects of a seed: `PERIOD` random bytes, with zeros at the end of each block.
#[derive(Debug)]
pub struct Base {
    bytes: Box<[u8]>,
    /// Bytes of a block that are not zero.
    random_bytes: usize,
}

impl Base {
    /// The base for a seed and a share of zeros.
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

/// Known contents of a buffer: the base from this position on, for this many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferContents {
    position: usize,
    length: usize,
}

/// Makes and checks the data of one object.
///
/// An object is the base repeated, and the first 8 bytes of each 512 are a number that no other sector of this object
/// has, nor, with a chance of 2^-64, any sector of another object. So no two sectors are equal, nothing within a
/// mebibyte compresses, and a large buffer that is reused for the same position of the base needs new numbers only. The
/// number is a bijection of the write's stamp: it identifies the write, and few of all words are a valid number.
#[derive(Debug, Clone)]
pub struct Data {
    base: Arc<Base>,
    seed: u64,
    key: u64,
    common_key: u64,
    duplicate_percent: u64,
    writes: Writes,
}

/// A part of an object within one block.
struct Part {
    /// Offset in the block.
    from: usize,
    length: usize,
    /// Position in the base at which the block starts.
    base: usize,
    /// Key of the sectors' numbers.
    key: u64,
    /// Number of the block's first sector.
    sector: u64,
    /// The block is a duplicate.
    common: bool,
}

impl Data {
    /// The data of object number `object`; all its writes are the same.
    pub fn new(base: &Arc<Base>, spec: &DataSpec, seed: u64, object: u64) -> Self {
        Data {
            base: Arc::clone(base),
            seed,
            key: mix2(seed, object),
            common_key: mix2(seed, u64::MAX),
            duplicate_percent: u64::from(spec.duplicate_percent),
            writes: Writes::ALIKE,
        }
    }

    /// The same data, with these stamps.
    #[must_use]
    pub fn with_writes(self, writes: Writes) -> Self {
        Data { writes, ..self }
    }

    /// Switch to the data of another object.
    pub fn select(&mut self, object: u64) {
        self.key = mix2(self.seed, object);
    }

    /// The first word of a sector, from a write with this stamp.
    #[inline]
    fn number(key: u64, sector: u64, stamp: Stamp) -> u64 {
        mix(key ^ sector.wrapping_mul(STEP) ^ stamp)
    }

    /// The stamp of the write that made a sector's first word; a huge one if no write did.
    #[inline]
    fn stamp(key: u64, sector: u64, number: u64) -> Stamp {
        unmix(number) ^ key ^ sector.wrapping_mul(STEP)
    }

    /// The part of the block at `offset`, of at most `limit` bytes.
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
                return Part {
                    from,
                    length,
                    base: common as usize * BLOCK,
                    key: self.common_key,
                    sector,
                    common: true,
                };
            }
        }
        let sector = block * (BLOCK / SECTOR) as u64;
        Part {
            from,
            length,
            base: (block * BLOCK as u64 % PERIOD as u64) as usize,
            key: self.key,
            sector,
            common: false,
        }
    }

    /// Write the bytes at `offset` into `buffer`; `slot_contents` describes the buffer's contents before and after.
    pub fn fill(&mut self, offset: u64, buffer: &mut [u8], slot_contents: &mut Option<BufferContents>) {
        self.fill_in_pieces(offset, buffer, slot_contents, || {});
    }

    /// The same; calls `after_piece` after each piece.
    #[inline]
    pub fn fill_in_pieces(
        &mut self,
        offset: u64,
        buffer: &mut [u8],
        slot_contents: &mut Option<BufferContents>,
        mut after_piece: impl FnMut(),
    ) {
        let stamp = self.writes.take();
        let now = BufferContents { position: (offset % PERIOD as u64) as usize, length: buffer.len() };
        let whole = (offset % SECTOR as u64) as usize + buffer.len() % SECTOR == 0;
        if !whole || self.duplicate_percent > 0 {
            *slot_contents = None;
            for (index, piece) in buffer.chunks_mut(PIECE).enumerate() {
                self.fill_parts(offset + (index * PIECE) as u64, piece, stamp);
                after_piece();
            }
            return;
        }
        let prefilled = *slot_contents == Some(now);
        *slot_contents = Some(now);
        let mut first = offset / SECTOR as u64;
        for (index, piece) in buffer.chunks_mut(PIECE).enumerate() {
            if !prefilled {
                self.copy_base((now.position + index * PIECE) % PERIOD, piece);
            }
            self.number_sectors(first, piece, stamp);
            first += (PIECE / SECTOR) as u64;
            after_piece();
        }
    }

    /// Write the number of each sector as its first word; `first` is the first sector's number in the object.
    #[inline(always)]
    fn number_sectors(&self, first: u64, sectors: &mut [u8], stamp: Stamp) {
        for (index, sector) in sectors.chunks_exact_mut(SECTOR).enumerate() {
            let at = first + index as u64;
            if self.base.random_bytes == BLOCK || (at as usize % (BLOCK / SECTOR)) * SECTOR < self.base.random_bytes {
                sector[..WORD].copy_from_slice(&Self::number(self.key, at, stamp).to_le_bytes());
            }
        }
    }

    /// Copy the base from `position` on.
    fn copy_base(&self, position: usize, buffer: &mut [u8]) {
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

    /// The same as `fill_in_pieces` for any offset and length, block by block.
    fn fill_parts(&self, offset: u64, buffer: &mut [u8], stamp: Stamp) {
        let mut at = 0;
        while at < buffer.len() {
            let part = self.part(offset + at as u64, buffer.len() - at);
            self.fill_part(&part, &mut buffer[at..at + part.length], stamp);
            at += part.length;
        }
    }

    /// Write the base, and over it those sectors' numbers that lie in the part.
    fn fill_part(&self, part: &Part, bytes: &mut [u8], stamp: Stamp) {
        bytes.copy_from_slice(&self.base.bytes[part.base + part.from..][..part.length]);
        let stamp = if part.common { 0 } else { stamp };
        for (sector, numbered) in part.numbered(self.base.random_bytes) {
            let number = Self::number(part.key, part.sector + sector as u64, stamp).to_le_bytes();
            let first = part.from + numbered.start - sector * SECTOR;
            bytes[numbered.clone()].copy_from_slice(&number[first..first + numbered.len()]);
        }
    }

    /// The first mismatch in `buffer`, which was read from `offset`; None if there is none.
    pub fn check(&self, offset: u64, buffer: &[u8]) -> Option<Mismatch> {
        let mut at = 0;
        while at < buffer.len() {
            let start = offset + at as u64;
            let part = self.part(start, buffer.len() - at);
            let bytes = &buffer[at..at + part.length];
            let fault = if self.is_right(&part, bytes) { None } else { self.first_fault(&part, bytes) };
            if let Some((index, fault)) = fault {
                return Some(Mismatch { offset: start + index as u64, damage: fault });
            }
            at += part.length;
        }
        None
    }

    /// The valid stamps of a part.
    #[inline]
    fn stamps(&self, part: &Part) -> RangeInclusive<Stamp> {
        if part.common {
            0..=0
        } else {
            self.writes.oldest..=self.writes.newest
        }
    }

    /// True if a part is known to be right; false also for parts that are not whole sectors.
    #[inline]
    fn is_right(&self, part: &Part, bytes: &[u8]) -> bool {
        if !part.from.is_multiple_of(SECTOR) || !part.length.is_multiple_of(SECTOR) {
            return false;
        }
        let base = &self.base.bytes[part.base + part.from..][..part.length];
        let stamps = self.stamps(part);
        let mut right = true;
        for (index, (found, wanted)) in bytes.chunks_exact(SECTOR).zip(base.chunks_exact(SECTOR)).enumerate() {
            let sector = part.from / SECTOR + index;
            let first = u64::from_le_bytes(found[..WORD].try_into().expect("a sector has eight bytes"));
            right &= if sector * SECTOR < self.base.random_bytes {
                stamps.contains(&Self::stamp(part.key, part.sector + sector as u64, first))
            } else {
                first == 0
            };
            right &= found[WORD..] == wanted[WORD..];
        }
        right
    }

    /// The first damage in a part, and its position.
    #[cold]
    fn first_fault(&self, part: &Part, bytes: &[u8]) -> Option<(usize, Damage)> {
        let wanted = &mut [0; BLOCK][..part.length];
        self.fill_part(part, wanted, self.writes.oldest);
        let stamps = self.stamps(part);
        let mut number = None;
        if stamps != (0..=0) {
            for (sector, numbered) in part.numbered(self.base.random_bytes) {
                let found = &bytes[numbered.clone()];
                // A number of which only a part was read cannot be judged.
                let fault = found.try_into().ok().and_then(|word| {
                    Self::number_fault(part.key, part.sector + sector as u64, u64::from_le_bytes(word), &stamps)
                });
                wanted[numbered.clone()].copy_from_slice(found);
                number = number.or(fault.map(|fault| (numbered.start, fault)));
            }
        }
        let byte = (0..part.length)
            .find(|index| bytes[*index] != wanted[*index])
            .map(|index| (index, Damage::Byte { expected: wanted[index], found: bytes[index] }));
        [number, byte].into_iter().flatten().min_by_key(|(index, _)| *index)
    }

    /// The damage of a sector's number, if any.
    fn number_fault(key: u64, sector: u64, found: u64, stamps: &RangeInclusive<Stamp>) -> Option<Damage> {
        let stamp = Self::stamp(key, sector, found);
        if stamps.contains(&stamp) {
            return None;
        }
        let old = (first_stamp(0)..*stamps.start()).contains(&stamp);
        Some(if old { Damage::Stale { phase: (stamp >> WRITE_BITS) as u32 - 1 } } else { Damage::Number { found } })
    }
}

impl Part {
    /// The sectors of the part that have a number, counted from the start of the block, and the bytes of the part that
    /// hold it.
    fn numbered(&self, random_bytes: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        let (from, stop) = (self.from, self.from + self.length);
        let end = stop.min(random_bytes);
        (from / SECTOR..end.div_ceil(SECTOR)).filter_map(move |sector| {
            let (first, last) = ((sector * SECTOR).max(from), (sector * SECTOR + WORD).min(stop));
            (first < last).then(|| (sector, first - from..last - from))
        })
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

    /// The same, byte by byte from the definition.
    fn byte_by_byte(data: &Data, offset: u64, buffer: &mut [u8], stamp: Stamp) {
        for (index, byte) in buffer.iter_mut().enumerate() {
            let part = data.part(offset + index as u64, 1);
            let (sector, at) = (part.from / SECTOR, part.from % SECTOR);
            *byte = data.base.bytes[part.base + part.from];
            if at < WORD && sector * SECTOR < data.base.random_bytes {
                let stamp = if part.common { 0 } else { stamp };
                *byte = Data::number(part.key, part.sector + sector as u64, stamp).to_le_bytes()[at];
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn mixing_can_be_taken_back(word: u64) {
            prop_assert_eq!(unmix(mix(word)), word);
        }

        #[test]
        fn any_cut_gives_the_same_bytes(
            offset in 0_u64..20_000, length in 0_usize..20_000, cut in 0_usize..20_000,
            compressible_percent in 0_u8..=100, duplicate_percent in 0_u8..=100,
        ) {
            let spec = DataSpec { compressible_percent, duplicate_percent, verify: true };
            let whole = made(spec, offset, length);
            let mut slowly = vec![0; length];
            byte_by_byte(&data(&spec, 9, 3), offset, &mut slowly, 0);
            prop_assert_eq!(&whole, &slowly);
            let cut = cut.min(length);
            let mut parts = made(spec, offset, cut);
            parts.extend(made(spec, offset + cut as u64, length - cut));
            prop_assert_eq!(&whole, &parts);
            prop_assert_eq!(data(&spec, 9, 3).check(offset, &whole), None);
            // However it is split, and also for a reader that distinguishes writes.
            let later = data(&spec, 9, 3).with_writes(Writes::in_phase(4, 1000, None, true));
            prop_assert_eq!(later.check(offset, &whole[..cut]), None);
            prop_assert_eq!(later.check(offset + cut as u64, &whole[cut..]), None);
        }

        /// Whole sectors, which have a faster path, have the same bytes as by the slow path.
        #[test]
        fn sectors_are_made_as_bytes_are(
            offset in 0_u64..6_000, sectors in 1_usize..40, compressible_percent in 0_u8..=100, before in 0_u64..9_000,
        ) {
            let spec = DataSpec { compressible_percent, ..DataSpec::default() };
            let mut data = data(&spec, 4, 5).with_writes(Writes::in_phase(0, 512, None, false));
            let (mut long, mut short) = (vec![1; sectors * SECTOR], vec![2; sectors * SECTOR]);
            let first = first_stamp(0);
            byte_by_byte(&data, offset * SECTOR as u64, &mut long, first + 1);
            let mut slot_contents = None;
            data.fill(before * SECTOR as u64, &mut short, &mut slot_contents);
            data.fill(offset * SECTOR as u64, &mut short, &mut slot_contents);
            prop_assert_eq!(&long, &short);
            // The same position of the base again, in another object.
            data.select(77);
            byte_by_byte(&data, offset * SECTOR as u64 + 5 * PERIOD as u64, &mut long, first + 2);
            data.fill(offset * SECTOR as u64 + 5 * PERIOD as u64, &mut short, &mut slot_contents);
            prop_assert_eq!(&long, &short);
        }

        #[test]
        fn one_wrong_byte_is_named(
            offset in 0_u64..9_000, length in 1_usize..9_000, at: prop::sample::Index, flip in 1_u8..,
        ) {
            let mut data = data(&DataSpec::default(), 1, 2);
            let mut buffer = vec![0; length];
            data.fill(offset, &mut buffer, &mut None);
            let at = at.index(length);
            let expected = buffer[at];
            buffer[at] ^= flip;
            let fault = Damage::Byte { expected, found: expected ^ flip };
            prop_assert_eq!(data.check(offset, &buffer), Some(Mismatch { offset: offset + at as u64, damage: fault }));
        }

        /// Also where writes are distinguished: then a wrong number is reported as a whole.
        #[test]
        fn one_wrong_byte_among_writes_is_named(
            sector in 0_u64..90, sectors in 1_usize..20, at: prop::sample::Index, flip in 1_u8..,
        ) {
            let writes = Writes::in_phase(3, 512, Some(1), false);
            let mut data = data(&DataSpec::default(), 1, 2).with_writes(writes);
            let (offset, mut buffer) = (sector * SECTOR as u64, vec![0; sectors * SECTOR]);
            data.fill(offset, &mut buffer, &mut None);
            prop_assert_eq!(data.check(offset, &buffer), None);
            let at = at.index(buffer.len());
            let expected = buffer[at];
            buffer[at] ^= flip;
            let start = at / SECTOR * SECTOR;
            let want = if at - start < WORD {
                let found = u64::from_le_bytes(buffer[start..start + WORD].try_into().unwrap());
                (start, Damage::Number { found })
            } else {
                (at, Damage::Byte { expected, found: expected ^ flip })
            };
            prop_assert_eq!(data.check(offset, &buffer), Some(Mismatch { offset: offset + want.0 as u64, damage: want.1 }));
        }
    }

    #[test]
    fn what_is_written_again_differs_and_what_was_before_is_stale() {
        let spec = DataSpec::default();
        let write = |phase: u32, since: Option<u32>| {
            let mut data = data(&spec, 1, 2).with_writes(Writes::in_phase(phase, 4096, since, false));
            let (mut once, mut twice) = (vec![0; 4096], vec![0; 4096]);
            data.fill(0, &mut once, &mut None);
            data.fill(0, &mut twice, &mut None);
            assert!(once.chunks(512).zip(twice.chunks(512)).all(|(once, twice)| once != twice));
            (once, twice)
        };
        let (first, (old, new)) = (write(0, None), write(1, None));
        assert_ne!(first.0, old);
        let reader = |phase, since| data(&spec, 1, 2).with_writes(Writes::in_phase(phase, 4096, since, false));
        for bytes in [&first.0, &first.1, &old, &new] {
            assert_eq!(reader(2, None).check(0, bytes), None);
            assert_eq!(reader(2, Some(0)).check(0, bytes), None);
        }
        for bytes in [&old, &new] {
            assert_eq!(reader(2, Some(1)).check(0, bytes), None);
            // Written by a later phase.
            assert!(matches!(
                reader(0, None).check(0, bytes),
                Some(Mismatch { offset: 0, damage: Damage::Number { .. } })
            ));
        }
        let mut mixed = new;
        mixed[512..1024].copy_from_slice(&first.1[512..1024]);
        let lost = Mismatch { offset: 512, damage: Damage::Stale { phase: 0 } };
        assert_eq!(reader(2, Some(1)).check(0, &mixed), Some(lost));
    }

    #[test]
    fn writes_of_parts_of_sectors_are_alike() {
        let mut data = data(&DataSpec::default(), 1, 2).with_writes(Writes::in_phase(0, 1000, Some(0), false));
        let (mut once, mut twice) = (vec![0; 1000], vec![0; 1000]);
        data.fill(1000, &mut once, &mut None);
        data.fill(1000, &mut twice, &mut None);
        assert_eq!(once, twice);
        assert_eq!(data.check(1000, &once), None);
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
