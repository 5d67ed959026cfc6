//! The process that talks with the controller for all engines of its host.

use crate::engines::Engine;
use crate::follow::gather;
use crate::frame::Framer;
use crate::merge::{pong, Gather};
use crate::split::{split, Parts};
use crate::up::Up;
use crate::words::{Source, Word, Words};
use assay_drive::control::{word, Word as Control};
use assay_spec::{ByeStatus, Event};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A file of words is looked at so often while the engines wait for one.
const EAGER: Duration = Duration::from_millis(2);
/// And so often while they work, when only a request to stop can come.
const CALM: Duration = Duration::from_millis(250);
/// The ends of processes are noticed this late at most.
const LOOK: Duration = Duration::from_millis(100);
/// Engines that are started together here start so many nanoseconds after the word.
const HEADSTART: u64 = 20_000_000;
/// From SIGTERM to SIGKILL.
const PATIENCE: Duration = Duration::from_secs(10);
/// What is left in the pipes of an engine that has ended is read for so long.
const FAREWELL: Duration = Duration::from_secs(2);

/// How the engines of this host come to be, and how the controller is reached.
pub enum Way<'a> {
    /// So many engines, started here; the controller has a pipe of its own.
    Pipe(u32),
    /// This process is the first of `tasks` on host `node` that a launcher has started, which meet by `key`; frames go up.
    Launched {
        /// Number of the host.
        node: u32,
        /// Processes on it.
        tasks: u32,
        /// What no other job has.
        key: &'a str,
        /// Addressed lines.
        words: Source,
    },
}

