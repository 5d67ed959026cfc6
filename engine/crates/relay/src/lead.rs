//! The process that connects all engines of its host with the controller.

use crate::commands::{Command, Commands, Source};
use crate::engines::Engine;
use crate::follow::gather;
use crate::frame::Framer;
use crate::merge::{pong, Merger};
use crate::split::{split, Parts};
use crate::upstream::Upstream;
use assay_core::hex;
use assay_drive::control::{parse_command, Command as Control};
use assay_spec::{ByeStatus, Event};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Interval of reading a file of commands while the engines wait for one.
const WAITING_POLL: Duration = Duration::from_millis(2);
/// The interval while they work, when only a request to stop can come.
const WORKING_POLL: Duration = Duration::from_millis(250);
/// Exits of processes are noticed this late at most.
const EXIT_POLL: Duration = Duration::from_millis(100);
/// Engines that this process starts together start this many nanoseconds after the command.
const HEADSTART_NS: u64 = 20_000_000;
/// Time from SIGTERM to SIGKILL.
const KILL_GRACE: Duration = Duration::from_secs(10);
/// Time to read the rest from the pipes of an engine that has ended.
const DRAIN_TIME: Duration = Duration::from_secs(2);

/// How the engines of this host are started, and how the controller is reached.
pub enum LeadMode<'a> {
    /// This many engines, started here; the controller has its own pipe.
    Pipe(u32),
    /// This process is the first of `tasks` on host `node` that a launcher has started, which find each other by `key`;
    /// output is sent as frames.
    Launched {
        /// Number of the host.
        node: u32,
        /// Processes on it.
        tasks: u32,
        /// A word that no other job uses.
        key: &'a str,
        /// Source of addressed lines.
        commands: Source,
    },
}

/// Start the engines, forward lines in both directions, and return when all have ended.
///
/// `signalled` returns true once a signal has requested to stop.
///
/// # Errors
/// If engines cannot be started or the commands cannot be read.
pub fn lead(engine: &Path, mode: LeadMode<'_>, signalled: &dyn Fn() -> bool) -> anyhow::Result<ExitCode> {
    let (engines, commands, up, node) = match mode {
        LeadMode::Pipe(count) => {
            let engines = (0..count).map(|_| Engine::start(engine)).collect::<Result<Vec<_>, _>>()?;
            (engines, Commands::new(Source::Pipe(std::io::stdin()), None), Upstream::Plain, None)
        }
        LeadMode::Launched { node, tasks, key, commands } => {
            let mut up = Upstream::Frames(Framer::new(node, std::io::stderr()));
            up.host()?;
            let engines = match gather(engine, key, node, tasks) {
                Ok(engines) => engines,
                Err(error) => return Ok(ExitCode::from(up.end(2, &format!("error: {error:#}")))),
            };
            (engines, Commands::new(commands, Some(node)), up, Some(node))
        }
    };
    let gather = Merger::new(engines.len(), String::new(), true);
    let lead =
        Lead { engines, commands, up, node, gather, has_job: false, lanes_running: false, reason: None, starts: false };
    Ok(ExitCode::from(lead.run(signalled)))
}

struct Lead {
    engines: Vec<Engine>,
    commands: Commands,
    up: Upstream,
    node: Option<u32>,
    gather: Merger,
    /// The job has arrived.
    has_job: bool,
    /// Lanes are running: only a command to stop is expected.
    lanes_running: bool,
    /// Why everything was ended.
    reason: Option<String>,
    /// This process starts the engines together, instead of the controller.
    starts: bool,
}

impl Lead {
    /// True if there is nothing to merge: lines are forwarded as they are.
    fn has_one_engine(&self) -> bool {
        self.engines.len() == 1
    }

    fn run(mut self, signalled: &dyn Fn() -> bool) -> u8 {
        let (mut kill_at, mut stop_sent, mut dead_since) = (None, false, None);
        loop {
            self.wait();
            if let Err(error) = self.read_commands() {
                self.give_up(format!("error: {error:#}"));
            }
            if signalled() && !std::mem::replace(&mut stop_sent, true) {
                self.engines.iter_mut().for_each(|engine| engine.signal(15));
                kill_at = Some(Instant::now() + KILL_GRACE);
            }
            if kill_at.is_some_and(|at| Instant::now() > at) {
                self.engines.iter_mut().for_each(|engine| engine.signal(9));
                kill_at = Some(Instant::now() + KILL_GRACE);
            }
            if self.read_engines().is_err() {
                // Nothing reads the output any more.
                self.hang_up();
            }
            let ended: Vec<Option<i32>> = self.engines.iter_mut().map(Engine::exit_code).collect();
            if ended.iter().all(Option::is_some) {
                return self.leave(&ended.into_iter().flatten().collect::<Vec<_>>());
            }
            if self.engines.iter().all(Engine::has_exited) {
                let since = *dead_since.get_or_insert_with(Instant::now);
                if since.elapsed() > DRAIN_TIME {
                    self.engines.iter_mut().for_each(Engine::abandon_output);
                }
            }
        }
    }

    /// Wait until there is something to do.
    fn wait(&self) {
        let ready = PollFlags::IN;
        let mut places: Vec<PollFd<'_>> =
            self.engines.iter().flat_map(Engine::poll_fds).map(|fd| PollFd::from_borrowed_fd(fd, ready)).collect();
        let most = match self.commands.poll_fds() {
            Some(pipe) => {
                places.push(PollFd::from_borrowed_fd(pipe, ready));
                EXIT_POLL
            }
            None if self.commands.ended() => EXIT_POLL,
            None if self.lanes_running => WORKING_POLL,
            None => WAITING_POLL,
        };
        let timeout = Timespec { tv_sec: 0, tv_nsec: most.as_nanos() as _ };
        let _ = poll(&mut places, Some(&timeout));
    }

