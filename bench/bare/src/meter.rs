//! What a loop took, by CLOCK_MONOTONIC and getrusage.

use crate::args::Args;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Operations between two looks at the clock.
pub(crate) const BATCH: u64 = 256;

/// What one loop did and took.
#[derive(Default)]
pub(crate) struct Figures {
    ops: u64,
    bytes: u64,
    seconds: f64,
    user_ns: u64,
    system_ns: u64,
}

impl Figures {
    /// Both loops together.
    pub(crate) fn add(&mut self, other: &Figures) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.seconds += other.seconds;
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
    }
}

/// Started just before a loop, finished just after it.
pub(crate) struct Meter {
    end: Instant,
    user_ns: u64,
    system_ns: u64,
    start: Instant,
}

impl Meter {
    pub(crate) fn start(seconds: f64) -> Self {
        let (user_ns, system_ns) = cpu_ns();
        let start = Instant::now();
        Meter { end: start + Duration::from_secs_f64(seconds), user_ns, system_ns, start }
    }

    /// Whether the time is up.
    pub(crate) fn over(&self) -> bool {
        Instant::now() >= self.end
    }

    pub(crate) fn finish(self, ops: u64, bytes: u64) -> Figures {
        let seconds = self.start.elapsed().as_secs_f64();
        let (user_ns, system_ns) = cpu_ns();
        Figures { ops, bytes, seconds, user_ns: user_ns - self.user_ns, system_ns: system_ns - self.system_ns }
    }
}

/// CPU time of this process, user and system.
fn cpu_ns() -> (u64, u64) {
    // SAFETY: all-zero is a valid rusage, and getrusage writes nothing but the one it is given.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    (ns(usage.ru_utime), ns(usage.ru_stime))
}

/// The one line of output.
#[allow(clippy::print_stdout)]
pub(crate) fn print(figures: &Figures) {
    let Figures { ops, bytes, seconds, user_ns, system_ns } = figures;
    println!(r#"{{"ops":{ops},"seconds":{seconds:.9},"user_ns":{user_ns},"system_ns":{system_ns},"bytes":{bytes}}}"#);
}

/// What one reading of the clock costs.
pub(crate) fn clock(mut args: Args) -> Result<Figures, String> {
    let seconds = args.seconds()?;
    args.finish()?;
    let mut ops = 0;
    let meter = Meter::start(seconds);
    while !meter.over() {
        for _ in 0..BATCH {
            black_box(Instant::now());
        }
        ops += BATCH;
    }
    Ok(meter.finish(ops, 0))
}

/// Looks at the clock and does nothing else. `ops` is how often it saw a pause of more than 50 microseconds, in which
/// something else had the CPU, and `seconds` how long these pauses were together: no program can be on time in them.
pub(crate) fn pauses(mut args: Args) -> Result<Figures, String> {
    const PAUSE: Duration = Duration::from_micros(50);
    let seconds = args.seconds()?;
    args.finish()?;
    let (mut found, mut paused) = (0, Duration::ZERO);
    let start = Instant::now();
    let mut last = start;
    while last - start < Duration::from_secs_f64(seconds) {
        let now = Instant::now();
        if now - last > PAUSE {
            found += 1;
            paused += now - last;
        }
        last = now;
    }
    let (user_ns, system_ns) = cpu_ns();
    Ok(Figures { ops: found, bytes: 0, seconds: paused.as_secs_f64(), user_ns, system_ns })
}
