//! A program that works in a directory below a marked one.

use super::{job_directory, TargetRules};
use crate::validate::{absolute_without_dots, ensure, is_sha256, plain_name, ABSOLUTE, MAX_TIME_NS, PLAIN, SHA256};
use crate::{Job, JobError, Layout};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most tasks of a job.
pub const MAX_TASKS: usize = 10_000;
/// Most bytes of all words of a job's programs, environment and tasks.
const MAX_WORDS_BYTES: usize = 1 << 20;
/// Most bytes of a task's output that an event carries.
const MAX_OUTPUT_BYTES: u32 = 256 << 10;

/// What is executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The program and its arguments, in which `$path`, `$inputs`, `$task`, `$tasks`, `$lane` and `$host` stand for
    /// their values and `$$` for a dollar; or with `shell` one text for `/bin/sh -c`, which has these as variables of its
    /// environment.
    #[schemars(length(min = 1))]
    pub words: Vec<String>,
    /// The shell executes it.
    #[serde(default)]
    pub shell: bool,
}

/// A file of the host that is copied to the target before the program is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name below `inputs`: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with a dot.
    pub name: String,
    /// Absolute path of the file.
    pub path: String,
    /// SHA-256 of its contents in hex; another one is refused. None: not checked.
    #[serde(default)]
    pub sha256: Option<String>,
}

/// A program that is run once for each task, with a directory of the task below `root`/`directory` as its working
/// directory. Tasks are dealt to the lanes of all processes in turn; each lane runs one at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandTarget {
    /// Absolute path of a directory that holds the marker file `.assay-target`.
    pub root: String,
    /// Name of the directory below it that this job uses: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with a dot.
    pub directory: String,
    /// The `identity` in the marker: a root that another run has claimed is refused. None: a marker without one.
    #[serde(default)]
    pub run: Option<String>,
    /// The measured program.
    pub program: Program,
    /// Words for `$task`, one for each task.
    #[schemars(length(min = 1, max = 10_000))]
    pub tasks: Vec<String>,
    /// Files that are copied to `inputs` in the job's directory, by the process with rank 0.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub inputs: Vec<Input>,
    /// Executed once before the first phase, in `inputs`, by the process with rank 0.
    #[serde(default)]
    pub prepare: Option<Program>,
    /// Executed after the phase for each task, in the task's directory; a failure is the task's.
    #[serde(default)]
    pub check: Option<Program>,
    /// Files in the directory of each task, and the SHA-256 of what they must contain, in hex.
    #[serde(default)]
    pub outputs: BTreeMap<String, String>,
    /// Variables of the environment, besides those of the engine.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// A task that takes longer is killed with all its processes, and has failed.
    #[serde(default)]
    #[schemars(range(min = 1, max = 31_536_000_000_000_000_u64))]
    pub task_limit_ns: Option<u64>,
    /// Most bytes of what a task prints that its event carries: the first half of them from the beginning, the rest from
    /// the end.
    #[serde(default)]
    #[schemars(range(max = 262_144))]
    pub output_bytes: u32,
    /// Numbers that the controller finds in the output: name -> regular expression. The engine does not use them.
    #[serde(default)]
    pub figures: BTreeMap<String, String>,
}

impl Program {
    fn validate(&self, field: &str) -> Result<(), JobError> {
        let field = format!("target.{field}.words");
        ensure(self.words.first().is_some_and(|word| !word.is_empty()), &field, "must begin with a program")?;
        ensure(!self.shell || self.words.len() == 1, &field, "must be one text for the shell")?;
        ensure(self.words.iter().all(|word| !word.contains('\0')), &field, "must have no zero bytes")
    }

    fn bytes(&self) -> usize {
        self.words.iter().map(String::len).sum()
    }
}

impl CommandTarget {
    /// Its programs, and the fields that they stand in.
    fn programs(&self) -> impl Iterator<Item = (&'static str, &Program)> {
        let also = [("prepare", self.prepare.as_ref()), ("check", self.check.as_ref())];
        let also = also.into_iter().filter_map(|(field, program)| program.map(|program| (field, program)));
        std::iter::once(("program", &self.program)).chain(also)
    }

    fn validate_files(&self) -> Result<(), JobError> {
        ensure(self.inputs.len() <= 1000, "target.inputs", "must be at most 1000")?;
        for input in &self.inputs {
            ensure(plain_name(&input.name), "target.inputs.name", PLAIN)?;
            ensure(absolute_without_dots(&input.path), "target.inputs.path", ABSOLUTE)?;
            let whole = input.sha256.as_deref().is_none_or(is_sha256);
            ensure(whole, "target.inputs.sha256", SHA256)?;
        }
        for (name, sha256) in &self.outputs {
            ensure(plain_name(name), "target.outputs", PLAIN)?;
            ensure(is_sha256(sha256), "target.outputs", SHA256)?;
        }
        Ok(())
    }

    fn validate_words(&self) -> Result<(), JobError> {
        for (field, program) in self.programs() {
            program.validate(field)?;
        }
        let named = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
        let variables = self.environment.iter().all(|(name, value)| named(name) && !value.contains('\0'));
        ensure(variables, "target.environment", "must have names without = and values without zero bytes")?;
        let programs: usize = self.programs().map(|(_, program)| program.bytes()).sum();
        let variables: usize = self.environment.iter().map(|(name, value)| name.len() + value.len()).sum();
        let tasks: usize = self.tasks.iter().map(String::len).sum();
        let few = programs + variables + tasks <= MAX_WORDS_BYTES;
        ensure(few, "target.program", "words of programs, tasks and environment must have at most 1 MiB together")
    }
}

impl TargetRules for CommandTarget {
    fn validate(&self, job: &Job) -> Result<(), JobError> {
        ensure(absolute_without_dots(&self.root), "target.root", ABSOLUTE)?;
        job_directory(&self.directory, self.run.as_ref())?;
        ensure((1..=MAX_TASKS).contains(&self.tasks.len()), "target.tasks", "must be 1 to 10,000")?;
        ensure(self.tasks.iter().all(|task| !task.contains('\0')), "target.tasks", "must have no zero bytes")?;
        self.validate_words()?;
        self.validate_files()?;
        ensure(
            self.task_limit_ns.is_none_or(|ns| (1..=MAX_TIME_NS).contains(&ns)),
            "target.task_limit_ns",
            "must be 1 ns to 365 days",
        )?;
        ensure(self.output_bytes <= MAX_OUTPUT_BYTES, "target.output_bytes", "must be at most 262,144")?;
        let dealt = job.tree.as_ref().map(|tree| tree.all_files(job.all_lanes()));
        let all = dealt == Some(self.tasks.len() as u64);
        ensure(all, "tree", format!("must have one file for each of the {} tasks", self.tasks.len()))?;
        ensure(job.layout == Layout::Separate, "layout", "must be separate: lanes share no file")?;
        ensure(job.queue_depth == 1, "queue_depth", "must be 1: a lane runs one task at a time")
    }

    fn set_directory(&mut self, name: &str) {
        name.clone_into(&mut self.directory);
    }
}
