//! Bare loops: the least that a program must do for each row of `docs/performance.md`.
//!
//! Each prints one line of JSON, measured around its loop only: no clock reading per operation, no histogram.

mod args;
mod buffer;
mod data;
mod measure;
mod memory;
mod meter;
mod names;
mod offsets;
mod reads;
mod ring;
mod sequential;

use args::Args;
use meter::Figures;
use std::process::ExitCode;

const USAGE: &str = "\
usage: assay-bare COMMAND ...
  pread FILE       random reads, one at a time     --record --seconds --direct --noatime
  mmap FILE        random copies from a mapping    --record --seconds
  ring FILE        random reads through io_uring   --record --seconds --depth --direct --noatime --fixed-buffers
  nop              io_uring operations that do nothing              --seconds --depth
  sequential FILE  --read, --rewrite or (new file) --write
                   --record --bytes --seconds --passes --direct --fsync
  create|stat|open|rename|unlink|mkdir|rmdir DIR   names f0.0, f0.1, ...  --count
  data             --fill or --check Assay's data                   --record --seconds
  clock            readings of CLOCK_MONOTONIC                      --seconds
  pauses           pauses of more than 50 us in which something else had the CPU, and their sum    --seconds
  measure FILE COMMAND ...   what another program takes, written to FILE";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let ended = match words.split_first() {
        Some((first, rest)) if first == "measure" => measure::run(rest),
        _ => run(words).map(|figures| {
            meter::print(&figures);
            0
        }),
    };
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            eprintln!("assay-bare: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(words: Vec<String>) -> Result<Figures, String> {
    let mut args = Args::new(words);
    let Some(command) = args.positional() else {
        return Err(USAGE.to_owned());
    };
    match command.as_str() {
        "pread" => reads::pread(args),
        "mmap" => memory::mmap(args),
        "ring" => ring::reads(args),
        "nop" => ring::nops(args),
        "sequential" => sequential::run(args),
        "create" | "stat" | "open" | "rename" | "unlink" | "mkdir" | "rmdir" => names::run(&command, args),
        "data" => data::run(args),
        "clock" => meter::clock(args),
        "pauses" => meter::pauses(args),
        other => Err(format!("no such command: {other}\n{USAGE}")),
    }
}
