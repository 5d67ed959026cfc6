//! What a thread waits for, from its line in /proc/PID/syscall.

/// What a thread does, or what it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wait {
    /// For a time, or a lock of a file.
    Nothing,
    /// Perhaps for other processes: for its children, a thread, a terminal, or one of several descriptors.
    Processes,
    /// For what other processes read from or write to a pipe.
    Pipe(Pipe),
    Network,
    Storage,
    /// It is on a CPU, or ready to be.
    Running,
}

/// A call on a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pipe {
    pub(crate) inode: u64,
    /// It waits until there is something to read; else until there is room.
    pub(crate) reads: bool,
}

/// What a descriptor is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Descriptor {
    File,
    Socket,
    /// A pipe, by its inode.
    Pipe(u64),
    Other,
}

/// What a thread waits for, from its line in /proc/PID/syscall: the number of the call and its arguments; -1 without a
/// call, as in a page fault; `running` if it has just been woken.
pub(crate) fn waits_for(call: &str, uninterruptible: bool, descriptor: impl Fn(u64) -> Descriptor) -> Wait {
    let mut words = call.split_whitespace();
    let number: i64 = match words.next() {
        Some("running") => return Wait::Running,
        Some(word) => word.parse().unwrap_or(-1),
        None => -1,
    };
    let first = words.next().and_then(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok());
    if number < 0 {
        return if uninterruptible { Wait::Storage } else { Wait::Nothing };
    }
    if ON_DESCRIPTORS.contains(&number) {
        return match first.map(&descriptor) {
            Some(Descriptor::File) => Wait::Storage,
            Some(Descriptor::Socket) => Wait::Network,
            Some(Descriptor::Pipe(inode)) if !uninterruptible => {
                Wait::Pipe(Pipe { inode, reads: [libc::SYS_read, libc::SYS_readv].contains(&number) })
            }
            _ if uninterruptible => Wait::Storage,
            _ => Wait::Processes,
        };
    }
    if ON_NAMES.contains(&number) {
        return Wait::Storage;
    }
    if ON_LOCKS.contains(&number) {
        // Of a lock that another process has, the wait can be interrupted; that for a server that keeps locks cannot.
        return if uninterruptible { Wait::Storage } else { Wait::Nothing };
    }
    if ON_NETWORKS.contains(&number) {
        return Wait::Network;
    }
    if ON_TIME.contains(&number) {
        return Wait::Nothing;
    }
    // Such a sleep is one of the kernel: it waits for a device or a file system, whatever the call.
    if uninterruptible && !AMONG_PROCESSES.contains(&number) {
        return Wait::Storage;
    }
    Wait::Processes
}

/// Calls whose first argument is the descriptor of a file, pipe or socket.
const ON_DESCRIPTORS: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_syncfs,
    libc::SYS_sync_file_range,
    libc::SYS_fallocate,
    libc::SYS_ftruncate,
    libc::SYS_fstat,
    libc::SYS_getdents64,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_close,
    libc::SYS_lseek,
    libc::SYS_ioctl,
];
/// Calls on names of files.
const ON_NAMES: &[i64] = &[
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
    libc::SYS_mkdirat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_readlinkat,
    libc::SYS_fchmodat,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_statfs,
    libc::SYS_truncate,
    libc::SYS_getxattr,
    libc::SYS_setxattr,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_sync,
    libc::SYS_msync,
    libc::SYS_io_getevents,
    libc::SYS_io_uring_enter,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_getdents,
];
/// Calls that wait for locks of files.
const ON_LOCKS: &[i64] = &[libc::SYS_flock, libc::SYS_fcntl];
/// Calls on sockets.
const ON_NETWORKS: &[i64] = &[
    libc::SYS_connect,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvmmsg,
];
/// Calls that wait for a time.
const ON_TIME: &[i64] = &[libc::SYS_nanosleep, libc::SYS_clock_nanosleep];
/// Calls in which processes and threads wait for each other.
const AMONG_PROCESSES: &[i64] = &[
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_futex,
    libc::SYS_clone,
    libc::SYS_clone3,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: i64, uninterruptible: bool, descriptor: Descriptor) -> Wait {
        waits_for(&format!("{number} 0x3 0x7ffd 0x1000 0x0 0x0 0x0 0x7f 0x7f"), uninterruptible, |fd| {
            assert_eq!(fd, 3);
            descriptor
        })
    }

    #[test]
    fn a_wait_is_for_what_the_call_works_on() {
        for (number, descriptor, expected) in [
            (libc::SYS_read, Descriptor::File, Wait::Storage),
            (libc::SYS_read, Descriptor::Socket, Wait::Network),
            (libc::SYS_read, Descriptor::Other, Wait::Processes),
            (libc::SYS_read, Descriptor::Pipe(7), Wait::Pipe(Pipe { inode: 7, reads: true })),
            (libc::SYS_write, Descriptor::Pipe(7), Wait::Pipe(Pipe { inode: 7, reads: false })),
            (libc::SYS_fsync, Descriptor::File, Wait::Storage),
            (libc::SYS_unlinkat, Descriptor::Other, Wait::Storage),
            (libc::SYS_recvfrom, Descriptor::Socket, Wait::Network),
            (libc::SYS_flock, Descriptor::File, Wait::Nothing),
            (libc::SYS_wait4, Descriptor::Other, Wait::Processes),
            (libc::SYS_futex, Descriptor::Other, Wait::Processes),
            (libc::SYS_ppoll, Descriptor::Other, Wait::Processes),
            (libc::SYS_clock_nanosleep, Descriptor::Other, Wait::Nothing),
        ] {
            assert_eq!(of(number, false, descriptor), expected, "{number}");
        }
        // A pipe whose other end is full is no storage; a device that is read through some other descriptor is.
        assert_eq!(of(libc::SYS_read, true, Descriptor::Other), Wait::Storage);
        assert_eq!(of(libc::SYS_futex, true, Descriptor::Other), Wait::Processes);
        assert_eq!(of(libc::SYS_mmap, true, Descriptor::Other), Wait::Storage);
        // A server of locks that does not answer.
        assert_eq!(of(libc::SYS_flock, true, Descriptor::File), Wait::Storage);
    }

    #[test]
    fn a_page_fault_is_no_call() {
        let nothing = |_| Descriptor::Other;
        assert_eq!(waits_for("-1 0x7ffd 0x7f", true, nothing), Wait::Storage);
        assert_eq!(waits_for("-1 0x7ffd 0x7f", false, nothing), Wait::Nothing);
        assert_eq!(waits_for("running", false, nothing), Wait::Running);
        assert_eq!(waits_for("", true, nothing), Wait::Storage);
    }

    #[test]
    fn the_busiest_thread_decides() {
        let pipe = Wait::Pipe(Pipe { inode: 1, reads: true });
        let ordered = [Wait::Nothing, Wait::Processes, pipe, Wait::Network, Wait::Storage, Wait::Running];
        assert!(ordered.is_sorted());
    }
}
