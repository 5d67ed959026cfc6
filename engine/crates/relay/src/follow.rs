//! A process that is not the first of its host: its engine is its child, and the first one talks with it.
//!
//! The pipes of the engine are handed over through a socket of this host (`SCM_RIGHTS` of unix(7)); afterwards a line
//! `N` on the socket means: send it signal N, and the one line that goes back is how it has ended. Only processes of the
//! same user are let in.

use crate::engines::{code_of, kill, pipes, spawn, Engine};
use anyhow::{bail, Context};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use rustix::process::{pidfd_open, Pid, PidfdFlags};
use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest wait for the other processes of the host.
const MEETING: Duration = Duration::from_mins(1);
/// Steps of waiting.
const LOOK: Duration = Duration::from_millis(10);
/// The longest wait while an engine works: being woken takes its CPU.
const LONG: Duration = Duration::from_secs(1);

fn meeting_place(key: &str, node: u32) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("assay-relay-{key}-{node}"))
}

/// Starts the engine, hands its pipes over, and stays until it has ended.
///
/// # Errors
/// If it cannot be started, or the first process of the host is not there.
pub fn follow(engine: &Path, key: &str, node: u32, local: u32, signalled: &dyn Fn() -> bool) -> anyhow::Result<()> {
    let mut link = meet(key, node)?;
    let mut child = spawn(engine)?;
    let pipes = pipes(&mut child)?;
    hand_over(&link, local, &pipes)?;
    drop(pipes);
    link.set_nonblocking(true)?;
    let exit = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).ok();
    let (mut said, mut asked, mut open) = (Vec::new(), false, true);
    loop {
        if let Some(status) = child.try_wait()? {
            let _ = link.write_all(format!("{}\n", code_of(status)).as_bytes());
            return Ok(());
        }
        let mut piece = [0; 64];
        // If the first process is gone the engine's input has ended, too, and it stops by itself.
        match link.read(&mut piece) {
            Ok(0) => open = false,
            Ok(count) => said.extend_from_slice(&piece[..count]),
            Err(error) => open &= matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
        while let Some(end) = said.iter().position(|byte| *byte == b'\n') {
            let word: Vec<u8> = said.drain(..=end).collect();
            if let Ok(number) = String::from_utf8_lossy(&word).trim().parse() {
                kill(&child, number);
            }
        }
        if signalled() && !std::mem::replace(&mut asked, true) {
            kill(&child, 15);
        }
        wait(open.then_some(link.as_fd()), exit.as_ref().map(AsFd::as_fd));
    }
}

/// Until there are words on the link, the engine has ended, or a signal has come. Where the kernel does not tell of the
/// end it is looked for.
fn wait(link: Option<BorrowedFd<'_>>, exit: Option<BorrowedFd<'_>>) {
    let most = if exit.is_some() { LONG } else { LOOK };
    let mut places: Vec<PollFd<'_>> =
        link.into_iter().chain(exit).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    let timeout = Timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos().into() };
    let _ = poll(&mut places, Some(&timeout));
}

fn meet(key: &str, node: u32) -> anyhow::Result<UnixStream> {
    let (place, until) = (meeting_place(key, node)?, Instant::now() + MEETING);
    loop {
        match UnixStream::connect_addr(&place) {
            Ok(link) => return Ok(link),
            Err(_) if Instant::now() < until => std::thread::sleep(LOOK),
            Err(error) => bail!("the first process of this host is not there: {error}"),
        }
    }
}

fn hand_over(link: &UnixStream, local: u32, pipes: &[OwnedFd; 3]) -> anyhow::Result<()> {
    let fds = [pipes[0].as_fd(), pipes[1].as_fd(), pipes[2].as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    anyhow::ensure!(rights.push(SendAncillaryMessage::ScmRights(&fds)), "no room for the pipes of the engine");
    rustix::net::sendmsg(link, &[IoSlice::new(&local.to_le_bytes())], &mut rights, SendFlags::empty())?;
    Ok(())
}

/// The engines of all processes of this host, of which this one is the first, in order.
///
/// # Errors
/// If one cannot be started or does not come.
pub(crate) fn gather(engine: &Path, key: &str, node: u32, tasks: u32) -> anyhow::Result<Vec<Engine>> {
    let listener =
        UnixListener::bind_addr(&meeting_place(key, node)?).context("a socket for the processes of this host")?;
    listener.set_nonblocking(true)?;
    let mut engines: Vec<Option<Engine>> = (0..tasks).map(|_| None).collect();
    engines[0] = Some(Engine::start(engine)?);
    let until = Instant::now() + MEETING;
    while engines.iter().any(Option::is_none) {
        match listener.accept() {
            Ok((link, _)) if same_user(&link) => {
                let (local, pipes) = taken_over(&link)?;
                match engines.get_mut(local as usize) {
                    Some(place @ None) => *place = Some(Engine::afar(pipes, link)?),
                    _ => bail!("process {local} of this host has come twice, or is none of {tasks}"),
                }
            }
            Ok(_) => {}
            Err(_) if Instant::now() < until => std::thread::sleep(LOOK),
            Err(_) => {
                let there = engines.iter().flatten().count();
                bail!("only {there} of {tasks} processes of this host have come within {} s", MEETING.as_secs());
            }
        }
    }
    Ok(engines.into_iter().flatten().collect())
}

fn same_user(link: &UnixStream) -> bool {
    rustix::net::sockopt::socket_peercred(link).is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

fn taken_over(link: &UnixStream) -> anyhow::Result<(u32, [OwnedFd; 3])> {
    link.set_nonblocking(false)?;
    link.set_read_timeout(Some(MEETING))?;
    let mut number = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let got = rustix::net::recvmsg(link, &mut [IoSliceMut::new(&mut number)], &mut rights, RecvFlags::CMSG_CLOEXEC)?;
    let fds: Vec<OwnedFd> = rights
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        })
        .flatten()
        .collect();
    let pipes: Result<[OwnedFd; 3], _> = fds.try_into();
    match (got.bytes, pipes) {
        (4, Ok(pipes)) => Ok((u32::from_le_bytes(number), pipes)),
        _ => bail!("a process of this host has not handed over its engine"),
    }
}
