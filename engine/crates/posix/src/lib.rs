//! How operations on an open file reach the kernel: io_uring, pread and pwrite, threads, a mapping, C stdio. And where
//! such files may be: directories that Assay has marked, and what is removed from them (`place`). For every kind of
//! target that is reached through a file of the host's kernel.

mod descriptors;
mod hashed;
mod mmap;
pub mod place;
mod stdio;
mod sync_io;
#[cfg(test)]
mod test_folder;
mod threads;
pub mod uring;

pub use descriptors::allow_many_descriptors;
pub use hashed::{expect_sha256, read_hashed};
pub use mmap::Mmap;
pub use stdio::Stdio;
pub use sync_io::{close, SyncIo};
pub use threads::Threads;
