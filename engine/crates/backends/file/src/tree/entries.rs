//! The entries of a ring for an operation on a name, and the meaning of their completions.
//!
//! A file is created or opened by a chain of linked entries: openat, write if there are contents, close. They use a
//! direct descriptor, one of the ring's own, whose number is that of the operation's slot. Every other operation is one
//! entry.

use crate::tree::calls::{size, DIRECTORY_MODE, FILE_MODE, OPEN};
use assay_core::names::{Name, Names};
use assay_core::{Buffers, Op, OpKind};
use assay_spec::Operation;
use assay_spec::{data_kinds, data_operations, object_kinds, object_operations, program_kinds, program_operations};
use io_uring::types::{DestinationSlot, Fd, Fixed};
use io_uring::{opcode, squeue};
use libc::c_int;
use std::cell::UnsafeCell;

/// Most entries of one operation.
pub(crate) const CHAIN: u32 = 3;

/// The entries of an operation, and how many of them are used.
pub(crate) type Chain = ([squeue::Entry; CHAIN as usize], usize);

/// Buffer for a file's attributes, which the kernel fills.
pub(crate) type StatBuffer = UnsafeCell<libc::statx>;

/// An empty buffer.
pub(crate) fn stat_buffer() -> StatBuffer {
    // SAFETY: all-zero is a valid statx, which has nothing but integers.
    UnsafeCell::new(unsafe { std::mem::zeroed() })
}

/// Which entry of an operation a completion belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The only or last entry. It always completes, unless the chain was not begun.
    Last,
    /// The openat of a chain, which completes only on failure; then no other entry of the chain is executed or
    /// completes.
    Open,
    /// The write of a chain, which completes only on failure or if it is short; the close is executed all the same.
    Write,
}

/// What the kernel reads while an operation is in flight, and what is known of the operation.
pub(crate) struct Slot {
    name: Name,
    other: Name,
    kind: OpKind,
    length: u32,
    pub(crate) busy: bool,
    /// Number of the slot's operation, so that a late completion is not taken for that of a new operation.
    pub(crate) generation: u32,
    /// Index of its leaf among the open ones.
    pub(crate) leaf: usize,
    /// The result of a failed or short write.
    written: Option<Result<u32, i32>>,
}

impl Slot {
    pub(crate) fn new() -> Self {
        Slot {
            name: Name::new(b'f', 0),
            other: Name::new(b'r', 0),
            kind: OpKind::Sync,
            length: 0,
            busy: false,
            generation: 0,
            leaf: 0,
            written: None,
        }
    }

    /// Assigns the slot to an operation.
    pub(crate) fn take(&mut self, op: &Op, leaf: usize, names: &mut Names) {
        names.current.set(op.object);
        self.name = names.current;
        if op.kind == OpKind::Rename {
            names.other.set(op.object);
            self.other = names.other;
        }
        self.generation = self.generation.wrapping_add(1);
        (self.kind, self.length, self.leaf) = (op.kind, op.length as u32, leaf);
        (self.busy, self.written) = (true, None);
    }

    /// Notes a completion; returns the operation's result if it was the last one.
    pub(crate) fn note_completion(&mut self, stage: Stage, code: i32, found: &StatBuffer) -> Option<Result<u32, i32>> {
        let result = if code < 0 { Err(-code) } else { Ok(code as u32) };
        match (stage, result) {
            (Stage::Open, Err(errno)) => Some(Err(errno)),
            (Stage::Open, Ok(_)) => None,
            (Stage::Write, result) => {
                self.written = Some(result);
                None
            }
            (Stage::Last, result) => Some(match (self.written, result, self.kind) {
                (Some(written), _, _) => written,
                (None, Err(errno), _) => Err(errno),
                (None, Ok(_), OpKind::Create) => Ok(self.length),
                // SAFETY: the kernel has filled it and is done with it.
                (None, Ok(_), OpKind::Stat) => Ok(size(unsafe { &*found.get() })),
                (None, Ok(_), _) => Ok(0),
            }),
        }
    }
}

/// Makes the entries of an operation.
pub(crate) struct Entries<'a> {
    pub(crate) leaf: Fd,
    pub(crate) slot: &'a Slot,
    pub(crate) found: &'a StatBuffer,
    pub(crate) op: &'a Op,
    /// Flags for opening new files.
    pub(crate) create: c_int,
}

