//! The shim's functions (`shim/mpi.c`), and the code that keeps their rules.
//!
//! MPI is started with MPI_THREAD_SERIALIZED: the coordinator and the lane call it, never both at a time. While the
//! coordinator calls `begin`, `least` or `end`, the lane is idle or has not begun; the driver's order of phases ensures
//! that.

pub(crate) use crate::flags::{op_flag, open, shape, RankInfo};
use assay_core::Buffers;
use std::ffi::{c_char, c_int, c_longlong, c_void, CStr, CString};

/// An open file, as the shim stores it.
#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

extern "C" {
    fn assay_mpi_message() -> *const c_char;
    fn assay_mpi_library(text: *mut c_char);
    fn assay_mpi_begin(rank: *mut c_int, size: *mut c_int, on_host: *mut c_int) -> c_int;
    fn assay_mpi_end() -> c_int;
    fn assay_mpi_least(values: *mut c_longlong, count: c_int) -> c_int;
    fn assay_mpi_view(file: *mut Opaque, shape: c_int, piece: c_int, count: c_int, ranks: c_int, rank: c_int) -> c_int;
    fn assay_mpi_open(
        opened: *mut *mut Opaque,
        path: *const c_char,
        flags: c_int,
        hints: *const *const c_char,
        slots: c_int,
    ) -> c_int;
    fn assay_mpi_preallocate(file: *mut Opaque, size: c_longlong) -> c_int;
    fn assay_mpi_hints(file: *mut Opaque, text: *mut c_char, room: c_int) -> c_int;
    fn assay_mpi_sync(file: *mut Opaque) -> c_int;
    fn assay_mpi_close(file: *mut Opaque) -> c_int;
    fn assay_mpi_transfer(
        file: *mut Opaque,
        how: c_int,
        offset: c_longlong,
        data: *mut c_void,
        length: c_int,
    ) -> c_longlong;
    fn assay_mpi_start(
        file: *mut Opaque,
        how: c_int,
        slot: c_int,
        offset: c_longlong,
        data: *mut c_void,
        length: c_int,
    ) -> c_int;
    fn assay_mpi_some(file: *mut Opaque, slots: *mut c_int, results: *mut c_longlong) -> c_int;
}

