//! Operations through io_uring: fill every slot, submit, wait for one, refill what has completed.

use crate::args::Args;
use crate::buffer::aligned;
use crate::meter::{Figures, Meter, BATCH};
use crate::offsets::Offsets;
use crate::reads::{open, open_flags};
use io_uring::types::Fixed;
use io_uring::{opcode, squeue, IoUring};
use std::os::fd::AsRawFd;

/// A ring for one thread, as cheap as this kernel can make it.
fn build(depth: u64) -> Result<IoUring, String> {
    if depth > 4096 {
        return Err("--depth can be at most 4096".to_owned());
    }
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(depth as u32)
        .map_err(|error| format!("the kernel refuses io_uring: {error}"))
}

pub(crate) fn reads(mut args: Args) -> Result<Figures, String> {
    let path = args.needed("FILE")?;
    let record = args.positive("--record", 4096)?;
    let seconds = args.seconds()?;
    let depth = args.positive("--depth", 32)?;
    let flags = open_flags(&mut args);
    let fixed = args.flag("--fixed-buffers");
    args.finish()?;
    let (file, size) = open(&path, flags)?;
    let mut offsets = Offsets::new(size, record)?;
    let mut ring = build(depth)?;
    let buffer = aligned((record * depth) as usize)?;
    let base = buffer.as_mut_ptr();
    let register = ring.submitter().register_files(&[file.as_raw_fd()]);
    register.map_err(|error| format!("no file can be registered: {error}"))?;
    if fixed {
        let whole = libc::iovec { iov_base: base.cast(), iov_len: buffer.len() };
        // SAFETY: the memory is never given back.
        let register = unsafe { ring.submitter().register_buffers(&[whole]) };
        register.map_err(|error| format!("no buffers can be registered: {error}"))?;
    }
    let entry = |slot: u64| {
        // SAFETY: the slot lies within the buffer.
        let data = unsafe { base.add((slot * record) as usize) };
        let offset = offsets.next();
        if fixed {
            opcode::ReadFixed::new(Fixed(0), data, record as u32, 0).offset(offset).build()
        } else {
            opcode::Read::new(Fixed(0), data, record as u32).offset(offset).build()
        }
    };
    let (meter, ops) = turn(&mut ring, depth, seconds, entry, record as i32)?;
    Ok(meter.finish(ops, ops * record))
}

pub(crate) fn nops(mut args: Args) -> Result<Figures, String> {
    let seconds = args.seconds()?;
    let depth = args.positive("--depth", 32)?;
    args.finish()?;
    let mut ring = build(depth)?;
    let (meter, ops) = turn(&mut ring, depth, seconds, |_| opcode::Nop::new().build(), 0)?;
    Ok(meter.finish(ops, 0))
}

/// Keeps `depth` operations in flight until the time is up, then waits for the last of them.
fn turn(
    ring: &mut IoUring,
    depth: u64,
    seconds: f64,
    mut entry: impl FnMut(u64) -> squeue::Entry,
    expected: i32,
) -> Result<(Meter, u64), String> {
    let (mut ops, mut in_flight, mut look_at, mut over) = (0, 0, BATCH, false);
    let meter = Meter::start(seconds);
    for slot in 0..depth {
        // SAFETY: each slot's memory is the kernel's until its completion.
        unsafe { ring.submission().push(&entry(slot).user_data(slot)) }.map_err(|error| error.to_string())?;
        in_flight += 1;
    }
    while in_flight > 0 {
        ring.submit_and_wait(1).map_err(|error| format!("io_uring: {error}"))?;
        let (_, mut submission, completion) = ring.split();
        for done in completion {
            if done.result() != expected {
                return Err(format!("an operation returned {} instead of {expected}", done.result()));
            }
            ops += 1;
            if over {
                in_flight -= 1;
                continue;
            }
            let slot = done.user_data();
            // SAFETY: the slot's operation has completed, so that its memory is free again.
            unsafe { submission.push(&entry(slot).user_data(slot)) }.map_err(|error| error.to_string())?;
        }
        if ops >= look_at {
            look_at = ops + BATCH;
            over = meter.over();
        }
    }
    Ok((meter, ops))
}
