//! The connections of one lane, the choice among several hosts, and counts.

use super::connection::{connect, Connection};
use super::endpoint::Endpoint;
use assay_core::{clock, Fault, HostCounts};
use assay_spec::Balance;
use rustls::ClientConfig;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// A host, its idle connections, and what was counted since the counts were last taken.
struct Host {
    endpoint: Arc<Endpoint>,
    idle: Vec<Connection>,
    busy: u32,
    /// Index of the address that the last connection tried first.
    address: usize,
    counts: HostCounts,
}

/// The connections of one lane.
pub(crate) struct Pool {
    hosts: RefCell<Vec<Host>>,
    balance: Balance,
    turn: RefCell<usize>,
    /// The host that was chosen last.
    last: Cell<usize>,
    tls: Option<Arc<ClientConfig>>,
}

/// A connection in use. `give_back` returns it to the pool; dropping it closes it.
pub(crate) struct PooledConnection {
    pub(super) connection: Option<Connection>,
    host: usize,
    pool: Rc<Pool>,
}

impl Pool {
    /// Creates a pool without connections. `lane`: number of the host to begin with, so that lanes do not all begin
    /// with the same one.
    pub(crate) fn new(
        endpoints: &[Arc<Endpoint>],
        balance: Balance,
        lane: u32,
        tls: Option<Arc<ClientConfig>>,
    ) -> Rc<Self> {
        let host = |endpoint: &Arc<Endpoint>| Host {
            endpoint: Arc::clone(endpoint),
            idle: Vec::new(),
            busy: 0,
            address: lane as usize,
            counts: HostCounts { host: endpoint.text.clone(), ..HostCounts::default() },
        };
        let hosts: Vec<Host> = endpoints.iter().map(host).collect();
        let turn = lane as usize % hosts.len().max(1);
        Rc::new(Pool { hosts: RefCell::new(hosts), balance, turn: RefCell::new(turn), last: Cell::new(0), tls })
    }

    /// Chooses the host of the next request.
    fn choose(&self) -> usize {
        let hosts = self.hosts.borrow();
        let mut turn = self.turn.borrow_mut();
        let count = hosts.len();
        let in_turn = (0..count).map(|more| (*turn + more) % count);
        let chosen = match self.balance {
            Balance::RoundRobin => *turn,
            Balance::LeastLoaded => in_turn.min_by_key(|host| hosts[*host].busy).unwrap_or(*turn),
        };
        *turn = (chosen + 1) % count;
        self.last.set(chosen);
        chosen
    }

    /// The endpoint that was chosen last, as the target names it.
    pub(crate) fn last_endpoint(&self) -> String {
        self.hosts.borrow().get(self.last.get()).map_or_else(String::new, |host| host.endpoint.text.clone())
    }

    /// The endpoint of a host.
    pub(crate) fn endpoint(&self, host: usize) -> Arc<Endpoint> {
        Arc::clone(&self.hosts.borrow()[host].endpoint)
    }

    /// An idle connection, or a new one.
    pub(crate) async fn take(self: &Rc<Self>) -> Result<PooledConnection, Fault> {
        let host = self.choose();
        self.hosts.borrow_mut()[host].busy += 1;
        let mut pooled = PooledConnection { connection: None, host, pool: Rc::clone(self) };
        while let Some(mut connection) = self.pop(host) {
            // A connection that the service has closed while idle is no failure: it carried no request.
            if connection.is_ready().await {
                pooled.connection = Some(connection);
                return Ok(pooled);
            }
            self.hosts.borrow_mut()[host].counts.closed += 1;
        }
        pooled.connection = Some(self.connect(host).await?);
        Ok(pooled)
    }

    fn pop(&self, host: usize) -> Option<Connection> {
        self.hosts.borrow_mut()[host].idle.pop()
    }

    async fn connect(&self, host: usize) -> Result<Connection, Fault> {
        let (endpoint, first) = {
            let host = &mut self.hosts.borrow_mut()[host];
            host.address = host.address.wrapping_add(1);
            (Arc::clone(&host.endpoint), host.address)
        };
        // A name may have addresses that do not answer (IPv6 on a host without it); then the next one is tried.
        let all = &endpoint.addresses;
        let mut connected = Err(Fault::os(libc::EADDRNOTAVAIL));
        for more in 0..all.len() {
            connected = connect(&endpoint, all[first.wrapping_add(more) % all.len()], self.tls.as_ref()).await;
            if connected.is_ok() {
                break;
            }
        }
        let counts = &mut self.hosts.borrow_mut()[host].counts;
        match connected {
            Ok((connection, ns)) => {
                counts.opened += 1;
                counts.setup_ns.push(ns);
                Ok(connection)
            }
            Err(fault) => {
                counts.refused += 1;
                Err(fault)
            }
        }
    }

    /// Opens so many connections, distributed over the hosts. Failures are left to the operations, which meet and count
    /// them.
    pub(crate) async fn warm(self: &Rc<Self>, count: u32) {
        let mut all = Vec::new();
        for _ in 0..count {
            all.extend(self.take().await);
        }
        all.into_iter().for_each(PooledConnection::give_back);
    }

    /// Returns what was counted since the last call.
    pub(crate) fn counts(&self) -> Vec<HostCounts> {
        let take = |host: &mut Host| {
            let fresh = HostCounts { host: host.endpoint.text.clone(), ..HostCounts::default() };
            std::mem::replace(&mut host.counts, fresh)
        };
        self.hosts.borrow_mut().iter_mut().map(take).collect()
    }
}

impl PooledConnection {
    /// The number of its host.
    pub(crate) fn host(&self) -> usize {
        self.host
    }

    /// Counts a request.
    pub(super) fn count_request(&mut self) {
        let counts = &mut self.pool.hosts.borrow_mut()[self.host].counts;
        counts.requests += 1;
        if let Some(connection) = &mut self.connection {
            connection.requests += 1;
            counts.max_requests = counts.max_requests.max(connection.requests);
        }
    }

    /// Returns the connection to the pool, for another request; one that has ended is dropped.
    pub(crate) fn give_back(mut self) {
        let connection = self.connection.take();
        if let Some(mut connection) = connection.filter(|connection| !connection.has_ended()) {
            connection.idle_since = clock::now();
            self.pool.hosts.borrow_mut()[self.host].idle.push(connection);
        } else {
            self.pool.hosts.borrow_mut()[self.host].counts.closed += 1;
        }
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        self.pool.hosts.borrow_mut()[self.host].busy -= 1;
    }
}
