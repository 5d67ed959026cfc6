//! The storage that `conform` checks: claimed before, released afterwards.

use crate::{backends, target};
use anyhow::{bail, Context};
use assay_conform::{Subject, MIN_FREE_BYTES};
use assay_core::{clock, Backend, SetupError};
use assay_spec::{BackendCapabilities, Claim, Job, Look, Mark, Target};
use std::cell::Cell;
use std::sync::Arc;

/// The run in marks of `conform`.
const RUN: &str = "conform";
/// Directory in an export, or first part of keys in a bucket, unless the target names one.
const ROOT: &str = "assay-conform";
/// Longest wait for a directory that another process is using.
const LOCK_NS: u64 = 10_000_000_000;

/// Name of a directory of checks: as for jobs, so that the remains of a killed process can be cleaned.
fn directory(number: u32, process: u64) -> String {
    format!("c{number:04}-r{process}")
}

/// A target that checks may work on.
pub(crate) struct Storage {
    target: Target,
    able: BackendCapabilities,
    /// This process has marked it, and removes the mark again.
    claimed: bool,
    /// Number of this process in the names of its directories.
    number: u64,
    /// A job has been opened there.
    used: Cell<bool>,
    /// A device is claimed once for all jobs, so that no other process uses it meanwhile; each lane opens it anew.
    device: Option<Arc<dyn Backend>>,
}

/// Text that identifies this process: host with its boot and process namespace, process, time.
fn identity() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default().to_string_lossy().into_owned();
    let plain = |text: &str, most| -> String { text.chars().filter(char::is_ascii_alphanumeric).take(most).collect() };
    let host = [plain(&host, 40), plain(&boot, 32), plain(&space, 16)].join("-");
    format!("{RUN}_{host}_{}_{}", std::process::id(), clock::wall())
}

/// True if the mark is of a `conform` run that is over, as far as this process can see: processes of another host or
/// container may be alive.
fn is_over(mark: &Mark) -> bool {
    let own = identity();
    let (mut theirs, mut ours) = (mark.identity.split('_'), own.split('_'));
    let host = (theirs.next(), theirs.next()) == (ours.next(), ours.next());
    let process = theirs.next().and_then(|text| text.parse::<u32>().ok());
    let dead = |id| !std::path::Path::new(&format!("/proc/{id}")).exists();
    mark.run == RUN && host && process.is_some_and(dead)
}

/// True if the directory may be used as it is: it was marked by hand, or for the run that the target names.
fn is_marked_for(look: &Look, run: Option<&str>) -> bool {
    let by_hand = look.bad_mark && run.is_none();
    by_hand || look.mark.as_ref().is_some_and(|mark| mark.identity == run.unwrap_or_default())
}

/// A directory that is marked for a run, and the number of further shares.
struct Directory<'a> {
    root: &'a str,
    run: &'a mut Option<String>,
    shares: usize,
}

/// The directory of a target that is on a file system.
fn directory_of(target: &mut Target) -> Option<Directory<'_>> {
    match target {
        Target::File(file) => Some(Directory { root: &file.root, run: &mut file.run, shares: file.shares.len() }),
        Target::Mpiio(file) => Some(Directory { root: &file.root, run: &mut file.run, shares: 0 }),
        _ => None,
    }
}

/// Mark a directory, which is created if needed; returns the identity in its mark, None if it is already marked for
/// this run.
fn claim(root: &str, run: Option<&str>) -> anyhow::Result<Option<String>> {
    let look = assay_backend_file::inspect(root)?;
    if is_marked_for(&look, run) {
        return Ok(None);
    }
    let identity = identity();
    let mark = Mark { run: RUN.to_owned(), identity: identity.clone(), ..Mark::default() };
    let claim = Claim { root: root.to_owned(), mark, over: look.mark.clone().filter(is_over) };
    let answer = assay_backend_file::claim(&claim, LOCK_NS)?;
    if !answer.foreign {
        return Ok(Some(identity));
    }
    match look.names.first().filter(|_| look.mark.is_none()) {
        Some(name) => bail!("{root} holds something that is not Assay's, such as {name}: name a new directory in it"),
        None => bail!("{root} is claimed by another run of Assay: name another directory, or that run in `run`"),
    }
}

