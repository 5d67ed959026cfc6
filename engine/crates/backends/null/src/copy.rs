//! A lane whose operations copy memory, and nothing else.

use assay_core::{Completion, Fault, Lane, MethodChoice, Op, PhasePlan, SetupError};
use assay_spec::Method;

/// Copies from one block of memory to another, on and on.
pub(crate) struct CopyLane {
    from: Vec<u8>,
    to: Vec<u8>,
    at: usize,
    depth: u32,
    ended: Vec<Completion>,
}

impl CopyLane {
    /// Two blocks of so many bytes, more than 0.
    ///
    /// # Errors
    /// If there is not so much memory.
    pub(crate) fn new(bytes: u64, depth: u32) -> Result<Self, SetupError> {
        // Written once, so that every page is there.
        let block = |byte: u8| {
            let length = usize::try_from(bytes).ok()?;
            let mut block = Vec::new();
            block.try_reserve_exact(length).ok()?;
            block.resize(length, byte);
            Some(block)
        };
        let blocks = block(1).zip(block(2));
        let (from, to) = blocks.ok_or_else(|| {
            SetupError::new("allocate", format!("twice {bytes} bytes to copy between"), "there is not so much memory")
        })?;
        Ok(CopyLane { from, to, at: 0, depth, ended: Vec::new() })
    }

    fn copy(&mut self, mut length: usize) {
        while length > 0 {
            let part = length.min(self.from.len() - self.at);
            self.to[self.at..self.at + part].copy_from_slice(&self.from[self.at..self.at + part]);
            std::hint::black_box(&mut self.to);
            self.at = (self.at + part) % self.from.len();
            length -= part;
        }
    }

    /// Bytes that have been copied, of one round.
    #[cfg(test)]
    pub(crate) fn copied(&self) -> usize {
        self.to.iter().filter(|byte| **byte == 1).count()
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