impl Entries<'_> {
    pub(crate) fn chain(&self, buffers: &Buffers) -> Chain {
        let (name, other) = (self.slot.name.as_ptr(), self.slot.other.as_ptr());
        let single = match self.op.kind {
            OpKind::Create => return self.create(buffers),
            OpKind::Open => return self.open(),
            OpKind::Stat => {
                let found = self.found.get().cast();
                let (flags, mask) = (libc::AT_SYMLINK_NOFOLLOW, libc::STATX_BASIC_STATS);
                opcode::Statx::new(self.leaf, name, found).flags(flags).mask(mask).build()
            }
            OpKind::Rename => opcode::RenameAt::new(self.leaf, name, self.leaf, other).build(),
            OpKind::Mkdir => opcode::MkDirAt::new(self.leaf, name).mode(DIRECTORY_MODE).build(),
            OpKind::Rmdir => opcode::UnlinkAt::new(self.leaf, name).flags(libc::AT_REMOVEDIR).build(),
            OpKind::Unlink => opcode::UnlinkAt::new(self.leaf, name).build(),
            OpKind::Readdir | OpKind::Close | data_kinds!() | object_kinds!() | program_kinds!() => {
                unreachable!("the ring has an obstacle to these")
            }
        };
        ([self.with_user_data(single, Stage::Last), nop(), nop()], 1)
    }

    fn create(&self, buffers: &Buffers) -> Chain {
        let [open, close] = self.open_and_close(self.create);
        if self.op.length == 0 {
            return ([open, close, nop()], 2);
        }
        let data = buffers.pointer(self.op.slot);
        let write = opcode::Write::new(Fixed(self.op.slot), data, self.op.length as u32).build();
        // A hard link: the file is closed even if this fails.
        let write = write.flags(squeue::Flags::IO_HARDLINK | squeue::Flags::SKIP_SUCCESS);
        ([open, self.with_user_data(write, Stage::Write), close], 3)
    }

    fn open(&self) -> Chain {
        let [open, close] = self.open_and_close(OPEN);
        ([open, close, nop()], 2)
    }

    fn open_and_close(&self, flags: c_int) -> [squeue::Entry; 2] {
        let place = DestinationSlot::try_from_slot_target(self.op.slot).ok();
        let open = opcode::OpenAt::new(self.leaf, self.slot.name.as_ptr()).flags(flags).mode(FILE_MODE);
        let open = open.file_index(place).build().flags(squeue::Flags::IO_LINK | squeue::Flags::SKIP_SUCCESS);
        let close = opcode::Close::new(Fixed(self.op.slot)).build();
        [self.with_user_data(open, Stage::Open), self.with_user_data(close, Stage::Last)]
    }

    /// Puts into an entry what its completion belongs to.
    fn with_user_data(&self, entry: squeue::Entry, stage: Stage) -> squeue::Entry {
        let data = u64::from(self.slot.generation) << 32 | (stage as u64) << 16 | u64::from(self.op.slot);
        entry.user_data(data)
    }
}

/// Unpacks what `Entries::with_user_data` has packed.
pub(crate) fn unpack(data: u64) -> (u32, Stage, u32) {
    let stage = match data >> 16 & 0xffff {
        1 => Stage::Open,
        2 => Stage::Write,
        _ => Stage::Last,
    };
    (data as u32 & 0xffff, stage, (data >> 32) as u32)
}

fn nop() -> squeue::Entry {
    opcode::Nop::new().build()
}

/// The ring's opcodes that an operation needs.
pub(crate) fn opcodes(operation: Operation) -> &'static [u8] {
    match operation {
        Operation::Stat => &[opcode::Statx::CODE],
        Operation::Open => &[opcode::OpenAt::CODE, opcode::Close::CODE],
        Operation::Rename => &[opcode::RenameAt::CODE],
        Operation::Unlink | Operation::Rmdir => &[opcode::UnlinkAt::CODE],
        Operation::Mkdir => &[opcode::MkDirAt::CODE],
        Operation::Prepare | Operation::Create => &[opcode::OpenAt::CODE, opcode::Write::CODE, opcode::Close::CODE],
        Operation::Readdir | data_operations!() | object_operations!() | program_operations!() => &[],
    }
}

