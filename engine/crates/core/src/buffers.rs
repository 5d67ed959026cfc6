//! Page-aligned I/O buffers of one lane.

use rustix::mm::{mmap_anonymous, munmap, MapFlags, ProtFlags};
use std::ffi::c_void;

const PAGE: usize = 4096;
/// The usual huge page on x86-64 and, with 4 KiB pages, on ARM.
const HUGE_PAGE: usize = 2 << 20;

/// Equal slots in one anonymous mapping, each starting on a page.
///
/// The driver and the kernel take turns: from submission to completion a slot belongs to the kernel,
/// otherwise to the lane's thread. A `Buffers` is used by one thread only.
pub struct Buffers {
    base: *mut u8,
    total: usize,
    slot_bytes: usize,
    length: usize,
    count: usize,
}

// SAFETY: the mapping is owned; slots are handed out under the rule above, by the one thread that uses the lane.
unsafe impl Send for Buffers {}
// SAFETY: as above.
unsafe impl Sync for Buffers {}

impl Buffers {
    /// Map `count` slots of `length` bytes, on request in huge pages, and touch every page, so that no measured
    /// operation pays for the page faults.
    ///
    /// # Errors
    /// The kernel's errno if there is not enough memory, or not enough of it is reserved as huge pages.
    pub fn new(count: usize, length: usize, huge_pages: bool) -> rustix::io::Result<Self> {
        let slot_bytes = length.div_ceil(PAGE) * PAGE;
        let (page, kind) = if huge_pages { (HUGE_PAGE, MapFlags::HUGETLB) } else { (PAGE, MapFlags::empty()) };
        let total = (slot_bytes * count).div_ceil(page) * page;
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing of ours.
        let base = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                total,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::POPULATE | kind,
            )?
        };
        Ok(Buffers { base: base.cast(), total, slot_bytes, length, count })
    }

    /// Bytes of the whole mapping.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Number of slots.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Usable bytes of a slot.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Address of a slot, for the kernel.
    pub fn pointer(&self, slot: u32) -> *mut u8 {
        assert!((slot as usize) < self.count);
        // SAFETY: inside the mapping by the assertion.
        unsafe { self.base.add(slot as usize * self.slot_bytes) }
    }

    /// The first `length` bytes of a slot.
    ///
    /// # Safety
    /// No operation on the slot may be in flight, and no other reference to it may exist.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn slice(&self, slot: u32, length: usize) -> &mut [u8] {
        assert!(length <= self.length);
        // SAFETY: inside the mapping by the assertions; alone by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(slot), length) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing refers to it any more.
        let _ = unsafe { munmap(self.base.cast::<c_void>(), self.total) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each slot begins on a page, whatever its length, and no two slots overlap.
    #[test]
    fn slots_are_apart_and_aligned() {
        for (length, apart) in [(1, 4096), (4096, 4096), (4097, 8192), (10_000, 12_288)] {
            let buffers = Buffers::new(3, length, false).unwrap();
            assert_eq!((buffers.count(), buffers.length(), buffers.total()), (3, length, 3 * apart));
            for slot in 0..3 {
                let place = buffers.pointer(slot) as usize;
                assert_eq!((place % 4096, place - buffers.pointer(0) as usize), (0, slot as usize * apart));
                // SAFETY: nothing is in flight.
                unsafe { buffers.slice(slot, length) }.fill(slot as u8 + 1);
            }
            for slot in 0..3 {
                // SAFETY: as above.
                assert!(unsafe { buffers.slice(slot, length) }.iter().all(|byte| *byte == slot as u8 + 1));
            }
        }
    }

    #[test]
    #[should_panic(expected = "slot as usize) < self.count")]
    fn there_is_no_slot_behind_the_last() {
        Buffers::new(2, 512, false).unwrap().pointer(2);
    }

    #[test]
    #[should_panic(expected = "length <= self.length")]
    fn a_slot_is_no_longer_than_it_is() {
        // SAFETY: it panics before there is a slice.
        let _ = unsafe { Buffers::new(2, 512, false).unwrap().slice(0, 513) };
    }
}