    fn read_commands(&mut self) -> anyhow::Result<()> {
        for stop_sent in self.commands.take()? {
            match stop_sent {
                Command::Signal(number) => self.engines.iter_mut().for_each(|engine| engine.signal(number)),
                Command::Line(job) if !self.has_job => self.begin(&job)?,
                Command::Line(line) => self.forward(&line),
            }
        }
        self.engines.iter_mut().for_each(Engine::flush);
        if self.commands.ended() {
            self.hang_up();
        }
        Ok(())
    }

    fn begin(&mut self, text: &str) -> anyhow::Result<()> {
        self.has_job = true;
        let Parts { jobs, starts } = split(text, self.engines.len() as u32, self.node)?;
        self.starts = starts;
        let sum = Sha256::digest(format!("{text}\n").as_bytes());
        self.gather = Merger::new(self.engines.len(), hex(&sum), !starts);
        for (engine, part) in self.engines.iter_mut().zip(jobs) {
            engine.send_line(&part);
        }
        Ok(())
    }

    fn forward(&mut self, line: &str) {
        match parse_command(line.as_bytes(), assay_core::clock::now()) {
            // All engines have this host's clock, and this process answers first.
            Some(Control::Ping(number)) => self.emit(&pong(number)),
            Some(Control::Go(_)) => {
                self.gather.go();
                self.lanes_running = true;
            }
            Some(Control::Stop) => self.gather.stop(),
            None => {}
        }
        // Pings, too: an engine that receives nothing takes the controller for gone.
        self.engines.iter_mut().for_each(|engine| engine.send_line(line));
    }

    fn emit(&mut self, event: &Event) {
        if let Ok(line) = serde_json::to_string(event) {
            if self.up.event(&line).is_err() {
                self.hang_up();
            }
        }
    }

    fn read_engines(&mut self) -> std::io::Result<()> {
        for number in 0..self.engines.len() {
            for line in self.engines[number].lines() {
                let event: Option<Event> = serde_json::from_str(&line).ok();
                if matches!(event, Some(Event::Pong(_))) {
                    continue;
                }
                if matches!(event, Some(Event::Barrier(_) | Event::Bye(_))) {
                    self.lanes_running = false;
                }
                match event {
                    Some(event) if !self.has_one_engine() => self.gather.take(number, event),
                    // The controller judges lines that are no event.
                    _ => self.up.event(&line)?,
                }
            }
            if !self.has_one_engine() && self.engines[number].exit_code().is_some() {
                self.gather.engine_ended(number);
            }
        }
        for event in self.gather.events() {
            if let (Event::Barrier(barrier), true) = (&event, self.starts) {
                self.gather.go();
                self.lanes_running = true;
                let mut go = serde_json::json!({"go": true, "at_ns": assay_core::clock::now() + HEADSTART_NS});
                if let Some(most) = barrier.most {
                    go["most"] = most.into();
                }
                self.engines.iter_mut().for_each(|engine| engine.send_line(&go.to_string()));
                continue;
            }
            let line = serde_json::to_string(&event).map_err(std::io::Error::other)?;
            self.up.event(&line)?;
        }
        if self.gather.is_failing() && !self.gather.is_stopping() {
            self.gather.stop();
            for (number, engine) in self.engines.iter_mut().enumerate() {
                if !self.gather.failed(number) {
                    engine.send_line("{\"stop\":true}");
                }
            }
        }
        for number in self.gather.left_waiting() {
            self.engines[number].send_line("{\"go\":true}");
        }
        Ok(())
    }

    fn hang_up(&mut self) {
        self.gather.stop();
        self.engines.iter_mut().for_each(Engine::hang_up);
    }

    /// End everything, for a reason that is reported to the controller last.
    fn give_up(&mut self, reason: String) {
        self.reason.get_or_insert(reason);
        self.commands.end();
        self.hang_up();
    }

    fn leave(mut self, codes: &[i32]) -> u8 {
        if let Some(reason) = self.reason.take() {
            return self.up.end(2, &reason);
        }
        if self.has_one_engine() {
            let last_error_line = self.engines[0].last_error_line();
            return self.up.end(codes[0], &last_error_line);
        }
        if let Some(bye) = self.gather.bye() {
            let code = match bye.status {
                ByeStatus::Ok => 0,
                ByeStatus::Errors | ByeStatus::Stopped | ByeStatus::Stalled => 1,
                ByeStatus::Refused => 2,
            };
            self.emit(&Event::Bye(bye));
            return self.up.end(code, "");
        }
        // A refusal explains more than the stop of the others, and a death more than either.
        let place = (0..codes.len()).min_by_key(|place| match codes[*place] {
            code if code < 0 => 0,
            2 => 1,
            code if code > 0 => 2,
            _ => 3,
        });
        let place = place.unwrap_or(0);
        let last_error_line = self.engines[place].last_error_line();
        let which = format!("engine {} of {}", place + 1, codes.len());
        let last_error_line = match codes[place] {
            2 => last_error_line,
            code if code < 0 => format!("{which} was killed by signal {}: {last_error_line}", -code),
            _ => format!("{which}: {last_error_line}"),
        };
        self.up.end(codes[place], &last_error_line)
    }
}
