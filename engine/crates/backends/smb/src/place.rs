//! Where a job's files are: the root that the engine makes and marks in each share, and the job's directory in it. Nothing
//! outside is written to or removed.

use crate::client::{briefly, Client, NEW_DIRECTORY, NEW_FILE, TO_LOOK};
use crate::credentials::Credentials;
use crate::lane::FileLane;
use crate::messages::{self, Opened, Opening, OPEN_OR_CREATE, WRITE_DATA};
use crate::remove;
use crate::session::Peer;
use crate::status::{is_absent, NAME_COLLISION, NAME_NOT_FOUND, NOT_EMPTY};
use crate::tree::{self, lane::TreeLane};
use crate::wire::{put_u64, SAME_FILE};
use assay_core::names::{file_name, MARKER};
use assay_core::refusals::{ALREADY_THERE, NOT_A_DIRECTORY, NOT_PLAIN};
use assay_core::{fault_message, Fault, Lane, LaneSetup, SetupError};
use assay_remote::{unmarked, Forest, RemotePlace, Settings, Volume};
use assay_spec::SmbTarget;
use std::sync::Arc;

/// The port of SMB where none is named (IANA).
const SMB_PORT: u16 = 445;
/// A server that is not there when the job is set up is waited for no longer than that, in nanoseconds.
const REACH_NS: u64 = 10_000_000_000;

/// A share that has been reached.
pub(crate) struct Share {
    pub(crate) peer: Arc<Peer>,
    /// Most bytes of a READ and of a WRITE that the server takes.
    pub(crate) limits: (u32, u32),
    pub(crate) free_bytes: u64,
    /// What the session is like, for people.
    pub(crate) about: String,
    /// What the server can do and wants, for people.
    pub(crate) server: String,
    pub(crate) guest: bool,
}

/// A target whose shares have been reached.
pub(crate) struct Place {
    pub(crate) target: SmbTarget,
    /// Each share of each server; the servers take turns first.
    pub(crate) shares: Vec<Share>,
}

/// Reaches a share at the first of the server's addresses where somebody answers.
fn reach(target: &SmbTarget, server: &str, share: &str, credentials: &Credentials) -> Result<Share, SetupError> {
    let mut outcome = Err(SetupError::new("find", server, "the name has no address"));
    for address in assay_tcp::resolve(server, SMB_PORT)? {
        let peer = Arc::new(Peer {
            target: target.clone(),
            server: server.to_owned(),
            address,
            share: share.to_owned(),
            credentials: credentials.clone(),
        });
        let mut client = Client::new(&peer);
        outcome = client.connect(REACH_NS.min(target.timeout_ns)).and_then(|()| look_at(&peer, &mut client));
        if !outcome.as_ref().is_err_and(|error| error.action == "connect") {
            break;
        }
    }
    outcome
}

fn look_at(peer: &Arc<Peer>, client: &mut Client) -> Result<Share, SetupError> {
    let free = client.free_bytes();
    let free_bytes =
        free.map_err(|fault| SetupError::new("open", peer.shown(), fault_message(fault)).because(fault))?;
    let session = client.transport.session();
    let session = session.ok_or_else(|| SetupError::new("connect", peer.shown(), "the connection was lost"))?;
    let agreed = session.agreed;
    let version = serde_word(agreed.version);
    Ok(Share {
        peer: Arc::clone(peer),
        limits: (agreed.read_limit, agreed.write_limit),
        free_bytes,
        about: format!("SMB {version}, {}", session.protection()),
        server: agreed.server(),
        guest: session.guest,
    })
}

/// A version as jobs have it.
fn serde_word(version: assay_spec::SmbVersion) -> &'static str {
    use assay_spec::SmbVersion::{V2_1, V3_0, V3_0_2, V3_1_1};
    match version {
        V2_1 => "2.1",
        V3_0 => "3.0",
        V3_0_2 => "3.0.2",
        V3_1_1 => "3.1.1",
    }
}

impl Place {
    /// Signs in at each share; writes nothing.
    pub(crate) fn open(target: &SmbTarget) -> Result<Self, SetupError> {
        let credentials = Credentials::find(target.credentials.as_deref(), target.user.as_deref())?;
        let pairs = target.shares.iter().flat_map(|share| target.servers.iter().map(move |server| (server, share)));
        let shares = pairs.map(|(server, share)| reach(target, server, share, &credentials));
        Ok(Place { target: target.clone(), shares: shares.collect::<Result<_, _>>()? })
    }

    /// A client of one of the shares, which connects when `connect` is called.
    pub(crate) fn client(&self, share: usize) -> Client {
        Client::new(&self.shares[share].peer)
    }

    /// A client that is connected, with one connection: for what is not measured.
    pub(crate) fn connected(&self, share: usize) -> Result<Client, SetupError> {
        let mut client = self.client(share);
        client.connect(REACH_NS.min(self.target.timeout_ns))?;
        Ok(client)
    }

    /// Path of the job's directory in the share.
    pub(crate) fn folder(&self) -> String {
        format!("{}\\{}", self.target.root, self.target.directory)
    }