/// Starts the engines, passes on what is said in both directions, and returns when all have ended.
///
/// `signalled` says whether a signal has asked to stop.
///
/// # Errors
/// If engines cannot be started or the words not be read.
pub fn lead(engine: &Path, way: Way<'_>, signalled: &dyn Fn() -> bool) -> anyhow::Result<ExitCode> {
    let (engines, words, up, node) = match way {
        Way::Pipe(count) => {
            let engines = (0..count).map(|_| Engine::start(engine)).collect::<Result<Vec<_>, _>>()?;
            (engines, Words::new(Source::Pipe(std::io::stdin()), None), Up::Plain, None)
        }
        Way::Launched { node, tasks, key, words } => {
            let mut up = Up::Frames(Framer::new(node, std::io::stderr()));
            up.host()?;
            let engines = match gather(engine, key, node, tasks) {
                Ok(engines) => engines,
                Err(error) => return Ok(ExitCode::from(up.end(2, &format!("error: {error:#}")))),
            };
            (engines, Words::new(words, Some(node)), up, Some(node))
        }
    };
    let gather = Gather::new(engines.len(), String::new(), true);
    let lead = Lead { engines, words, up, node, gather, begun: false, at_work: false, reason: None, starts: false };
    Ok(ExitCode::from(lead.run(signalled)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

struct Lead {
    engines: Vec<Engine>,
    words: Words,
    up: Up,
    node: Option<u32>,
    gather: Gather,
    /// The job has come.
    begun: bool,
    /// Lanes are at work: no word but one to stop is expected.
    at_work: bool,
    /// Why all was given up.
    reason: Option<String>,
    /// The controller has left it to this process to start engines together.
    starts: bool,
}

impl Lead {
    /// There is nothing to put together: lines are passed on as they are.
    fn one(&self) -> bool {
        self.engines.len() == 1
    }

    fn run(mut self, signalled: &dyn Fn() -> bool) -> u8 {
        let (mut kill_at, mut told, mut dead_since) = (None, false, None);
        loop {
            self.wait();
            if let Err(error) = self.hear_words() {
                self.give_up(format!("error: {error:#}"));
            }
            if signalled() && !std::mem::replace(&mut told, true) {
                self.engines.iter_mut().for_each(|engine| engine.signal(15));
                kill_at = Some(Instant::now() + PATIENCE);
            }
            if kill_at.is_some_and(|at| Instant::now() > at) {
                self.engines.iter_mut().for_each(|engine| engine.signal(9));
                kill_at = Some(Instant::now() + PATIENCE);
            }
            if self.hear_engines().is_err() {
                // Nobody listens any more.
                self.hang_up();
            }
            let ended: Vec<Option<i32>> = self.engines.iter_mut().map(Engine::ended).collect();
            if ended.iter().all(Option::is_some) {
                return self.leave(&ended.into_iter().flatten().collect::<Vec<_>>());
            }
            if self.engines.iter().all(Engine::died) {
                let since = *dead_since.get_or_insert_with(Instant::now);
                if since.elapsed() > FAREWELL {
                    self.engines.iter_mut().for_each(Engine::give_up);
                }
            }
        }
    }

    /// Until there is something to do.
    fn wait(&self) {
        let ready = PollFlags::IN;
        let mut places: Vec<PollFd<'_>> =
            self.engines.iter().flat_map(Engine::waits_at).map(|fd| PollFd::from_borrowed_fd(fd, ready)).collect();
        let most = match self.words.waits_at() {
            Some(pipe) => {
                places.push(PollFd::from_borrowed_fd(pipe, ready));
                LOOK
            }
            None if self.words.ended() => LOOK,
            None if self.at_work => CALM,
            None => EAGER,
        };
        let timeout = Timespec { tv_sec: 0, tv_nsec: most.as_nanos() as _ };
        let _ = poll(&mut places, Some(&timeout));
    }

    fn hear_words(&mut self) -> anyhow::Result<()> {
        for told in self.words.take()? {
            match told {
                Word::Signal(number) => self.engines.iter_mut().for_each(|engine| engine.signal(number)),
                Word::Line(job) if !self.begun => self.begin(&job)?,
                Word::Line(line) => self.pass_on(&line),
            }
        }
        self.engines.iter_mut().for_each(Engine::send);
        if self.words.ended() {
            self.hang_up();
        }
        Ok(())
    }

    fn begin(&mut self, text: &str) -> anyhow::Result<()> {
        self.begun = true;
        let Parts { jobs, starts } = split(text, self.engines.len() as u32, self.node)?;
        self.starts = starts;
        let sum = Sha256::digest(format!("{text}\n").as_bytes());
        self.gather = Gather::new(self.engines.len(), hex(&sum), !starts);
        for (engine, part) in self.engines.iter_mut().zip(jobs) {
            engine.say(&part);
        }
        Ok(())
    }

    fn pass_on(&mut self, line: &str) {
        match word(line.as_bytes(), assay_core::clock::now()) {
            // All engines have this host's clock, and it answers first.
            Some(Control::Ping(number)) => self.say(&pong(number)),
            Some(Control::Go(_)) => {
                self.gather.go();
                self.at_work = true;
            }
            Some(Control::Stop) => self.gather.stop(),
            None => {}
        }
        // Pings, too: an engine that hears nothing takes the controller for gone.
        self.engines.iter_mut().for_each(|engine| engine.say(line));
    }

    fn say(&mut self, event: &Event) {
        if let Ok(line) = serde_json::to_string(event) {
            if self.up.event(&line).is_err() {
                self.hang_up();
            }
        }
    }

    fn hear_engines(&mut self) -> std::io::Result<()> {
        for number in 0..self.engines.len() {
            for line in self.engines[number].lines() {
                let event: Option<Event> = serde_json::from_str(&line).ok();
                if matches!(event, Some(Event::Pong(_))) {
                    continue;
                }
                if matches!(event, Some(Event::Barrier(_) | Event::Bye(_))) {
                    self.at_work = false;
                }
                match event {
                    Some(event) if !self.one() => self.gather.take(number, event),
                    // What is no event is for the controller to judge.
                    _ => self.up.event(&line)?,
                }
            }
            if !self.one() && self.engines[number].ended().is_some() {
                self.gather.gone(number);
            }
        }
        for event in self.gather.events() {
            if let (Event::Barrier(barrier), true) = (&event, self.starts) {
                self.gather.go();
                self.at_work = true;
                let mut go = serde_json::json!({"go": true, "at_ns": assay_core::clock::now() + HEADSTART});
                if let Some(most) = barrier.most {
                    go["most"] = most.into();
                }
                self.engines.iter_mut().for_each(|engine| engine.say(&go.to_string()));
                continue;
            }
            let line = serde_json::to_string(&event).map_err(std::io::Error::other)?;
            self.up.event(&line)?;
        }
        if self.gather.failing() && !self.gather.stopping() {
            self.gather.stop();
            for (number, engine) in self.engines.iter_mut().enumerate() {
                if !self.gather.failed(number) {
                    engine.say("{\"stop\":true}");
                }
            }
        }
        for number in self.gather.left_waiting() {
            self.engines[number].say("{\"go\":true}");
        }
        Ok(())
    }

    fn hang_up(&mut self) {
        self.gather.stop();
        self.engines.iter_mut().for_each(Engine::hang_up);
    }

    /// Ends all that was begun, for a reason that the controller is told last.
    fn give_up(&mut self, reason: String) {
        self.reason.get_or_insert(reason);
        self.words.end();
        self.hang_up();
    }

    fn leave(mut self, codes: &[i32]) -> u8 {
        if let Some(reason) = self.reason.take() {
            return self.up.end(2, &reason);
        }
        if self.one() {
            let complaint = self.engines[0].complaint();
            return self.up.end(codes[0], &complaint);
        }
        if let Some(bye) = self.gather.bye() {
            let code = match bye.status {
                ByeStatus::Ok => 0,
                ByeStatus::Errors | ByeStatus::Stopped | ByeStatus::Stalled => 1,
                ByeStatus::Refused => 2,
            };
            self.say(&Event::Bye(bye));
            return self.up.end(code, "");
        }
        // A refusal says more than that others were stopped for it, and a death more than either.
        let place = (0..codes.len()).min_by_key(|place| match codes[*place] {
            code if code < 0 => 0,
            2 => 1,
            code if code > 0 => 2,
            _ => 3,
        });
        let place = place.unwrap_or(0);
        let complaint = self.engines[place].complaint();
        let which = format!("engine {} of {}", place + 1, codes.len());
        let complaint = match codes[place] {
            2 => complaint,
            code if code < 0 => format!("{which} was killed by signal {}: {complaint}", -code),
            _ => format!("{which}: {complaint}"),
        };
        self.up.end(codes[place], &complaint)
    }
}
