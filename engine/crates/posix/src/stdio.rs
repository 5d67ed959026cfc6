//! fread and fwrite of the C library, with a stdio buffer of one record as iozone sets it.

use assay_core::{Buffers, Op, OpKind, PhasePlan, SetupError};
use assay_spec::SyncPolicy;
use assay_spec::{name_kinds, object_kinds, program_kinds};
use rustix::fd::{IntoRawFd, OwnedFd};
use std::ffi::CStr;
use std::sync::Arc;

/// A stream of the C library.
pub struct Stdio {
    stream: *mut libc::FILE,
    /// Owned by the stream from setvbuf(3) to fclose(3).
    _buffer: Vec<u8>,
    buffers: Arc<Buffers>,
    data_only: bool,
    position: u64,
}

impl Stdio {
    /// A stream on an open file, for the operations of a phase, with a buffer of one record.
    pub fn open(fd: OwnedFd, plan: &PhasePlan, record: usize, buffers: Arc<Buffers>) -> Result<Self, SetupError> {
        let mode: &CStr = if plan.operation.writes() { c"r+" } else { c"r" };
        let raw = fd.into_raw_fd();
        // SAFETY: `raw` is an open descriptor that we own, and the mode is a C string.
        let stream = unsafe { libc::fdopen(raw, mode.as_ptr()) };
        if stream.is_null() {
            // SAFETY: fdopen failed, so the descriptor is still ours to close.
            unsafe { libc::close(raw) };
            return Err(SetupError::os("open", "C stdio stream", last_errno()));
        }
        let mut buffer = vec![1_u8; record];
        // SAFETY: the buffer lives as long as the stream, and nothing has been done on the stream yet.
        unsafe { libc::setvbuf(stream, buffer.as_mut_ptr().cast(), libc::_IOFBF, buffer.len()) };
        let data_only = plan.sync == SyncPolicy::Fdatasync;
        Ok(Stdio { stream, _buffer: buffer, buffers, data_only, position: 0 })
    }

    /// Execute the operation; returns bytes moved, or errno.
    pub fn execute(&mut self, op: &Op) -> Result<u32, i32> {
        self.call(op).map_err(rustix::io::Errno::raw_os_error)
    }

    fn call(&mut self, op: &Op) -> rustix::io::Result<u32> {
        if op.kind == OpKind::Sync {
            return self.sync();
        }
        if op.offset != self.position {
            // SAFETY: the stream is open.
            if unsafe { libc::fseeko(self.stream, op.offset as i64, libc::SEEK_SET) } != 0 {
                return Err(last_errno());
            }
        }
        let length = op.length as usize;
        let data = self.buffers.pointer(op.slot).cast();
        // SAFETY: the stream is open, and the slot has at least `length` bytes and belongs to this operation.
        let moved = unsafe {
            libc::clearerr(self.stream);
            match op.kind {
                OpKind::Read => libc::fread(data, 1, length, self.stream),
                OpKind::Write => libc::fwrite(data.cast_const(), 1, length, self.stream),
                OpKind::Sync | name_kinds!() | object_kinds!() | program_kinds!() => {
                    return Err(rustix::io::Errno::INVAL)
                }
            }
        };
        self.position = op.offset + moved as u64;
        // SAFETY: the stream is open.
        if moved < length && unsafe { libc::ferror(self.stream) } != 0 {
            return Err(last_errno());
        }
        Ok(moved as u32)
    }

    fn sync(&mut self) -> rustix::io::Result<u32> {
        // SAFETY: the stream is open.
        let failed = unsafe {
            libc::fflush(self.stream) != 0
                || if self.data_only {
                    libc::fdatasync(libc::fileno(self.stream)) != 0
                } else {
                    libc::fsync(libc::fileno(self.stream)) != 0
                }
        };
        if failed {
            return Err(last_errno());
        }
        Ok(0)
    }

    /// Pass everything to the kernel and close the stream.
    pub fn close(&mut self) -> rustix::io::Result<()> {
        let stream = std::mem::replace(&mut self.stream, std::ptr::null_mut());
        // SAFETY: the stream is open, and nobody can use it any more.
        if unsafe { libc::fclose(stream) } != 0 {
            return Err(last_errno());
        }
        Ok(())
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        if !self.stream.is_null() {
            let _ = self.close();
        }
    }
}

fn last_errno() -> rustix::io::Errno {
    rustix::io::Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(rustix::io::Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_folder::{buffers, fill_slot, op, slot_bytes, TestFolder};
    use assay_spec::Operation;

    fn opened(fd: OwnedFd, operation: Operation) -> (Stdio, Arc<Buffers>) {
        let buffers = buffers(1, 512);
        let plan = PhasePlan { sync: SyncPolicy::Fdatasync, ..PhasePlan::of(operation) };
        (Stdio::open(fd, &plan, 512, Arc::clone(&buffers)).unwrap(), buffers)
    }

    #[test]
    fn a_stream_reads_and_writes_at_its_offset() {
        let test_folder = TestFolder::new("stdio");
        let (mut stream, buffers) = opened(test_folder.file("f0", b"0123456789"), Operation::Fwrite);
        fill_slot(&buffers, 0, b'x');
        assert_eq!(stream.execute(&op(OpKind::Write, 0, 2, 3)), Ok(3));
        assert_eq!(stream.execute(&op(OpKind::Write, 0, 7, 1)), Ok(1));
        assert_eq!(std::fs::read(test_folder.at("f0")).unwrap().len(), 10);
        assert_eq!(stream.execute(&op(OpKind::Sync, 0, 0, 0)), Ok(0));
        assert_eq!(std::fs::read(test_folder.at("f0")).unwrap(), b"01xxx56x89");
        stream.close().unwrap();
        let (mut stream, buffers) = opened(test_folder.file("f1", b"0123456789"), Operation::Fread);
        for (offset, length, found) in [(0, 4, &b"0123"[..]), (4, 2, b"45"), (8, 5, b"89"), (10, 5, b""), (1, 2, b"12")]
        {
            assert_eq!(stream.execute(&op(OpKind::Read, 0, offset, length)), Ok(found.len() as u32), "at {offset}");
            assert_eq!(slot_bytes(&buffers, 0, found.len()), found);
        }
        assert_eq!(stream.execute(&op(OpKind::Stat, 0, 0, 0)), Err(libc::EINVAL));
        stream.close().unwrap();
    }

    /// Data that the C library has buffered is written when the stream is closed, and faults are reported then.
    #[test]
    fn what_is_kept_back_is_written_at_the_close() {
        let test_folder = TestFolder::new("stdio-close");
        let (mut stream, _) = opened(test_folder.file("f0", b""), Operation::Fwrite);
        assert_eq!(stream.execute(&op(OpKind::Write, 0, 0, 100)), Ok(100));
        stream.close().unwrap();
        assert_eq!(std::fs::read(test_folder.at("f0")).unwrap().len(), 100);
        let Ok(full) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/full") else { return };
        let (mut stream, _) = opened(full.into(), Operation::Fwrite);
        assert_eq!(stream.execute(&op(OpKind::Write, 0, 0, 100)), Ok(100));
        assert_eq!(stream.close(), Err(rustix::io::Errno::NOSPC));
    }
}