    /// Path of a file in the share.
    pub(crate) fn file(&self, file: u32) -> String {
        format!("{}\\{}", self.folder(), file_name(file))
    }

    fn marker(&self) -> String {
        format!("{}\\{MARKER}", self.target.root)
    }

    /// Finds the root or makes it, with its mark. Others may be doing the same.
    fn make_root(&self, client: &mut Client, share: usize) -> Result<(), SetupError> {
        let path = self.root_path(share);
        let error = |fault| self.error("create", path.clone(), fault);
        match client.touch(&self.target.root, NEW_DIRECTORY) {
            Ok(_) => {}
            // A server may say that it cannot write before it says that the name is taken.
            Err(fault) => match client.look(&self.target.root) {
                Ok(Some(found)) => {
                    directory(Some(found), &path)?;
                    if self.is_marked(client, share)? {
                        return Ok(());
                    }
                    // Another process marks it before it puts anything in.
                    let names = client.list(&self.target.root).map_err(error)?;
                    if !names.is_empty() && !self.is_marked(client, share)? {
                        return Err(unmarked(path));
                    }
                }
                _ => return Err(error(fault)),
            },
        }
        let marked = client.ensure(&self.marker());
        marked.map(drop).map_err(|fault| self.error("create", format!("{path}/{MARKER}"), fault))
    }

    fn is_marked(&self, client: &mut Client, share: usize) -> Result<bool, SetupError> {
        let found = client.look(&self.marker());
        let found = found.map_err(|fault| self.error("open", format!("{}/{MARKER}", self.root_path(share)), fault))?;
        Ok(found.is_some_and(|found| found.is_file()))
    }

    /// Whether there is a root, which is marked then.
    pub(crate) fn has_marked_root(&self, client: &mut Client, share: usize) -> Result<bool, SetupError> {
        let path = self.root_path(share);
        let found = client.look(&self.target.root).map_err(|fault| self.error("open", path.clone(), fault))?;
        if found.is_none() {
            return Ok(false);
        }
        directory(found, &path)?;
        if self.is_marked(client, share)? {
            Ok(true)
        } else {
            Err(unmarked(path))
        }
    }

    /// Refuses a root that somebody else has made, before anything is measured; there may be none yet.
    pub(crate) fn check_roots(&self) -> Result<(), SetupError> {
        (0..self.shares.len()).try_for_each(|share| self.has_marked_root(&mut self.connected(share)?, share).map(drop))
    }

    /// Refuses a job's directory that is not there, or not Assay's.
    pub(crate) fn check_folder(&self, client: &mut Client, share: usize) -> Result<(), SetupError> {
        let path = self.folder_path(share);
        self.has_marked_root(client, share)?;
        let found = client.touch(&self.folder(), TO_LOOK).map_err(|fault| self.error("open", path.clone(), fault))?;
        directory(Some(found), &path)
    }

    /// Refuses a file that is not a plain one with one name: what somebody has put in its place is not written to.
    pub(crate) fn check_file(&self, client: &mut Client, share: usize, file: u32) -> Result<(), SetupError> {
        let shown = format!("{}/{}", self.folder_path(share), file_name(file));
        let error = |fault| self.error("open", shown.clone(), fault);
        let path = self.file(file);
        match client.look(&path).map_err(error)? {
            None => Err(error(NAME_NOT_FOUND)),
            Some(found) if found.is_file() && client.links(&path).map_err(error)? == 1 => Ok(()),
            Some(_) => Err(SetupError::new("open", shown, NOT_PLAIN)),
        }
    }

    fn empty(&self, client: &mut Client, file: u32) -> Result<Opened, Fault> {
        let opening = Opening { access: WRITE_DATA, disposition: OPEN_OR_CREATE, ..NEW_FILE };
        client.set(&self.file(file), opening, |out| {
            messages::put_set(out, &SAME_FILE, messages::END, |out| put_u64(out, 0));
        })
    }

    /// Removes what killed jobs have left: the job's directory, or the root, which stays if something else than the mark
    /// is in it, because that is another run's. Says what was removed.
    pub(crate) fn clean(&self, whole: bool) -> Result<Vec<String>, SetupError> {
        let mut removed = Vec::new();
        for share in 0..self.shares.len() {
            let mut client = self.connected(share)?;
            if !self.has_marked_root(&mut client, share)? {
                continue;
            }
            let shown = if whole { self.root_path(share) } else { self.folder_path(share) };
            let error = |fault| self.error("list", shown.clone(), fault);
            let path = if whole { self.target.root.clone() } else { self.folder() };
            let stays = if whole {
                client.list(&path).map_err(error)?.iter().any(|name| name != MARKER)
            } else {
                client.look(&path).map_err(error)?.is_none()
            };
            if stays {
                continue;
            }
            let done = remove::tree(&mut client, &path, 0);
            done.map_err(|left| self.removal_error(format!("{shown}: {}", left.path), &left))?;
            removed.push(shown);
        }
        Ok(removed)
    }
}

