//! How many files a process may have open.

use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};

/// Raise the limit of open files, for jobs that have many open at once. The usual soft limit of 1024 is for programs that
/// use select(2).
pub fn allow_many_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    // Where this is refused, operations that need more descriptors fail with their own error.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
