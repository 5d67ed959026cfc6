//! `assay-engine aoe`: disks behind ATA over Ethernet, apart from jobs.

use crate::control;
use crate::run::print_line;
use anyhow::{bail, Context};
use assay_backend_aoe::Trace;
use assay_spec::AoeTarget;
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;

/// The end of the child is noticed this late at most.
const LOOK: Duration = Duration::from_millis(20);

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Print the disks that answer, one JSON object a line.
    ///
    /// Example: assay-engine aoe discover --interface eth1
    Discover(Discover),
    /// Print what one disk is, as JSON. Nothing is written to it.
    ///
    /// Example: assay-engine aoe info e1.0 --interface eth1
    Info(Info),
    /// Show one disk as a file, until its folder is unmounted or this ends (SIGTERM).
    ///
    /// FOLDER is an empty directory; the file in it is called as the disk. Says `{"ready": true}` when it is there.
    ///
    /// Example: assay-engine aoe serve e1.0 /mnt/e1.0 --interface eth1
    Serve(Serve),
}

/// Where to look.
#[derive(clap::Args)]
struct Where {
    /// A network interface; may be given several times. Without it: all Ethernet interfaces that are up.
    #[arg(long = "interface", value_name = "NAME")]
    interfaces: Vec<String>,
    /// Print each frame that goes over the interfaces to standard error, decoded.
    #[arg(long)]
    trace: bool,
}

#[derive(clap::Args)]
struct Discover {
    #[command(flatten)]
    place: Where,
    /// Milliseconds in which disks may answer.
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(10..=600_000))]
    wait: u64,
}

#[derive(clap::Args)]
struct Info {
    #[command(flatten)]
    place: Where,
    /// Address of the disk: shelf and slot, such as e1.0.
    address: String,
}

#[derive(clap::Args)]
struct Serve {
    /// A network interface; may be given several times. Without it: all on which the disk answers.
    #[arg(long = "interface", value_name = "NAME")]
    interfaces: Vec<String>,
    /// Address of the disk: shelf and slot, such as e1.0.
    address: String,
    /// Where the file is to be.
    folder: std::path::PathBuf,
}

/// Ethernet interfaces that are up.
fn ethernet() -> anyhow::Result<Vec<String>> {
    let names = assay_backend_aoe::ethernet_interfaces().context("list network interfaces")?;
    if names.is_empty() {
        bail!("no Ethernet interface is up: ip link shows them");
    }
    Ok(names)
}

impl Where {
    fn interfaces(&self) -> anyhow::Result<Vec<String>> {
        if self.interfaces.is_empty() {
            ethernet()
        } else {
            Ok(self.interfaces.clone())
        }
    }

    fn trace(&self, interfaces: &[String]) -> anyhow::Result<Option<Trace>> {
        let print = |line: &str| stderr_line!("{line}");
        self.trace.then(|| Trace::start(interfaces, print)).transpose().map_err(Into::into)
    }
}

/// Read an address such as e1.0.
fn address(text: &str) -> anyhow::Result<(u16, u8)> {
    let parts = text.strip_prefix('e').unwrap_or(text).split_once('.');
    let numbers = parts.and_then(|(shelf, slot)| Some((shelf.parse().ok()?, slot.parse().ok()?)));
    numbers.with_context(|| format!("{text}: not the address of a disk: such as e1.0, shelf 1 and slot 0"))
}

/// The disk as a target, on the named interfaces, or on those where it responds.
fn target(text: &str, named: &[String]) -> anyhow::Result<AoeTarget> {
    let (major, minor) = address(text)?;
    let mut interfaces = named.to_vec();
    if interfaces.is_empty() {
        let name = format!("e{major}.{minor}");
        let found = assay_backend_aoe::discover(&ethernet()?, 1_000_000_000)?;
        interfaces.extend(found.into_iter().filter(|one| one.address == name).map(|one| one.interface));
        interfaces.dedup();
        if interfaces.is_empty() {
            bail!("{name}: no disk answers to this address on any interface: assay aoe discover shows those that do");
        }
    }
    let target = json!({"kind": "aoe", "interfaces": interfaces, "shelf": major, "slot": minor, "destroy": true});
    match crate::target::read(&target.to_string(), None)? {
        assay_spec::Target::Aoe(target) => Ok(target),
        other => bail!("a target of kind {} has been read: a defect", other.kind()),
    }
}

impl Serve {
    /// Serve the disk in a child process; this process unmounts it when it is asked to end.
    fn run(&self) -> anyhow::Result<ExitCode> {
        // SAFETY: no other thread runs yet, so that the new process is whole.
        let child = unsafe { libc::fork() };
        if child < 0 {
            return Err(std::io::Error::last_os_error()).context("make a process");
        }
        if child == 0 {
            let ready = || drop(print_line(&json!({ "ready": true }).to_string()));
            let target = target(&self.address, &self.interfaces)?;
            assay_backend_aoe::serve(&target, &self.folder, ready)?;
            return Ok(ExitCode::SUCCESS);
        }
        let signalled = control::signalled();
        let mut unmount_sent = false;
        loop {
            let mut status = 0;
            // SAFETY: the status is written by the kernel.
            if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } != 0 {
                let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) as u8 } else { 2 };
                return Ok(ExitCode::from(code));
            }
            if signalled() && !unmount_sent {
                unmount_sent = true;
                let flags = rustix::mount::UnmountFlags::DETACH;
                if rustix::mount::unmount(&self.folder, flags).is_err() {
                    // SAFETY: a child of this process, which has not been waited for.
                    unsafe { libc::kill(child, libc::SIGTERM) };
                }
            }
            std::thread::sleep(LOOK);
        }
    }
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Discover(discover) => {
            let interfaces = discover.place.interfaces()?;
            let trace = discover.place.trace(&interfaces)?;
            let found = assay_backend_aoe::discover(&interfaces, discover.wait * 1_000_000)?;
            drop(trace);
            for one in found {
                print_line(&serde_json::to_string(&one)?)?;
            }
        }
        Command::Info(info) => {
            let interfaces = info.place.interfaces()?;
            let trace = info.place.trace(&interfaces)?;
            let shown =
                target(&info.address, &info.place.interfaces).and_then(|target| Ok(assay_backend_aoe::show(&target)?));
            drop(trace);
            print_line(&serde_json::to_string(&shown?)?)?;
        }
        Command::Serve(serve) => return serve.run(),
    }
    Ok(ExitCode::SUCCESS)
}
