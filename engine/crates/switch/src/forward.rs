//! `assay-switch switch`: forwards frames between ports.

use crate::packets::{Rules, Switch, HEADER};
use crate::port::Port;
use crate::{daemon, value, Outcome};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::process::ExitCode;
use std::time::Instant;

/// Number of frames taken from one port before the next port is served.
const FRAMES_PER_TURN: usize = 64;
/// Size of a frame with the largest segment the kernel makes, with its headers.
const MAX_FRAME: usize = HEADER + (1 << 16) + 64;

pub(crate) fn main(words: &[String]) -> Outcome<ExitCode> {
    let (names, rules) = parse(words)?;
    let ports = names.iter().map(|name| Port::open(name)).collect::<Outcome<Vec<Port>>>()?;
    if daemon::fork()? != 0 {
        return Ok(ExitCode::SUCCESS);
    }
    daemon::own_session()?;
    daemon::release_streams()?;
    // SAFETY: takes numbers only. Without this call the kernel may end each wait 50 us late.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
    forward(&ports, Switch::new(rules))
}

fn parse(words: &[String]) -> Outcome<(Vec<String>, Vec<Rules>)> {
    let (mut names, mut rules) = (vec![], vec![]);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word != "--port" {
            return Err(format!("unknown option {word}"));
        }
        let given = value(word, &mut words)?;
        let parts: Vec<&str> = given.split(':').collect();
        let [name, delay, loss] = parts[..] else {
            return Err(format!("--port {given}: write NAME:DELAY_NS:LOSS_PPM"));
        };
        let number = |text: &str| text.parse::<u64>().map_err(|error| format!("--port {given}: {text}: {error}"));
        names.push(name.to_string());
        rules.push(Rules { delay: number(delay)?, loss: number(loss)?.min(1_000_000) as u32 });
    }
    if names.len() < 2 {
        return Err("a switch needs two ports or more".to_string());
    }
    Ok((names, rules))
}

fn forward(ports: &[Port], mut switch: Switch) -> Outcome<ExitCode> {
    let start = Instant::now();
    let now = || start.elapsed().as_nanos() as u64;
    let mut buffer = vec![0; MAX_FRAME];
    let mut waiting: Vec<PollFd> = ports.iter().map(|port| PollFd::new(port, PollFlags::IN)).collect();
    loop {
        let left = switch.due().map(|due| timespec(due.saturating_sub(now())));
        match poll(&mut waiting, left.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(format!("poll: {error}")),
        }
        for (at, port) in ports.iter().enumerate() {
            if waiting[at].revents().is_empty() {
                continue;
            }
            for _ in 0..FRAMES_PER_TURN {
                let Some(got) = port.receive(&mut buffer) else { break };
                switch.take(at, &buffer[..got], now());
            }
        }
        let now_ns = now();
        while let Some(queued) = switch.pop_due(now_ns) {
            ports[queued.to].send(&queued.bytes);
            switch.reuse(queued);
        }
    }
}

fn timespec(nanoseconds: u64) -> Timespec {
    Timespec { tv_sec: (nanoseconds / 1_000_000_000) as i64, tv_nsec: (nanoseconds % 1_000_000_000) as _ }
}

#[cfg(test)]
mod tests {
    use super::{parse, Rules};

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_string).collect()
    }

    #[test]
    fn ports_are_parsed() {
        let (names, rules) = parse(&words("--port p1:250000:100 --port p2:0:0")).unwrap();
        assert_eq!(names, ["p1", "p2"]);
        assert_eq!(rules, [Rules { delay: 250_000, loss: 100 }, Rules::default()]);
    }

    #[test]
    fn invalid_options_are_refused() {
        for wrong in ["--port p1:0:0", "--port p1:0 --port p2:0:0", "--port p1:x:0 --port p2:0:0", "--lag 3", "--port"]
        {
            assert!(parse(&words(wrong)).is_err(), "{wrong}");
        }
    }
}
