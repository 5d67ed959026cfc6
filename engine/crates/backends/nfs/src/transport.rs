//! A lane's connections to one server, with many calls under way.
//!
//! Like a hard mount, up to the call's deadline: a lost connection is made anew and what is without a reply is sent
//! again under the same xid, so that a server which remembers its replies does nothing twice. An error in a reply ends
//! the call, except NFS3ERR_JUKEBOX, with which a server puts a call off (RFC 1813 section 2.6): then it is made again,
//! as a new one, after 100 ms and then after twice as long each time, at most 5 s.

use crate::calls::{Calls, Own};
use crate::link::Link;
use crate::rpc::{Identity, Procedure};
use crate::status::TIMED_OUT;
use assay_core::clock;
use assay_remote::{Outcome, Payload, State};
use assay_tcp::socket;
use std::net::SocketAddr;
use std::sync::Arc;

/// Most connections of a lane.
const MAX_LINKS: usize = 16;

/// Connections to a server.
pub(crate) struct Transport {
    identity: Arc<Identity>,
    pub(crate) calls: Calls,
    links: Vec<Link>,
    /// Connection that the next call goes through.
    turn: usize,
    /// No call has its deadline before.
    look_up: u64,
}

impl Transport {
    /// Connections are made when there are calls to send.
    pub(crate) fn new(address: SocketAddr, links: u32, identity: Arc<Identity>) -> Self {
        let count = (links as usize).clamp(1, MAX_LINKS);
        Transport {
            identity,
            calls: Calls::new(),
            links: (0..count).map(|number| Link::new(number, address)).collect(),
            turn: 0,
            look_up: u64::MAX,
        }
    }

    /// Makes a call that shall have ended by `deadline`; its number. It is sent by `flush` or `wait`.
    pub(crate) fn start(
        &mut self,
        procedure: Procedure,
        (tag, deadline): (u64, u64),
        payload: Payload,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> u32 {
        let number = self.calls.make(&self.identity, procedure, payload, fill);
        self.turn = (self.turn + 1) % self.links.len();
        let call = self.calls.table.get_mut(number);
        (call.link, call.tag, call.deadline) = (self.turn, tag, deadline);
        self.look_up = self.look_up.min(deadline);
        self.links[self.turn].push(number);
        number
    }

    /// Sends what there is room for.
    pub(crate) fn flush(&mut self) {
        for number in 0..self.links.len() {
            if self.links[number].is_idle() {
                continue;
            }
            if self.links[number].send(&self.calls).is_err() {
                self.lost(number);
            }
        }
    }

    /// Makes the first connection now, or says why that is not possible: before a job starts, a server that is not
    /// there is not waited for.
    pub(crate) fn reach(&mut self, until: u64) -> Result<(), i32> {
        let link = &mut self.links[0];
        link.dial(clock::now())?;
        while !link.is_up() {
            let now = clock::now();
            if now >= until {
                return Err(libc::ETIMEDOUT);
            }
            let mut entry = [link.interest()];
            socket::poll(&mut entry, until - now);
            if entry[0].revents != 0 {
                link.ready(entry[0].revents, &mut self.calls)?;
            }
        }
        Ok(())
    }

    /// What is due: deadlines, connections to be made, calls to be made again.
    fn tend(&mut self, now: u64) {
        if now >= self.look_up {
            self.expire(now);
        }
        if !self.calls.put_off.is_empty() {
            self.make_again(now);
        }
        for number in 0..self.links.len() {
            if self.links[number].tend(now).is_err() {
                self.lost(number);
            }
        }
    }

    /// Fails the calls whose deadline has come.
    #[cold]
    fn expire(&mut self, now: u64) {
        let late = |state| matches!(state, State::Open | State::PutOff(_));
        let mut silent = [false; MAX_LINKS];
        for number in self.calls.select(|call| late(call.state) && call.deadline <= now) {
            let call = self.calls.table.get(number);
            let link = call.link;
            // A connection on which a call got no answer may be a dead one, and a new one costs little.
            silent[link] |= call.state == State::Open && self.links[link].is_up();
            self.links[link].forget(number);
            self.calls.put_off.retain(|other| *other != number);
            self.calls.table.finish(number, Outcome::Failed(TIMED_OUT));
        }
        for number in (0..self.links.len()).filter(|number| silent[*number]) {
            self.lost(number);
        }
        self.look_up = self.calls.table.first_deadline();
    }

    fn make_again(&mut self, now: u64) {
        let due = |calls: &Calls, number| matches!(calls.table.get(number).state, State::PutOff(at) if at <= now);
        let numbers: Vec<u32> = self.calls.put_off.iter().copied().filter(|call| due(&self.calls, *call)).collect();
        self.calls.put_off.retain(|call| !numbers.contains(call));
        for number in numbers {
            self.calls.open(number);
            self.links[self.calls.table.get(number).link].push(number);
        }
    }

    /// A connection is of no use any more: what it owes is sent again through the next one.
    #[cold]
    fn lost(&mut self, link: usize) {
        let again = self.calls.select(|call| call.state == State::Open && call.link == link);
        self.links[link].close(again, clock::now());
    }

    fn next_wake(&self) -> u64 {
        let links = self.links.iter().map(Link::next_wake).min().unwrap_or(u64::MAX);
        let put_off = self.calls.put_off.iter().filter_map(|call| match self.calls.table.get(*call).state {
            State::PutOff(at) => Some(at),
            _ => None,
        });
        links.min(self.look_up).min(put_off.min().unwrap_or(u64::MAX))
    }
}

impl assay_remote::Transport for Transport {
    type Own = Own;

    #[inline]
    fn calls(&mut self) -> &mut assay_remote::Calls<Own> {
        &mut self.calls.table
    }

    fn wait(&mut self, until: u64) {
        let now = clock::now();
        self.tend(now);
        self.flush();
        let wake = if self.calls.table.finished.is_empty() { until.min(self.next_wake()) } else { 0 };
        let mut entries = [libc::pollfd { fd: -1, events: 0, revents: 0 }; MAX_LINKS];
        for (entry, link) in entries.iter_mut().zip(&self.links) {
            *entry = link.interest();
        }
        let count = self.links.len();
        socket::poll(&mut entries[..count], wake.saturating_sub(now));
        for (number, entry) in entries.iter().enumerate().take(count).filter(|(_, entry)| entry.revents != 0) {
            if self.links[number].ready(entry.revents, &mut self.calls).is_err() {
                self.lost(number);
            }
        }
    }
}
