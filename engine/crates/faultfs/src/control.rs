//! The test's side: lines in, rules set, calls that hang let go.

use crate::log::{Call, Log};
use crate::rules::{Fault, Rule};
use crate::Outcome;
use rustix::io::Errno;
use std::io::{BufRead, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What all calls ask and the test changes.
#[derive(Debug)]
pub(crate) struct Control {
    state: Mutex<State>,
    released: Condvar,
}

#[derive(Debug)]
struct State {
    rules: Vec<Rule>,
    log: Log,
    injected: u64,
    waiting: u64,
    /// How often hanging calls have been released.
    releases: u64,
}

impl Control {
    pub(crate) fn new(log: Log) -> Self {
        let state = State { rules: vec![], log, injected: 0, waiting: 0, releases: 0 };
        Self { state: Mutex::new(state), released: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Take what the rules have for a call: it waits here if it is to wait, and fails here if it is to fail.
    ///
    /// Returns what is to be done to its data, if anything.
    pub(crate) fn meet(&self, call: &Call) -> Result<Option<Fault>, Errno> {
        let mut at = 0;
        while let Some((fault, delay_ms)) = self.next(call, &mut at) {
            match fault {
                Fault::Errno(_, errno) => return Err(errno),
                Fault::Latency => std::thread::sleep(Duration::from_millis(delay_ms)),
                Fault::Hang => self.wait(),
                _ => return Ok(Some(fault)),
            }
        }
        Ok(None)
    }

    /// The next rule from `at` on that strikes.
    fn next(&self, call: &Call, at: &mut usize) -> Option<(Fault, u64)> {
        let mut state = self.state();
        while *at < state.rules.len() {
            let rule = &mut state.rules[*at];
            *at += 1;
            if rule.strikes(call.operation, call.path) {
                let found = (rule.fault, rule.delay_ms);
                state.injected += 1;
                state.log.add(found.0.name(), call);
                return Some(found);
            }
        }
        None
    }

    fn wait(&self) {
        let mut state = self.state();
        let before = state.releases;
        state.waiting += 1;
        state = self.released.wait_while(state, |now| now.releases == before).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
    }

    /// Answer the test's lines until they end.
    pub(crate) fn serve(&self, lines: impl BufRead, mut answers: impl Write) -> Outcome<()> {
        let mut say =
            |text: &str| writeln!(answers, "{text}").and_then(|()| answers.flush()).map_err(|e| e.to_string());
        say("ready")?;
        for line in lines.lines() {
            let line = line.map_err(|error| error.to_string())?;
            if line.trim() == "quit" {
                return say("ok");
            }
            say(&self.obey(&line).unwrap_or_else(|message| format!("error: {message}")))?;
        }
        Ok(())
    }

    fn obey(&self, line: &str) -> Outcome<String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut state = self.state();
        match words.as_slice() {
            ["set", rest @ ..] => state.rules.push(Rule::parse(rest)?),
            ["clear"] => state.rules.clear(),
            ["release"] => {
                state.releases += 1;
                self.released.notify_all();
            }
            ["state"] => {
                let (rules, injected, waiting) = (state.rules.len(), state.injected, state.waiting);
                return Ok(format!("rules={rules} injected={injected} waiting={waiting}"));
            }
            _ => return Err(format!("not understood: {line}")),
        }
        Ok("ok".to_string())
    }
}
