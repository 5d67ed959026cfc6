//! Data of operations that are longer than a buffer or work on several objects: made and checked piece by piece while
//! the operation runs.

use crate::data::{Base, BufferContents, Data, Mismatch};
use crate::objects::Lengths;
use assay_core::Source;
use assay_spec::Job;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A lane's data, and the mismatches of operations that have not been counted yet.
pub(crate) struct Stream {
    data: Data,
    lengths: Lengths,
    verify: bool,
    /// Per slot: the first mismatch in the object.
    wrong: Mutex<Vec<Option<Mismatch>>>,
    /// Per slot and position in its buffer: what was made there last.
    slot_contents: Mutex<SlotContents>,
}

type SlotContents = HashMap<(u32, usize), Option<BufferContents>>;

impl Stream {
    /// The data of a lane whose objects have these lengths.
    pub(crate) fn new(base: &Arc<Base>, job: &Job, lengths: Lengths) -> Self {
        let data = Data::new(base, &job.data, job.seed, lengths.first());
        let wrong = Mutex::new(vec![None; job.queue_depth as usize]);
        Stream { data, lengths, verify: job.data.verify, wrong, slot_contents: Mutex::default() }
    }

    /// Forget all buffers' contents, because something else may have been written into them.
    pub(crate) fn forget(&self) {
        self.slot_contents().clear();
    }

    /// The same for one slot's buffer.
    pub(crate) fn forget_slot(&self, slot: u32) {
        let mut slot_contents = self.slot_contents();
        if !slot_contents.is_empty() {
            slot_contents.retain(|(of, _), _| *of != slot);
        }
    }

    fn slot_contents(&self) -> MutexGuard<'_, SlotContents> {
        self.slot_contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, object: u64) -> Data {
        let mut data = self.data.clone();
        data.select(self.lengths.first().wrapping_add(object));
        data
    }

    /// Take the mismatch of an operation that has ended.
    pub(crate) fn wrong(&self, slot: u32) -> Option<Mismatch> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner)[slot as usize].take()
    }
}

impl Source for Stream {
    fn fill(&self, object: u64, offset: u64, piece: &mut [u8]) {
        self.of(object).fill(offset, piece, &mut None);
    }

    fn fill_slot(&self, place: (u32, usize), object: u64, offset: u64, piece: &mut [u8]) {
        let mut slot_contents = self.slot_contents();
        self.of(object).fill(offset, piece, slot_contents.entry(place).or_default());
    }

    fn length(&self, object: u64) -> u64 {
        self.lengths.contents(object)
    }

    fn check(&self, slot: u32, object: u64, offset: u64, piece: &[u8]) {
        if !self.verify {
            return;
        }
        let Some(found) = self.of(object).check(offset, piece) else { return };
        let mut all = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let known = &mut all[slot as usize];
        if known.is_none_or(|known| found.offset < known.offset) {
            *known = Some(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spec::{DataSpec, SPEC_VERSION};
    use serde_json::json;

    fn stream(data: DataSpec) -> Stream {
        let job = json!({
            "spec_version": SPEC_VERSION, "id": "job", "target": {"kind": "null"}, "file_size_bytes": 3 << 20,
            "record_size_bytes": 4096, "phases": [], "seed": 9, "queue_depth": 2, "data": data,
        });
        let job: Job = serde_json::from_value(job).unwrap();
        Stream::new(&Base::new(&data, 9), &job, Lengths::new(&job, 5 << 40))
    }

    /// Whatever a slot held before, and of whatever length, the data made there is right.
    #[test]
    fn contents_of_slots_are_known_or_forgotten() {
        for duplicate_percent in [0, 50] {
            let stream = stream(DataSpec { duplicate_percent, ..DataSpec::default() });
            let (mut slot, mut fresh) = (vec![0; 256 << 10], vec![0; 256 << 10]);
            let steps =
                [(7, 0, 256), (8, 1024, 256), (8, 1280, 256), (9, 0, 100), (9, 256, 256), (9, 3, 256), (9, 0, 256)];
            for (number, (object, kib, length)) in steps.into_iter().cycle().take(20).enumerate() {
                let length = length << 10;
                stream.fill_slot((1, 512), object, kib << 10, &mut slot[..length]);
                stream.fill(object, kib << 10, &mut fresh[..length]);
                assert!(slot[..length] == fresh[..length], "step {number}");
                if number % 3 == 2 {
                    slot.fill(0xEE);
                    stream.forget_slot(1);
                }
                if number % 5 == 4 {
                    slot.fill(0xDD);
                    stream.forget();
                }
            }
        }
    }

    /// Pieces of any length and order make the same object, and the first mismatch is found.
    #[test]
    fn pieces_are_those_of_the_whole() {
        for duplicate_percent in [0, 50] {
            let stream = stream(DataSpec { duplicate_percent, verify: true, ..DataSpec::default() });
            let mut whole = vec![0; 3 << 20];
            stream.fill(7, 0, &mut whole);
            let mut at = 0;
            for length in [1, 511, 512, 4096, 100_000, 1 << 20].into_iter().cycle() {
                let end = (at + length).min(whole.len());
                let mut piece = vec![0; end - at];
                stream.fill(7, at as u64, &mut piece);
                assert!(piece == whole[at..end], "{at} to {end}");
                stream.check(1, 7, at as u64, &piece);
                at = end;
                if at == whole.len() {
                    break;
                }
            }
            assert_eq!(stream.wrong(1), None);
            whole[2_000_000] ^= 1;
            whole[1_000_000] ^= 1;
            stream.check(0, 7, 1_500_000, &whole[1_500_000..]);
            stream.check(0, 7, 0, &whole[..1_500_000]);
            assert_eq!(stream.wrong(0).map(|wrong| wrong.offset), Some(1_000_000));
            assert_eq!(stream.wrong(0), None);
            stream.check(0, 8, 0, &whole[..4096]);
            assert!(stream.wrong(0).is_some(), "another object's data");
        }
    }
}
