//! Memory for operations of any length, which is as long as the longest of the last ones.

use assay_drive::data::BufferContents;
use rustix::mm::{mmap_anonymous, munmap, MapFlags, ProtFlags};
use std::ffi::c_void;
use std::ptr::null_mut;

/// Lengths are whole multiples of this.
const STEP: usize = 64 << 10;
/// What is longer is given back after the operation.
const LONG: usize = 1 << 20;

/// Memory that starts on a page, as O_DIRECT needs it. What was not written to takes no memory.
pub(crate) struct Buffer {
    start: *mut c_void,
    length: usize,
}

// SAFETY: the memory belongs to the buffer alone.
unsafe impl Send for Buffer {}

impl Default for Buffer {
    fn default() -> Self {
        Buffer { start: null_mut(), length: 0 }
    }
}

impl Buffer {
    /// Hold at least this many bytes.
    pub(crate) fn hold(&mut self, length: usize) {
        if length <= self.length {
            return;
        }
        self.drop_memory();
        let length = length.next_multiple_of(STEP);
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a new mapping overlaps nothing.
        let mapped = unsafe { mmap_anonymous(null_mut(), length, access, flags) };
        // Where a bit of address space is refused nothing can go on, as for any other allocation.
        self.start = mapped.unwrap_or_else(|_| std::alloc::handle_alloc_error(std::alloc::Layout::new::<[u8; STEP]>()));
        self.length = length;
    }

    /// The same, and the first bytes of it to write to; forgets its known contents if it had to be made anew.
    pub(crate) fn hold_changed(&mut self, length: usize, known: &mut Option<BufferContents>) -> &mut [u8] {
        if length > self.length {
            *known = None;
        }
        self.hold(length);
        if length == 0 {
            return &mut [];
        }
        // SAFETY: the mapping is at least that long, and nothing else refers to it.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), length) }
    }

    /// Where it starts.
    pub(crate) fn start(&mut self) -> *mut c_void {
        self.start
    }

    /// The first bytes of it.
    pub(crate) fn bytes(&self, length: usize) -> &[u8] {
        let length = length.min(self.length);
        if length == 0 {
            return &[];
        }
        // SAFETY: the mapping is at least that long, and nothing writes to it while it is borrowed.
        unsafe { std::slice::from_raw_parts(self.start.cast(), length) }
    }

    /// Give a long one back; true if it was.
    pub(crate) fn release(&mut self) -> bool {
        let is_long = self.length > LONG;
        if is_long {
            self.drop_memory();
        }
        is_long
    }

    fn drop_memory(&mut self) {
        if self.length > 0 {
            // SAFETY: it is a mapping of this length, and nothing refers to it any more.
            let _ = unsafe { munmap(self.start, self.length) };
        }
        (self.start, self.length) = (null_mut(), 0);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.drop_memory();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_is_written_and_gives_long_memory_back() {
        let mut buffer = Buffer::default();
        assert!(buffer.bytes(10).is_empty() && !buffer.release());
        buffer.hold_changed(100, &mut None).fill(7);
        assert_eq!(buffer.start() as usize % 4096, 0);
        assert_eq!(buffer.bytes(100), [7; 100]);
        buffer.hold(50);
        assert_eq!(buffer.bytes(100), [7; 100]);
        assert!(!buffer.release());
        buffer.hold(LONG + 1);
        assert!(buffer.release() && buffer.bytes(1).is_empty());
        assert!(buffer.hold_changed(0, &mut None).is_empty());
    }
}