impl Storage {
    /// Claim a target.
    pub(crate) fn claim(text: &str) -> anyhow::Result<Self> {
        // No other process, and no run of a study, has this number: these directories belong to this process.
        let number = clock::wall() / 1000 % 1_000_000_000_000;
        let mut target = target::any(text, ROOT, &directory(0, number))?;
        if target.rules().only_reads() {
            bail!("the checks write, and a target with `existing` is only read: leave `existing` out");
        }
        let (mut claimed, mut open_device) = (false, None);
        if let Some(Directory { root, run, shares }) = directory_of(&mut target) {
            if shares > 0 {
                bail!("shares are checked one by one: leave `shares` out, and name each of them as `root`");
            }
            let made = claim(root, run.as_deref()).with_context(|| format!("claim {root}"))?;
            claimed = made.is_some();
            *run = made.or(run.take());
        }
        let kind = backends::kind(&target);
        if !kind.general().verify {
            bail!("a target of kind {} keeps no data: there is nothing to check", target.kind());
        }
        let found = match &target {
            Target::Device(_) => {
                kind.open(&serde_json::from_value(target::min_job(&target, MIN_FREE_BYTES)?)?).map(|backend| {
                    let able = backend.capabilities();
                    open_device = Some(backend);
                    able
                })
            }
            other => kind.probe(other),
        };
        let storage = |able| Storage {
            target: target.clone(),
            able,
            claimed,
            number,
            used: Cell::new(false),
            device: open_device,
        };
        found.map(storage).map_err(|error| {
            if claimed {
                let _ = backends::kind(&target).clean(&target, true, LOCK_NS);
                let words = "a mark was just written there: the storage does not keep even that";
                return anyhow::Error::from(error).context(words);
            }
            error.into()
        })
    }

    /// Files that can still be created; None if there is no limit or it is unknown.
    pub(crate) fn free_inodes(&self) -> Option<u64> {
        let mut target = self.target.clone();
        let root = directory_of(&mut target)?.root;
        rustix::fs::statvfs(root).ok().filter(|stat| stat.f_files > 0).map(|stat| stat.f_favail)
    }

    /// Capabilities of the target.
    pub(crate) fn able(&self) -> &BackendCapabilities {
        &self.able
    }

    /// Remove the mark; returns what could not be removed, and why.
    pub(crate) fn release(&mut self) -> Vec<String> {
        // A directory that was marked by others stays theirs.
        let directory = directory_of(&mut self.target).is_some();
        if directory && !std::mem::take(&mut self.claimed) {
            return Vec::new();
        }
        match backends::kind(&self.target).clean(&self.target, true, LOCK_NS) {
            Ok(answer) => {
                let stays = answer.removed.is_empty() && self.used.get();
                match &self.target {
                    Target::Nfs(_) | Target::Smb(_) if stays => {
                        stderr_line!("note: the directory in the export or share stays: there is something of another process in it");
                    }
                    Target::S3(target) if stays && !target.destroy => {
                        stderr_line!("note: the bucket stays: there is something of another process in it");
                    }
                    _ => {}
                }
                answer.left.iter().map(|left| format!("{}: {}", left.path, left.why)).collect()
            }
            Err(error) => vec![error.to_string()],
        }
    }
}

impl Subject for Storage {
    fn capabilities(&self) -> &BackendCapabilities {
        &self.able
    }

    fn target(&self, number: u32) -> Target {
        self.target.clone().in_directory(&directory(number, self.number))
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        self.used.set(true);
        let backend = self.device.clone().map_or_else(|| backends::open(job), Ok)?;
        let refused = |error: anyhow::Error| SetupError::new("check", "the job", error.to_string());
        backends::check(job, &backend.capabilities()).map_err(refused)?;
        Ok(backend)
    }
}