impl RemotePlace for Place {
    const KIND: &'static str = "smb";
    const OWNERS: &'static str = "shares";
    const PARALLEL: bool = false;
    type Made = ();

    fn volume_count(&self) -> usize {
        self.shares.len()
    }

    fn volume(&self, number: usize) -> Volume {
        let Share { peer, limits, free_bytes, about, server, guest } = &self.shares[number];
        let name = peer.shown();
        let mut remarks = vec![format!("{name}: {about}; {server}")];
        if *guest {
            remarks.push(format!("{name}: the server takes {} for a guest", peer.credentials.user));
        }
        Volume { path: name.clone(), name, limits: *limits, free_bytes: *free_bytes, remarks }
    }

    fn settings(&self) -> Settings<'_> {
        let SmbTarget { root, directory, rsize, wsize, timeout_ns, .. } = &self.target;
        Settings { root, directory, sizes: (*rsize, *wsize), timeout_ns: *timeout_ns }
    }

    fn hint(errno: i32) -> Option<&'static str> {
        Some(match errno {
            libc::EACCES | libc::EPERM => "may this user write to the share?",
            libc::EROFS => "the share is for reading only",
            libc::ENOTCONN | libc::ECONNRESET => "the server has gone away",
            _ => return None,
        })
    }

    fn prepare_volume(&self, share: usize, alone: bool, made: &[(usize, ())]) -> Result<Option<()>, SetupError> {
        // Two servers may be two addresses of one, and two shares one directory: then it is there already.
        let alone = alone && made.is_empty();
        let mut client = self.connected(share)?;
        self.make_root(&mut client, share)?;
        let path = self.folder_path(share);
        match client.touch(&self.folder(), NEW_DIRECTORY) {
            Ok(_) => Ok(Some(())),
            Err(NAME_COLLISION) if alone => Err(SetupError::new("create", path, ALREADY_THERE)),
            Err(NAME_COLLISION) => Ok(None),
            Err(fault) => Err(self.error("create", path, fault)),
        }
    }

    fn make_trees(&self, share: usize, forest: &Forest, tops: &[u32]) -> Result<(), SetupError> {
        let mut client = self.connected(share)?;
        self.check_folder(&mut client, share)?;
        let made = tree::make(forest, &mut client, &self.folder(), tops);
        made.map_err(|fault| self.error("create", self.folder_path(share), fault))
    }

    fn make_files(&self, share: usize, files: &[u32], empty: bool) -> Result<(), SetupError> {
        let mut client = self.connected(share)?;
        self.check_folder(&mut client, share)?;
        let shown = |file: u32| format!("{}/{}", self.folder_path(share), file_name(file));
        let (mut there, mut failed) = (Vec::new(), None);
        client.all(
            files.len(),
            |number, chain| briefly(chain, &self.file(files[number]), NEW_FILE, |_| {}),
            |number, result| match result {
                Ok(_) => {}
                Err(NAME_COLLISION) => there.push(files[number]),
                Err(fault) => failed = failed.or(Some((files[number], fault))),
            },
        );
        if let Some((file, fault)) = failed {
            return Err(self.error("create", shown(file), fault));
        }
        for file in there.into_iter().filter(|_| empty) {
            self.check_file(&mut client, share, file)?;
            self.empty(&mut client, file).map_err(|fault| self.error("truncate", shown(file), fault))?;
        }
        Ok(())
    }

    fn remove_folder(&self, share: usize, names: &[String]) -> Result<(), SetupError> {
        let mut client = self.connected(share)?;
        if !self.has_marked_root(&mut client, share)? {
            return Ok(());
        }
        let (path, folder) = (self.folder_path(share), self.folder());
        match client.look(&folder) {
            Ok(None) => return Ok(()),
            found => directory(found.map_err(|fault| self.error("remove", path.clone(), fault))?, &path)?,
        }
        remove::names(&mut client, &folder, names, 0)
            .map(drop)
            .map_err(|left| self.removal_error(format!("{path}/{}", left.path), &left))?;
        match client.remove(&folder, true) {
            Ok(()) | Err(NOT_EMPTY) => Ok(()),
            Err(fault) if is_absent(fault) => Ok(()),
            Err(fault) => Err(self.error("remove", path, fault)),
        }
    }

    fn file_lane(self: Arc<Self>, file: u32, setup: LaneSetup) -> Box<dyn Lane> {
        Box::new(FileLane::open(self, file, setup))
    }

    fn tree_lane(self: Arc<Self>, forest: Arc<Forest>, setup: LaneSetup) -> Box<dyn Lane> {
        Box::new(TreeLane::open(self, forest, setup))
    }
}

fn directory(found: Option<Opened>, path: &str) -> Result<(), SetupError> {
    match found {
        Some(found) if found.is_directory() => Ok(()),
        Some(_) => Err(SetupError::new("open", path, NOT_A_DIRECTORY)),
        None => Err(SetupError::new("open", path, "is not there")),
    }
}
