//! A lane whose operations only copy memory.

use assay_core::{Buffers, Completion, Fault, Lane, MethodChoice, Op, PhasePlan, SetupError};
use assay_spec::Method;

const PAGE: usize = 4096;
/// Where the second block begins within a page; the first begins at 0. If a load and an earlier store have the same
/// last 12 bits of their addresses, CPUs take the load to depend on the store (4 KiB aliasing): blocks as malloc(3)
/// places them, the second 16 bytes further on, were copied 20 times slower from the cache than others.
const SHIFT: usize = PAGE / 2;

/// Copies from one block of memory to another, again and again.
pub(crate) struct CopyLane {
    memory: Buffers,
    /// Bytes of a block, and where the second block begins.
    bytes: usize,
    second: usize,
    at: usize,
    depth: u32,
    ended: Vec<Completion>,
}

impl CopyLane {
    /// Allocates two blocks of `bytes` bytes each, more than 0.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub(crate) fn new(bytes: u64, depth: u32) -> Result<Self, SetupError> {
        let length = usize::try_from(bytes).ok().filter(|bytes| *bytes <= isize::MAX as usize / 4);
        let second = length.map(|bytes| bytes.next_multiple_of(PAGE) + SHIFT);
        let memory = length.zip(second).and_then(|(bytes, second)| Buffers::new(1, second + bytes, false).ok());
        let (Some(bytes), Some(second), Some(memory)) = (length, second, memory) else {
            let what = format!("twice {bytes} bytes to copy between");
            return Err(SetupError::new("allocate", what, "there is not so much memory"));
        };
        let mut lane = CopyLane { memory, bytes, second, at: 0, depth, ended: Vec::new() };
        let (from, to) = lane.blocks();
        from.fill(1);
        to.fill(2);
        Ok(lane)
    }

    /// The source and the destination block.
    fn blocks(&mut self) -> (&mut [u8], &mut [u8]) {
        // SAFETY: only this lane uses the memory, and no operation of the kernel is on it.
        let all = unsafe { self.memory.slice(0, self.second + self.bytes) };
        let (from, to) = all.split_at_mut(self.second);
        (&mut from[..self.bytes], to)
    }

    fn copy(&mut self, mut length: usize) {
        let mut at = self.at;
        let (from, to) = self.blocks();
        while length > 0 {
            let part = length.min(from.len() - at);
            to[at..at + part].copy_from_slice(&from[at..at + part]);
            std::hint::black_box(&mut *to);
            at = (at + part) % from.len();
            length -= part;
        }
        self.at = at;
    }

    /// Bytes copied so far, within the first round.
    #[cfg(test)]
    pub(crate) fn copied(&mut self) -> usize {
        self.blocks().1.iter().filter(|byte| **byte == 1).count()
    }

    /// Addresses of the blocks.
    #[cfg(test)]
    pub(crate) fn places(&mut self) -> (usize, usize) {
        let (from, to) = self.blocks();
        (from.as_ptr() as usize, to.as_ptr() as usize)
    }
}

impl Lane for CopyLane {
    fn begin(&mut self, _plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        let reason = "memory is copied, by no call of the kernel".to_owned();
        Ok(MethodChoice::of(Method::Sync, reason, self.depth))
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            let result = self.execute(op);
            self.ended.push(Completion::new(op.slot, result));
        }
        ops.len()
    }

    fn reap(&mut self, done: &mut Vec<Completion>, _deadline: u64) {
        done.append(&mut self.ended);
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        self.copy(op.length as usize);
        Ok(op.length)
    }

    fn end(&mut self) -> Result<(), SetupError> {
        Ok(())
    }
}
