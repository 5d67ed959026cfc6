//! A lane's session with one share, with many requests under way.
//!
//! When a connection is lost, so is the session with the files that were open in it ([MS-SMB2] section 3.2.7.1): what has
//! no answer ends as lost, and whoever asked for it opens a new session and asks again, or not.

use crate::calls::{self, About, Calls, Own};
use crate::link::Link;
use crate::session::{self, Peer, Refusal, Session};
use crate::status::TIMED_OUT;
use crate::wire::Chain;
use assay_core::{clock, HostCounts, ServiceUse};
use assay_remote::{Outcome, State};
use assay_tcp::socket;
use std::sync::Arc;

/// Most connections of a lane.
const MAX_LINKS: usize = 16;
/// Pause before a server is tried again, and the longest, in nanoseconds.
const PAUSE_NS: (u64, u64) = (50_000_000, 1_000_000_000);

/// Connections to a share.
pub(crate) struct Transport {
    pub(crate) peer: Arc<Peer>,
    pub(crate) calls: Calls,
    session: Option<Session>,
    turn: usize,
    /// No call has its deadline before.
    look_up: u64,
    /// Not to be tried again before; how long the last pause was.
    rest: (u64, u64),
    counts: HostCounts,
    sessions_lost: u64,
}

impl Transport {
    /// Connections are made by `connect`.
    pub(crate) fn new(peer: Arc<Peer>) -> Self {
        let counts = HostCounts { host: peer.server.clone(), ..HostCounts::default() };
        Transport {
            peer,
            calls: calls::none(),
            session: None,
            turn: 0,
            look_up: u64::MAX,
            rest: (0, 0),
            counts,
            sessions_lost: 0,
        }
    }

    pub(crate) fn session(&self) -> Option<&Session> {
        self.session.as_ref()
    }

    /// Opens a session, if there is none, at most until then.
    pub(crate) fn connect(&mut self, until: u64) -> Result<(), Refusal> {
        if self.session.is_some() {
            return Ok(());
        }
        let start = clock::now();
        match session::open(&self.peer, until) {
            Ok(session) => {
                let count = session.links.len() as u64;
                self.counts.opened += count;
                self.counts.setup_ns.push(clock::now() - start);
                (self.session, self.rest) = (Some(session), (0, 0));
                Ok(())
            }
            Err(refusal) => {
                self.counts.refused += 1;
                let pause = (2 * self.rest.1).clamp(PAUSE_NS.0, PAUSE_NS.1);
                self.rest = (clock::now() + pause, pause);
                Err(refusal)
            }
        }
    }

    /// When a server that was not there may be tried again.
    pub(crate) fn rest_until(&self) -> u64 {
        self.rest.0
    }

    /// Makes a call of the requests that `fill` adds; its number. It is sent by `flush` or `wait`. Without a session it is
    /// lost at once.
    pub(crate) fn start(&mut self, about: About, fill: impl FnOnce(&mut Chain<'_>)) -> u32 {
        let links = self.session.as_ref().map_or(1, |session| session.links.len());
        self.turn = (self.turn + 1) % links;
        let number = calls::make(&mut self.calls, about, self.turn, fill);
        self.look_up = self.look_up.min(about.deadline);
        match &mut self.session {
            Some(session) => session.links[self.turn].push(number),
            None => self.calls.finish(number, Outcome::Lost(libc::ENOTCONN)),
        }
        number
    }

    /// Sends what there are credits and room for.
    pub(crate) fn flush(&mut self) {
        let Some(session) = &mut self.session else { return };
        let Session { shared, links, .. } = session;
        let failed = links.iter_mut().find_map(|link| link.send(&mut self.calls, shared).err());
        if let Some(errno) = failed {
            self.lose(errno);
        }
    }

    /// Ends the calls whose deadline has come. What comes for them later would be put where something else may lie by
    /// then: the session goes with them.
    #[cold]
    fn expire(&mut self, now: u64) {
        let late = self.calls.select(|call| call.state == State::Open && call.deadline <= now);
        for number in &late {
            self.calls.finish(*number, Outcome::Failed(TIMED_OUT));
        }
        if !late.is_empty() {
            self.lose(libc::ETIMEDOUT);
        }
        self.look_up = self.calls.first_deadline();
    }

    /// The session is of no use any more.
    #[cold]
    fn lose(&mut self, errno: i32) {
        if let Some(session) = self.session.take() {
            self.sessions_lost += 1;
            self.counts.closed += session.links.len() as u64;
            self.tally(&session.links);
        }
        for number in self.calls.select(|call| call.state == State::Open) {
            self.calls.finish(number, Outcome::Lost(errno));
        }
    }

    fn tally(&mut self, links: &[Link]) {
        for link in links {
            self.counts.requests += link.requests;
            self.counts.max_requests = self.counts.max_requests.max(link.requests);
        }
    }

    /// Sessions lost since the last time; none if none was.
    pub(crate) fn take_lost(&mut self) -> Option<ServiceUse> {
        let sessions_lost = std::mem::take(&mut self.sessions_lost);
        (sessions_lost > 0).then(|| ServiceUse { sessions_lost, ..ServiceUse::default() })
    }

    /// What was counted since the last time.
    pub(crate) fn take_counts(&mut self) -> HostCounts {
        let empty = HostCounts { host: self.counts.host.clone(), ..HostCounts::default() };
        let mut counts = std::mem::replace(&mut self.counts, empty);
        for link in self.session.iter_mut().flat_map(|session| &mut session.links) {
            counts.requests += link.requests;
            counts.max_requests = counts.max_requests.max(link.requests);
            link.requests = 0;
        }
        counts
    }
}

impl assay_remote::Transport for Transport {
    type Own = Own;

    #[inline]
    fn calls(&mut self) -> &mut Calls {
        &mut self.calls
    }

    fn wait(&mut self, until: u64) {
        let now = clock::now();
        if now >= self.look_up {
            self.expire(now);
        }
        self.flush();
        let Some(session) = &mut self.session else { return };
        let wake = if self.calls.finished.is_empty() { until.min(self.look_up) } else { 0 };
        let mut entries = [libc::pollfd { fd: -1, events: 0, revents: 0 }; MAX_LINKS];
        let count = session.links.len();
        for (entry, link) in entries.iter_mut().zip(&session.links) {
            *entry = link.interest();
        }
        socket::poll(&mut entries[..count], wake.saturating_sub(now));
        let mut failed = None;
        let Session { shared, links, .. } = session;
        for (entry, link) in entries.iter().zip(links) {
            let mut done = Ok(());
            if entry.revents & !libc::POLLOUT != 0 {
                done = link.receive(&mut self.calls, shared);
            }
            if entry.revents != 0 {
                done = done.and_then(|()| link.send(&mut self.calls, shared));
            }
            failed = failed.or(done.err());
        }
        if let Some(errno) = failed {
            self.lose(errno);
        }
    }
}