/// More bytes than any library's version has (MPI_MAX_LIBRARY_VERSION_STRING is 8192 in MPICH, 256 in Open MPI).
const LIBRARY_BYTES: usize = 16 << 10;
/// Bytes for the hints of a file.
const HINT_BYTES: usize = 64 << 10;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The library's version in its own words, in one line. May be called before `begin`.
pub(crate) fn library() -> String {
    let mut room = vec![0_u8; LIBRARY_BYTES];
    // SAFETY: the buffer is larger than what any library writes.
    unsafe { assay_mpi_library(room.as_mut_ptr().cast()) };
    let whole = CStr::from_bytes_until_nul(&room).map_or(String::new(), |words| text(words.to_bytes()));
    // MPICH lists all options that it was built with, line by line.
    let line = whole.lines().next().unwrap_or_default();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The library's message for the last error, in one line.
pub(crate) fn error_message() -> String {
    // SAFETY: a static text with a closing zero, which only this thread's next call changes.
    let words = text(unsafe { CStr::from_ptr(assay_mpi_message()) }.to_bytes());
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Starts MPI, once in a process.
pub(crate) fn begin() -> Result<RankInfo, i32> {
    let (mut rank, mut size, mut on_host) = (0, 0, 0);
    // SAFETY: called once, before anything else of MPI; the numbers live through the call.
    match unsafe { assay_mpi_begin(&raw mut rank, &raw mut size, &raw mut on_host) } {
        0 => Ok(RankInfo { rank: rank as u32, size: size as u32, on_host: on_host as u32 }),
        number => Err(number),
    }
}

/// Ends MPI; no file may be open.
pub(crate) fn end() {
    // SAFETY: called once, after everything else.
    unsafe { assay_mpi_end() };
}

/// The minimum of each value over all ranks, all of which call this.
pub(crate) fn least<const N: usize>(mut values: [i64; N]) -> Result<[i64; N], i32> {
    // SAFETY: the values live through the call.
    match unsafe { assay_mpi_least(values.as_mut_ptr(), N as c_int) } {
        0 => Ok(values),
        number => Err(number),
    }
}

/// An open file, used by one thread at a time.
pub(crate) struct File(*mut Opaque);

// SAFETY: a handle of the library, which lets any thread use it, one at a time (MPI_THREAD_SERIALIZED).
unsafe impl Send for File {}

impl File {
    /// Opens a file with `flags` of `open`, and room for `slots` operations in flight.
    pub(crate) fn open(path: &str, flags: i32, hints: &[(String, String)], slots: usize) -> Result<File, i32> {
        let c_text = |text: &str| CString::new(text).unwrap_or_default();
        let path = c_text(path);
        let words: Vec<CString> = hints.iter().flat_map(|(key, value)| [c_text(key), c_text(value)]).collect();
        let mut pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
        pointers.push(std::ptr::null());
        let mut opened = std::ptr::null_mut();
        // SAFETY: all texts have closing zeros and live through the call.
        match unsafe { assay_mpi_open(&raw mut opened, path.as_ptr(), flags, pointers.as_ptr(), slots as c_int) } {
            0 => Ok(File(opened)),
            number => Err(number),
        }
    }

    /// Reserves space up to a size.
    pub(crate) fn preallocate(&self, size: u64) -> i32 {
        // SAFETY: the file is open.
        unsafe { assay_mpi_preallocate(self.0, size as c_longlong) }
    }

    /// The hints that the library uses.
    pub(crate) fn hints(&self) -> Vec<(String, String)> {
        let mut room = vec![0_u8; HINT_BYTES];
        // SAFETY: the file is open, and no more is written than the buffer holds.
        let used = unsafe { assay_mpi_hints(self.0, room.as_mut_ptr().cast(), HINT_BYTES as c_int) };
        let mut words = room[..used.max(0) as usize].split(|byte| *byte == 0).map(text);
        let mut found = Vec::new();
        while let (Some(key), Some(value)) = (words.next(), words.next()) {
            found.push((key, value));
        }
        found
    }

    /// Sets the rank's view: pieces of `piece` bytes that the `ranks` ranks have in turn, of which this one sees those
    /// of `rank`. `count` pieces make the type.
    pub(crate) fn set_view(&mut self, shape: i32, (piece, count): (u32, u32), (ranks, rank): (u32, u32)) -> i32 {
        let number = |value: u32| value as c_int;
        // SAFETY: the file is open.
        unsafe { assay_mpi_view(self.0, shape, number(piece), number(count), number(ranks), number(rank)) }
    }

    /// Makes stable what this rank has written; all ranks call it together if the file is shared.
    pub(crate) fn sync(&self) -> i32 {
        // SAFETY: the file is open.
        unsafe { assay_mpi_sync(self.0) }
    }

    /// Closes the file; nothing may be in flight.
    pub(crate) fn close(self) -> i32 {
        // SAFETY: the file is open, and not used afterwards.
        unsafe { assay_mpi_close(self.0) }
    }

    /// Executes one operation on a slot of the buffers; returns bytes, or the negative number of an error.
    #[inline]
    pub(crate) fn transfer(&mut self, how: i32, offset: u64, buffers: &Buffers, (slot, length): (u32, u64)) -> i64 {
        assert!(length as usize <= buffers.length());
        let data = buffers.pointer(slot).cast();
        // SAFETY: the slot has that many bytes, and belongs to this operation until it has ended.
        unsafe { assay_mpi_transfer(self.0, how, offset as c_longlong, data, length as c_int) }
    }

    /// Starts one operation; returns 0, or the negative number of an error.
    #[inline]
    pub(crate) fn start(&mut self, how: i32, offset: u64, buffers: &Buffers, (slot, length): (u32, u64)) -> i32 {
        assert!(length as usize <= buffers.length());
        let data = buffers.pointer(slot).cast();
        // SAFETY: as above; the shim has room for as many operations as there are slots.
        unsafe { assay_mpi_start(self.0, how, slot as c_int, offset as c_longlong, data, length as c_int) }
    }

    /// Polls for operations that have ended: returns how many, with their slots and results at the beginning of the two
    /// lists, which have room for all that may be in flight.
    #[inline]
    pub(crate) fn some(&mut self, slots: &mut [c_int], results: &mut [c_longlong]) -> i32 {
        // SAFETY: the lists have room for as many as there are slots.
        unsafe { assay_mpi_some(self.0, slots.as_mut_ptr(), results.as_mut_ptr()) }
    }
}
