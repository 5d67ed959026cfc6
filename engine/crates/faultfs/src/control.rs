//! Control by the test: reads commands, changes rules, and releases hanging calls.

use crate::log::{Call, Log};
use crate::rules::{Fault, Rule};
use crate::Outcome;
use rustix::io::Errno;
use std::io::{BufRead, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// State that the test changes and every call consults.
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

    /// Applies the rules to a call. Delays and hangs happen here, and an injected errno is returned as an error.
    ///
    /// Returns a fault to be applied to the call's data, if any.
    pub(crate) fn apply_rules(&self, call: &Call) -> Result<Option<Fault>, Errno> {
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

    /// The fault and delay of the next rule, from index `at` on, that applies to the call.
    fn next(&self, call: &Call, at: &mut usize) -> Option<(Fault, u64)> {
        let mut state = self.state();
        while *at < state.rules.len() {
            let rule = &mut state.rules[*at];
            *at += 1;
            if rule.applies(call.operation, call.path) {
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

    /// Reads commands from `lines` and writes an answer for each, until the lines end.
    pub(crate) fn serve(&self, lines: impl BufRead, mut answers: impl Write) -> Outcome<()> {
        let mut print_line =
            |text: &str| writeln!(answers, "{text}").and_then(|()| answers.flush()).map_err(|e| e.to_string());
        print_line("ready")?;
        for line in lines.lines() {
            let line = line.map_err(|error| error.to_string())?;
            if line.trim() == "quit" {
                return print_line("ok");
            }
            print_line(&self.execute(&line).unwrap_or_else(|message| format!("error: {message}")))?;
        }
        Ok(())
    }

    fn execute(&self, line: &str) -> Outcome<String> {
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
