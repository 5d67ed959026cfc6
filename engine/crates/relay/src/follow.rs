//! A process that is not the first of its host: its engine is its child, and the first process controls it.
//!
//! It passes the engine's pipes through a socket of this host (`SCM_RIGHTS` of unix(7)); afterwards a line `N` on the
//! socket means: send the engine signal N, and the one line that comes back is its exit code. Only processes of the
//! same user are accepted.

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
const JOIN_TIMEOUT: Duration = Duration::from_mins(1);
/// Interval of polling.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Longest wait while an engine works: waking up takes CPU time from it.
const LONG_POLL: Duration = Duration::from_secs(1);

fn socket_address(key: &str, node: u32) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("assay-relay-{key}-{node}"))
}

/// Start the engine, pass on its pipes, and wait until it has ended.
///
/// # Errors
/// If it cannot be started, or the first process of the host is missing.
pub fn follow(engine: &Path, key: &str, node: u32, local: u32, signalled: &dyn Fn() -> bool) -> anyhow::Result<()> {
    let mut link = connect_leader(key, node)?;
    let mut child = spawn(engine)?;
    let pipes = pipes(&mut child)?;
    send_pipes(&link, local, &pipes)?;
    drop(pipes);
    link.set_nonblocking(true)?;
    let exit = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).ok();
    let (mut received, mut stop_sent, mut open) = (Vec::new(), false, true);
    loop {
        if let Some(status) = child.try_wait()? {
            let _ = link.write_all(format!("{}\n", code_of(status)).as_bytes());
            return Ok(());
        }
        let mut piece = [0; 64];
        // If the first process is gone, the engine's input has ended, too, and it stops by itself.
        match link.read(&mut piece) {
            Ok(0) => open = false,
            Ok(count) => received.extend_from_slice(&piece[..count]),
            Err(error) => open &= matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
        while let Some(end) = received.iter().position(|byte| *byte == b'\n') {
            let word: Vec<u8> = received.drain(..=end).collect();
            if let Ok(number) = String::from_utf8_lossy(&word).trim().parse() {
                kill(&child, number);
            }
        }
        if signalled() && !std::mem::replace(&mut stop_sent, true) {
            kill(&child, 15);
        }
        wait(open.then_some(link.as_fd()), exit.as_ref().map(AsFd::as_fd));
    }
}

/// Wait until there are lines on the link, the engine has ended, or a signal has arrived. Without a pidfd the end is
/// polled for.
fn wait(link: Option<BorrowedFd<'_>>, exit: Option<BorrowedFd<'_>>) {
    let most = if exit.is_some() { LONG_POLL } else { POLL_INTERVAL };
    let mut places: Vec<PollFd<'_>> =
        link.into_iter().chain(exit).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    let timeout = Timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos().into() };
    let _ = poll(&mut places, Some(&timeout));
}

fn connect_leader(key: &str, node: u32) -> anyhow::Result<UnixStream> {
    let (place, until) = (socket_address(key, node)?, Instant::now() + JOIN_TIMEOUT);
    loop {
        match UnixStream::connect_addr(&place) {
            Ok(link) => return Ok(link),
            Err(_) if Instant::now() < until => std::thread::sleep(POLL_INTERVAL),
            Err(error) => bail!("the first process of this host is not there: {error}"),
        }
    }
}

fn send_pipes(link: &UnixStream, local: u32, pipes: &[OwnedFd; 3]) -> anyhow::Result<()> {
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
/// If one cannot be started or does not join in time.
pub(crate) fn gather(engine: &Path, key: &str, node: u32, tasks: u32) -> anyhow::Result<Vec<Engine>> {
    let listener =
        UnixListener::bind_addr(&socket_address(key, node)?).context("a socket for the processes of this host")?;
    listener.set_nonblocking(true)?;
    let mut engines: Vec<Option<Engine>> = (0..tasks).map(|_| None).collect();
    engines[0] = Some(Engine::start(engine)?);
    let until = Instant::now() + JOIN_TIMEOUT;
    while engines.iter().any(Option::is_none) {
        match listener.accept() {
            Ok((link, _)) if same_user(&link) => {
                let (local, pipes) = receive_pipes(&link)?;
                match engines.get_mut(local as usize) {
                    Some(place @ None) => *place = Some(Engine::remote(pipes, link)?),
                    _ => bail!("process {local} of this host has come twice, or is none of {tasks}"),
                }
            }
            Ok(_) => {}
            Err(_) if Instant::now() < until => std::thread::sleep(POLL_INTERVAL),
            Err(_) => {
                let there = engines.iter().flatten().count();
                bail!("only {there} of {tasks} processes of this host have come within {} s", JOIN_TIMEOUT.as_secs());
            }
        }
    }
    Ok(engines.into_iter().flatten().collect())
}

fn same_user(link: &UnixStream) -> bool {
    rustix::net::sockopt::socket_peercred(link).is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

fn receive_pipes(link: &UnixStream) -> anyhow::Result<(u32, [OwnedFd; 3])> {
    link.set_nonblocking(false)?;
    link.set_read_timeout(Some(JOIN_TIMEOUT))?;
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
