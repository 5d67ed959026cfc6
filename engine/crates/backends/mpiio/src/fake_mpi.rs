//! In tests, what stands in for an MPI: files of the host, and other ranks that answer what the test says. Of each thread,
//! which is one test.

// It has the functions of `ffi.rs`, whether it needs what these are given or not.
#![allow(clippy::unused_self, clippy::unnecessary_wraps)]

use assay_core::Buffers;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

pub(crate) mod open {
    pub(crate) const CREATE: i32 = 1;
    pub(crate) const EXCLUSIVE: i32 = 2;
    pub(crate) const READ_ONLY: i32 = 4;
    pub(crate) const SHARED: i32 = 8;
    pub(crate) const ATOMIC: i32 = 16;
}

pub(crate) mod how {
    pub(crate) const WRITES: i32 = 1;
    pub(crate) const TOGETHER: i32 = 2;
    pub(crate) const INDIVIDUAL: i32 = 4;
    pub(crate) const COMMON: i32 = 8;
}

pub(crate) mod shape {
    pub(crate) const VECTOR: i32 = 1;
    pub(crate) const SUBARRAY: i32 = 2;
}

/// Number of an error of the library: MPI_ERR_IO.
pub(crate) const ERROR: i32 = -32;

/// What the library and the other ranks do.
#[derive(Default)]
pub(crate) struct World {
    /// What the other ranks have, each time that all are asked; the least of it.
    pub(crate) others: VecDeque<Result<Vec<i64>, i32>>,
    /// What this rank had.
    pub(crate) asked: Vec<Vec<i64>>,
    /// Calls on files.
    pub(crate) calls: Vec<String>,
    /// Calls whose name begins so fail.
    pub(crate) failing: Option<&'static str>,
    /// So often nothing has ended yet.
    pub(crate) waiting: u32,
    pub(crate) hints: Vec<(String, String)>,
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::default();
}

/// Looks at or changes what MPI does.
pub(crate) fn world<T>(act: impl FnOnce(&mut World) -> T) -> T {
    WORLD.with_borrow_mut(act)
}

/// Takes note of a call; the number of its error.
fn call(words: String) -> Result<(), i32> {
    world(|world| {
        let fails = world.failing.is_some_and(|name| words.starts_with(name));
        world.calls.push(words);
        if fails {
            Err(ERROR)
        } else {
            Ok(())
        }
    })
}

fn number(done: Result<(), i32>) -> i32 {
    done.err().unwrap_or(0)
}

pub(crate) fn library() -> String {
    "Fake MPI 1.0".to_owned()
}

pub(crate) fn said() -> String {
    "the disk is tired".to_owned()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Self_ {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    pub(crate) on_host: u32,
}

/// The second of three ranks, the first of its host.
pub(crate) fn begin() -> Result<Self_, i32> {
    Ok(Self_ { rank: 1, size: 3, on_host: 0 })
}

pub(crate) fn end() {}

pub(crate) fn least<const N: usize>(values: [i64; N]) -> Result<[i64; N], i32> {
    let others = world(|world| {
        world.asked.push(values.to_vec());
        world.others.pop_front()
    });
    let others = others.expect("the test says what the other ranks have")?;
    Ok(std::array::from_fn(|place| values[place].min(others[place])))
}

pub(crate) struct File {
    file: fs::File,
    ended: Vec<(i32, i64)>,
}

impl File {
    pub(crate) fn open(path: &str, flags: i32, hints: &[(String, String)], _slots: usize) -> Result<File, i32> {
        let is = |flag: i32| flags & flag != 0;
        call(format!("open {path} {flags} {hints:?}"))?;
        let mut options = OpenOptions::new();
        options.read(true).write(!is(open::READ_ONLY));
        options.create(is(open::CREATE)).create_new(is(open::EXCLUSIVE));
        let path = path.split_once(':').map_or(path, |(_, path)| path);
        options.open(path).map(|file| File { file, ended: Vec::new() }).map_err(|_| ERROR)
    }

    pub(crate) fn preallocate(&self, size: u64) -> i32 {
        number(call(format!("preallocate {size}")))
    }

    pub(crate) fn hints(&self) -> Vec<(String, String)> {
        world(|world| world.hints.clone())
    }

    pub(crate) fn set_view(&mut self, shape: i32, (piece, count): (u32, u32), (ranks, rank): (u32, u32)) -> i32 {
        number(call(format!("view {shape} {piece} {count} {ranks} {rank}")))
    }

    pub(crate) fn sync(&self) -> i32 {
        number(call("sync".to_owned()))
    }

    pub(crate) fn close(self) -> i32 {
        assert!(self.ended.is_empty(), "nothing is in flight when a file is closed");
        number(call("close".to_owned()))
    }

    pub(crate) fn transfer(&mut self, how: i32, offset: u64, buffers: &Buffers, (slot, length): (u32, u64)) -> i64 {
        if let Err(error) = call(format!("transfer {how} {offset} {length}")) {
            return i64::from(error);
        }
        // SAFETY: the slot belongs to this operation.
        let data = unsafe { buffers.slice(slot, length as usize) };
        let moved =
            if how & how::WRITES != 0 { self.file.write_at(data, offset) } else { self.file.read_at(data, offset) };
        moved.map_or(i64::from(ERROR), |bytes| bytes as i64)
    }

    pub(crate) fn start(&mut self, how: i32, offset: u64, buffers: &Buffers, (slot, length): (u32, u64)) -> i32 {
        if let Err(error) = call(format!("start {how} {offset} {length}")) {
            return error;
        }
        let moved = self.transfer(how, offset, buffers, (slot, length));
        self.ended.push((slot as i32, moved));
        0
    }

    /// One at a time, the last one first.
    pub(crate) fn some(&mut self, slots: &mut [i32], results: &mut [i64]) -> i32 {
        if let Err(error) = call("some".to_owned()) {
            self.ended.clear();
            return error;
        }
        let waits = world(|world| {
            let waits = world.waiting > 0;
            world.waiting = world.waiting.saturating_sub(1);
            waits
        });
        match self.ended.pop() {
            Some(one) if waits => {
                self.ended.push(one);
                0
            }
            Some((slot, result)) => {
                (slots[0], results[0]) = (slot, result);
                1
            }
            None => 0,
        }
    }
}
