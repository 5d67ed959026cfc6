//! Page-aligned memory that has been touched before it is used.

use rustix::mm::{mmap_anonymous, MapFlags, ProtFlags};

/// `length` bytes of a fixed noise, never given back: the process ends soon.
pub(crate) fn aligned(length: usize) -> Result<&'static mut [u8], String> {
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing of ours.
    let base = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            length,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::POPULATE,
        )
    };
    let base = base.map_err(|error| format!("no memory for {length} bytes: {error}"))?;
    // SAFETY: the mapping has this length, is never unmapped, and only this slice refers to it.
    let bytes = unsafe { std::slice::from_raw_parts_mut(base.cast::<u8>(), length) };
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for byte in bytes.iter_mut() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *byte = (state >> 56) as u8;
    }
    Ok(bytes)
}