/// The same as text.
pub(crate) fn description(operation: Operation) -> &'static str {
    match operation {
        Operation::Stat => "io_uring: statx",
        Operation::Open => "io_uring: openat, close, linked",
        Operation::Rename => "io_uring: renameat",
        Operation::Unlink | Operation::Rmdir => "io_uring: unlinkat",
        Operation::Mkdir => "io_uring: mkdirat",
        Operation::Prepare | Operation::Create => "io_uring: openat, write if there are contents, close, linked",
        Operation::Readdir | data_operations!() | object_operations!() | program_operations!() => "io_uring",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::plan;

    fn op(kind: OpKind, slot: u32, length: u64) -> Op {
        Op { kind, count: 1, slot, object: 7, offset: 0, length }
    }

    /// A slot that is assigned to an operation.
    fn assigned(kind: OpKind, length: u64) -> Slot {
        let mut slot = Slot::new();
        slot.take(&op(kind, 0, length), 3, &mut Names::new(0, &plan(Operation::Create)));
        slot
    }

    #[test]
    fn an_operation_ends_once_whichever_entry_completes_it() {
        let (eexist, enospc) = (libc::EEXIST, libc::ENOSPC);
        for (kind, done, result) in [
            (OpKind::Create, vec![(Stage::Open, -eexist)], Err(eexist)),
            (OpKind::Create, vec![(Stage::Last, 0)], Ok(100)),
            // A write that fails is reported when the file is closed.
            (OpKind::Create, vec![(Stage::Write, -enospc), (Stage::Last, 0)], Err(enospc)),
            (OpKind::Create, vec![(Stage::Write, 40), (Stage::Last, 0)], Ok(40)),
            (OpKind::Create, vec![(Stage::Last, -libc::EIO)], Err(libc::EIO)),
            (OpKind::Open, vec![(Stage::Last, 0)], Ok(0)),
            (OpKind::Unlink, vec![(Stage::Last, 0)], Ok(0)),
            (OpKind::Rmdir, vec![(Stage::Last, -libc::ENOTEMPTY)], Err(libc::ENOTEMPTY)),
            (OpKind::Stat, vec![(Stage::Last, 0)], Ok(55)),
        ] {
            let (mut slot, found) = (assigned(kind, 100), stat_buffer());
            // SAFETY: nothing else refers to it.
            unsafe { (*found.get()).stx_size = 55 };
            let mut ends: Vec<_> =
                done.iter().map(|(stage, code)| slot.note_completion(*stage, *code, &found)).collect();
            assert_eq!(ends.pop(), Some(Some(result)), "{kind:?}");
            assert!(ends.iter().all(Option::is_none), "{kind:?}");
        }
        assert_eq!(assigned(OpKind::Create, 1).note_completion(Stage::Open, 0, &stat_buffer()), None);
    }

    #[test]
    fn a_slot_forgets_what_was_before() {
        let mut slot = assigned(OpKind::Create, 100);
        assert_eq!((slot.busy, slot.leaf, slot.generation), (true, 3, 1));
        slot.note_completion(Stage::Write, -libc::ENOSPC, &stat_buffer());
        slot.generation = u32::MAX;
        slot.take(&op(OpKind::Create, 0, 7), 0, &mut Names::new(0, &plan(Operation::Create)));
        assert_eq!((slot.leaf, slot.generation), (0, 0));
        assert_eq!(slot.note_completion(Stage::Last, 0, &stat_buffer()), Some(Ok(7)));
    }

    /// The user data of entries brings back slot, stage and generation, with every length of chain.
    #[test]
    fn completions_find_their_operation() {
        let buffers = Buffers::new(3, 4096, false).unwrap();
        for (kind, length, stages) in [
            (OpKind::Create, 9, vec![Stage::Open, Stage::Write, Stage::Last]),
            (OpKind::Create, 0, vec![Stage::Open, Stage::Last]),
            (OpKind::Open, 0, vec![Stage::Open, Stage::Last]),
            (OpKind::Stat, 0, vec![Stage::Last]),
            (OpKind::Rename, 0, vec![Stage::Last]),
            (OpKind::Mkdir, 0, vec![Stage::Last]),
            (OpKind::Rmdir, 0, vec![Stage::Last]),
            (OpKind::Unlink, 0, vec![Stage::Last]),
        ] {
            for generation in [0, 1, u32::MAX] {
                let mut slot = assigned(kind, length);
                slot.generation = generation;
                let (found, op) = (stat_buffer(), op(kind, 2, length));
                let entries = Entries { leaf: Fd(0), slot: &slot, found: &found, op: &op, create: 0 };
                let (chain, count) = entries.chain(&buffers);
                let sent: Vec<_> = chain[..count].iter().map(|entry| unpack(entry.get_user_data())).collect();
                let expected: Vec<_> = stages.iter().map(|stage| (2, *stage, generation)).collect();
                assert!(sent == expected, "{kind:?}");
            }
        }
    }

    #[test]
    fn operations_need_as_many_codes_as_their_chain_is_long() {
        for (operation, count) in [
            (Operation::Create, 3),
            (Operation::Open, 2),
            (Operation::Stat, 1),
            (Operation::Unlink, 1),
            (Operation::Readdir, 0),
            (Operation::Read, 0),
        ] {
            assert_eq!(opcodes(operation).len(), count, "{operation:?}");
            assert_eq!(description(operation).contains(','), count > 1, "{operation:?}");
        }
    }
}
