//! The directory of a job in which programs work.

use crate::files;
use crate::guard::Guard;
use crate::lane::CommandLane;
use crate::observe::Observer;
use crate::process::{self, Ended};
use crate::words::{self, Variables};
use assay_core::names::PROGRAMS;
use assay_core::{Backend, Lane, LaneSetup, PhasePlan, SetupError};
use assay_posix::place::cache;
use assay_posix::place::Place;
use assay_spec::{BackendCapabilities, CacheAction, CommandTarget, Job, Program};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Directory of the files that tasks read.
const INPUTS: &str = "programs/inputs";

/// What the lanes of a process have in common.
pub(crate) struct Commands {
    pub(crate) target: CommandTarget,
    pub(crate) place: Place,
    pub(crate) guard: Guard,
    observer: Observer,
    pub(crate) all_lanes: u32,
    host: String,
    /// Variables of the engine's environment that tasks do not get.
    hidden: Vec<String>,
}

/// Programs of one job.
pub(crate) struct CommandBackend {
    commands: Arc<Commands>,
    rank: u32,
    has_other_processes: bool,
    capabilities: BackendCapabilities,
}

impl CommandBackend {
    /// The place of a target.
    ///
    /// # Errors
    /// If it may not be written to.
    pub(crate) fn place(target: &CommandTarget) -> Result<Place, SetupError> {
        Place::directory(&target.root, &target.directory, target.run.as_deref())
    }

    /// The programs of a job.
    ///
    /// # Errors
    /// If the place may not be written to, or there are no further processes.
    pub(crate) fn new(target: CommandTarget, job: &Job, capabilities: BackendCapabilities) -> Result<Self, SetupError> {
        process::adopt_orphans();
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let commands = Commands {
            place: Self::place(&target)?,
            target,
            guard: Guard::start()?,
            observer: Observer::start(),
            all_lanes: job.all_lanes(),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            hidden: names.filter(|name| name.starts_with("ASSAY_")).collect(),
        };
        Ok(CommandBackend {
            commands: Arc::new(commands),
            rank: job.rank,
            has_other_processes: job.ranks > 1,
            capabilities,
        })
    }

    /// Make the inputs.
    fn make_inputs(&self) -> Result<(), SetupError> {
        let commands = &self.commands;
        commands.place.make_directory(PROGRAMS)?;
        commands.place.make_directory(INPUTS)?;
        let folder = commands.path(INPUTS);
        for input in &commands.target.inputs {
            files::copy(input, &folder)?;
        }
        let Some(program) = &commands.target.prepare else { return Ok(()) };
        let ended = commands.execute(program, &folder, &commands.variables(None, 0), 0, None);
        match ended.failure {
            Some(why) => Err(SetupError::new("run", "prepare", why)),
            None => Ok(()),
        }
    }
}

impl Commands {
    /// A path in the job's directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.place.folder()).join(name)
    }

    /// Variables for a program; `task` is the number of its task, if it has one.
    pub(crate) fn variables(&self, task: Option<usize>, lane: u32) -> Variables {
        let mut found = Variables::from([
            ("path", self.path(PROGRAMS).display().to_string()),
            ("inputs", self.path(INPUTS).display().to_string()),
            ("tasks", self.target.tasks.len().to_string()),
            ("host", self.host.clone()),
        ]);
        if let Some(task) = task {
            found.insert("task", self.target.tasks[task].clone());
            found.insert("lane", lane.to_string());
        }
        found
    }

    /// Run a program in a directory until it ends.
    pub(crate) fn execute(
        &self,
        program: &Program,
        folder: &Path,
        variables: &Variables,
        lane: u32,
        limit_ns: Option<u64>,
    ) -> Ended {
        let words = words::words(program, variables);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(folder);
        for hidden in &self.hidden {
            command.env_remove(hidden);
        }
        command.envs(variables).envs(&self.target.environment);
        let keep = (self.target.output_bytes as usize).max(KEPT_FOR_MESSAGES);
        process::run(&mut command, lane, limit_ns, keep, &self.guard, &self.observer)
    }
}

/// Bytes of a program's output that are kept for the message if it fails.
const KEPT_FOR_MESSAGES: usize = 4 << 10;

impl Backend for CommandBackend {
    fn capabilities(&self) -> BackendCapabilities {
        self.capabilities.clone()
    }

    fn prepare(&self) -> Result<(), SetupError> {
        self.commands.place.create(self.has_other_processes)?;
        if self.rank > 0 {
            return Ok(());
        }
        let made = self.make_inputs();
        if made.is_err() {
            // Nothing else removes it: the job has not begun.
            let _ = self.cleanup();
        }
        made
    }

    fn begin_phase(&self, plan: &PhasePlan) -> Result<String, SetupError> {
        match plan.cache {
            CacheAction::Keep | CacheAction::Evict => Ok(String::new()),
            CacheAction::Drop => cache::drop_caches(),
        }
    }

    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError> {
        Ok(Box::new(CommandLane::new(Arc::clone(&self.commands), setup.lane)))
    }

    fn object_name(&self, lane: u32) -> String {
        format!("{}, lane {lane}", self.commands.place.folder())
    }

    fn device(&self) -> Option<(u32, u32)> {
        self.commands.place.device_number()
    }

    fn still_there(&self) -> Result<(), SetupError> {
        self.commands.place.still_there()
    }

    fn cleanup(&self) -> Result<(), SetupError> {
        process::kill_leftovers(self.commands.guard.pid);
        self.commands.place.remove_all(self.has_other_processes)
    }
}
