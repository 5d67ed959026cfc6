//! How operations on one file that is open reach the kernel: io_uring, pread and pwrite, threads, a mapping, C stdio.
//! And where such files may lie: directories that Assay has marked, and what is removed of them (`place`). For every kind
//! of target that is reached through a file of the host's kernel.

#[cfg(test)]
mod ground;
mod mmap;
pub mod place;
mod stdio;
mod sync_io;
mod threads;
pub mod uring;

pub use mmap::Mmap;
pub use stdio::Stdio;
pub use sync_io::{close, SyncIo};
pub use threads::Threads;
