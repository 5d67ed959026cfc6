//! Runs the tasks of one lane.

use crate::backend::Commands;
use crate::files;
use crate::process::Ended;
use assay_core::names::PROGRAMS;
use assay_core::{creation_log, Completion, Fault, Lane, MethodChoice, Op, OpKind, PhasePlan, SetupError};
use assay_spec::{Event, FaultDomain, Method, Task};
use std::path::PathBuf;
use std::sync::Arc;

/// Directory of a task in that of the job.
fn directory_of(task: usize) -> String {
    format!("{PROGRAMS}/task{task}")
}

/// A lane that runs one program at a time.
pub(crate) struct CommandLane {
    commands: Arc<Commands>,
    lane: u32,
    /// Why the last task failed.
    message: Option<String>,
    /// Tasks that have ended well in this phase.
    well: Vec<usize>,
    done: Vec<Completion>,
}

impl CommandLane {
    pub(crate) fn new(commands: Arc<Commands>, lane: u32) -> Self {
        CommandLane { commands, lane, message: None, well: Vec::new(), done: Vec::new() }
    }

    fn folder(&self, task: usize) -> PathBuf {
        self.commands.path(&directory_of(task))
    }

    /// Run a task and report it.
    fn task(&mut self, task: usize) -> Result<u64, Fault> {
        let target = &self.commands.target;
        let folder = self.folder(task);
        let variables = self.commands.variables(Some(task), self.lane);
        let name = format!("task {}", target.tasks[task]);
        let ended = match self.commands.place.make_directory(&directory_of(task)) {
            Ok(()) => self.commands.execute(&target.program, &folder, &variables, self.lane, target.task_limit_ns),
            Err(error) => Ended { failure: Some(error.to_string()), ..Ended::default() },
        };
        let failed = ended.failure.is_some();
        let said = ended.output.last_line().map_or(String::new(), |line| format!(": {line}"));
        let why =
            if ended.exit_code.is_some() { said } else { format!(": {}", ended.failure.as_deref().unwrap_or("")) };
        let code = ended.exit_code.or(ended.signal.map(|signal| -signal)).unwrap_or(0);
        self.report(task, ended);
        if failed {
            self.message = Some(format!("{name}{why}"));
            return Err(Fault::new(FaultDomain::Program, code));
        }
        self.well.push(task);
        Ok(0)
    }

    fn report(&self, task: usize, ended: Ended) {
        let wanted = self.commands.target.output_bytes as usize;
        creation_log::record(&Event::Task(Task {
            task: task as u32,
            lane: self.lane,
            at_ns: ended.started,
            elapsed_ns: ended.elapsed,
            exit_code: ended.exit_code,
            signal: ended.signal,
            failure: ended.failure,
            user_ns: ended.used.user_ns,
            system_ns: ended.used.system_ns,
            max_rss_bytes: ended.used.max_rss_bytes,
            left_running: ended.left_running,
            io: ended.used.io,
            states: ended.states,
            output: (wanted > 0).then(|| ended.output.text(wanted)),
        }));
    }

    /// Check what a task that ended well has left.
    fn check(&self, task: usize) -> Result<(), SetupError> {
        let (target, folder) = (&self.commands.target, self.folder(task));
        for (name, sha256) in &target.outputs {
            files::check(&folder.join(name), sha256)?;
        }
        let Some(program) = &target.check else { return Ok(()) };
        let variables = self.commands.variables(Some(task), self.lane);
        let ended = self.commands.execute(program, &folder, &variables, self.lane, target.task_limit_ns);
        match ended.failure {
            Some(why) => Err(SetupError::new("check", format!("task {}", target.tasks[task]), why)),
            None => Ok(()),
        }
    }
}

impl Lane for CommandLane {
    fn begin(&mut self, _plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        self.well.clear();
        Ok(MethodChoice::of(Method::Sync, "programs choose themselves".to_owned(), 1))
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            let result = self.execute(op);
            self.done.push(Completion::new(op.slot, result));
        }
        ops.len()
    }

    fn reap(&mut self, done: &mut Vec<Completion>, _deadline: u64) {
        done.append(&mut self.done);
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        if op.kind != OpKind::Run {
            return Err(Fault::os(libc::EINVAL));
        }
        self.task(op.object as usize * self.commands.all_lanes as usize + self.lane as usize)
    }

    fn failure_message(&self, _slot: u32) -> Option<String> {
        self.message.clone()
    }

    fn end(&mut self) -> Result<(), SetupError> {
        // What tasks left in memory is written before the next case, which must not pay for it.
        if let Ok(folder) = self.commands.place.open_folder() {
            let _ = rustix::fs::syncfs(folder);
        }
        let well = std::mem::take(&mut self.well);
        well.into_iter().try_for_each(|task| self.check(task))
    }
}
