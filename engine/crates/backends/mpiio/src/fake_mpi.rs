//! A substitute for an MPI library in tests: files of the host, and other ranks whose values the test sets. Each
//! thread, which is one test, has its own.

// It has the functions of `ffi.rs`, whether it needs their parameters or not.
#![allow(clippy::unused_self, clippy::unnecessary_wraps)]

pub(crate) use crate::flags::{op_flag, open, shape, RankInfo};
use assay_core::Buffers;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

/// A library's error number: MPI_ERR_IO.
pub(crate) const ERROR: i32 = -32;

/// The behaviour of the library and the other ranks.
#[derive(Default)]
pub(crate) struct World {
    /// The minimum over the other ranks, for each agreement.
    pub(crate) others: VecDeque<Result<Vec<i64>, i32>>,
    /// This rank's values in each agreement.
    pub(crate) own_values: Vec<Vec<i64>>,
    /// Calls on files.
    pub(crate) calls: Vec<String>,
    /// Calls whose text begins like this fail.
    pub(crate) failing: Option<&'static str>,
    /// How many polls find nothing ended.
    pub(crate) waiting: u32,
    pub(crate) hints: Vec<(String, String)>,
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::default();
}

/// Reads or changes the behaviour.
pub(crate) fn world<T>(act: impl FnOnce(&mut World) -> T) -> T {
    WORLD.with_borrow_mut(act)
}

/// Records a call; returns its error number if it fails.
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

pub(crate) fn error_message() -> String {
    "the disk is tired".to_owned()
}

/// The second of three ranks, and the first on its host.
pub(crate) fn begin() -> Result<RankInfo, i32> {
    Ok(RankInfo { rank: 1, size: 3, on_host: 0 })
}

pub(crate) fn end() {}

pub(crate) fn least<const N: usize>(values: [i64; N]) -> Result<[i64; N], i32> {
    let others = world(|world| {
        world.own_values.push(values.to_vec());
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
            if how & op_flag::WRITES != 0 { self.file.write_at(data, offset) } else { self.file.read_at(data, offset) };
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

    /// Reports one at a time, the last one first.
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
