//! Where a job's files are: the root that the engine makes and marks in each server's export, and the job's directory
//! in it. Nothing outside is written to or removed.

use crate::client::{put_create, put_emptying, put_name, Client, Existing, Handle};
use crate::lane::FileLane;
use crate::mount::{self, Server};
use crate::remove;
use crate::replies::{found, Found, DIRECTORY, REGULAR};
use crate::rpc::Identity;
use crate::status::{ACCES, BADHANDLE, EXIST, NOENT, NOTEMPTY, PERM, ROFS, STALE};
use crate::transport::Transport;
use crate::tree::{self, lane::TreeLane};
use assay_core::names::{file_name, MARKER};
use assay_core::refusals::{ALREADY_THERE, NOT_A_DIRECTORY, NOT_PLAIN};
use assay_core::{Lane, LaneSetup, SetupError};
use assay_remote::{unmarked, Forest, RemotePlace, Settings, Volume};
use assay_spec::NfsTarget;
use nfs3_types::nfs3::NFS_PROGRAM as P;
use std::sync::Arc;

/// A target whose exports are mounted.
pub(crate) struct Place {
    pub(crate) target: NfsTarget,
    pub(crate) servers: Vec<Server>,
    identity: Arc<Identity>,
}

impl Place {
    /// Mounts the export from each server; writes nothing.
    pub(crate) fn open(target: &NfsTarget) -> Result<Self, SetupError> {
        let uid = target.uid.unwrap_or_else(|| rustix::process::geteuid().as_raw());
        let gid = target.gid.unwrap_or_else(|| rustix::process::getegid().as_raw());
        let identity = Arc::new(Identity::new(uid, gid));
        let servers = target.servers.iter().map(|name| mount::mount(target, name, &identity));
        let servers = servers.collect::<Result<_, _>>()?;
        Ok(Place { target: target.clone(), servers, identity })
    }

    #[cfg(test)]
    pub(crate) fn for_tests(target: NfsTarget, servers: Vec<Server>) -> Self {
        Place { target, servers, identity: Arc::new(Identity::new(0, 0)) }
    }

    /// A client of one of the servers. It connects when it is used.
    pub(crate) fn client(&self, server: usize, links: u32) -> Client {
        let transport = Transport::new(self.servers[server].address, links, Arc::clone(&self.identity));
        Client { transport, timeout_ns: self.target.timeout_ns }
    }

    /// Finds the root or makes it, with its mark. Others may be doing the same.
    fn make_root(&self, client: &mut Client, server: usize) -> Result<Handle, SetupError> {
        let export = &self.servers[server].export;
        let path = self.root_path(server);
        let error = |fault| self.error("create", path.clone(), fault);
        let root = match client.mkdir(export, &self.target.root) {
            Ok(made) => made,
            // A server may say that it cannot write before it says that the name is taken.
            Err(EXIST | ROFS | ACCES | PERM) if self.is_there(client, server) => {
                let root = client.look(export, &self.target.root).map_err(error)?;
                let root = directory(root, &path)?;
                if self.is_marked(client, &root, &path)? {
                    return Ok(root);
                }
                let names = client.first_names(&root).map_err(error)?;
                // Another process marks it before it puts anything in.
                if !names.is_empty() && !self.is_marked(client, &root, &path)? {
                    return Err(unmarked(path));
                }
                root
            }
            Err(fault) => return Err(error(fault)),
        };
        let marked = client.create(&root, MARKER, Existing::Taken);
        marked.map_err(|fault| self.error("create", format!("{path}/{MARKER}"), fault))?;
        Ok(root)
    }

    fn is_there(&self, client: &mut Client, server: usize) -> bool {
        client.lookup(&self.servers[server].export, &self.target.root).is_ok()
    }

    fn is_marked(&self, client: &mut Client, root: &[u8], path: &str) -> Result<bool, SetupError> {
        match client.look(root, MARKER) {
            Ok(found) => Ok(found.attributes.is_some_and(|attributes| attributes.kind == REGULAR)),
            Err(NOENT) => Ok(false),
            Err(fault) => Err(self.error("open", format!("{path}/{MARKER}"), fault)),
        }
    }

    /// The marked root; none if there is none.
    pub(crate) fn marked_root(&self, client: &mut Client, server: usize) -> Result<Option<Handle>, SetupError> {
        let path = self.root_path(server);
        let root = match client.look(&self.servers[server].export, &self.target.root) {
            Ok(found) => directory(found, &path)?,
            Err(NOENT) => return Ok(None),
            Err(fault) => return Err(self.error("open", path, fault)),
        };
        if self.is_marked(client, &root, &path)? {
            Ok(Some(root))
        } else {
            Err(unmarked(path))
        }
    }

    /// Refuses a root that somebody else has made, before anything is measured; there may be none yet.
    pub(crate) fn check_roots(&self) -> Result<(), SetupError> {
        (0..self.servers.len()).try_for_each(|server| self.marked_root(&mut self.client(server, 1), server).map(drop))
    }

    /// The job's directory.
    pub(crate) fn folder(&self, client: &mut Client, server: usize) -> Result<Handle, SetupError> {
        let path = self.folder_path(server);
        let root = self.marked_root(client, server)?;
        let found = root.ok_or(NOENT).and_then(|root| client.look(&root, &self.target.directory));
        directory(found.map_err(|fault| self.error("open", path.clone(), fault))?, &path)
    }

    /// Opens a file: only a plain one with one name, as what somebody has put in its place is not written to.
    pub(crate) fn file(&self, client: &mut Client, server: usize, file: u32) -> Result<Handle, SetupError> {
        let folder = self.folder(client, server)?;
        let path = format!("{}/f{file}", self.folder_path(server));
        let found = client.look(&folder, file_name(file));
        plain(found.map_err(|fault| self.error("open", path.clone(), fault))?, &path)
    }

    /// Removes what killed jobs have left: the job's directory, or the root, which stays if something else than the mark
    /// is in it, because that is another run's. Says what was removed.
    pub(crate) fn clean(&self, whole: bool) -> Result<Vec<String>, SetupError> {
        let mut removed = Vec::new();
        for server in 0..self.servers.len() {
            let mut client = self.client(server, 1);
            let Some(root) = self.marked_root(&mut client, server)? else { continue };
            let path = if whole { self.root_path(server) } else { self.folder_path(server) };
            let file_system = self.servers[server].file_system;
            let done = if whole {
                let listed = client.first_names(&root).map_err(|fault| self.error("list", path.clone(), fault))?;
                if listed.iter().any(|name| name != MARKER.as_bytes()) {
                    continue;
                }
                remove::tree(&mut client, &self.servers[server].export, self.target.root.as_bytes(), file_system, 0)
            } else if client.lookup(&root, &self.target.directory) == Err(NOENT) {
                continue;
            } else {
                remove::tree(&mut client, &root, self.target.directory.as_bytes(), file_system, 0)
            };
            done.map_err(|left| self.removal_error(format!("{path}: {}", left.path), &left))?;
            removed.push(path);
        }
        Ok(removed)
    }
}

impl RemotePlace for Place {
    const KIND: &'static str = "nfs";
    const OWNERS: &'static str = "servers";
    const PARALLEL: bool = true;
    type Made = Handle;

    fn volume_count(&self) -> usize {
        self.servers.len()
    }

    fn volume(&self, number: usize) -> Volume {
        let server = &self.servers[number];
        Volume {
            name: server.name.clone(),
            path: format!("{}:{}", server.name, self.target.export.trim_end_matches('/')),
            limits: (server.read_limit, server.write_limit),
            free_bytes: server.free_bytes,
            remarks: Vec::new(),
        }
    }

    fn settings(&self) -> Settings<'_> {
        let NfsTarget { root, directory, rsize, wsize, timeout_ns, .. } = &self.target;
        Settings { root, directory, sizes: (*rsize, *wsize), timeout_ns: *timeout_ns }
    }

    fn hint(errno: i32) -> Option<&'static str> {
        // The server may have refused at the call's head already, which is no status of NFS.
        Some(match errno {
            libc::EACCES | libc::EPERM => "may this host and user write to the export? (uid and gid of the target)",
            libc::EROFS => "the export is for reading only",
            libc::ESTALE => "what was there has been removed or replaced on the server",
            _ => return None,
        })
    }

    fn prepare_volume(
        &self,
        server: usize,
        alone: bool,
        made: &[(usize, Handle)],
    ) -> Result<Option<Handle>, SetupError> {
        let mut client = self.client(server, 1);
        let root = self.make_root(&mut client, server)?;
        let path = self.folder_path(server);
        match client.mkdir(&root, &self.target.directory) {
            Ok(handle) => Ok(Some(handle)),
            Err(EXIST) => {
                // Two of the servers may be two addresses of one.
                let handle = client.lookup(&root, &self.target.directory).map(|found| found.handle);
                let ours = handle.is_ok_and(|handle| made.iter().any(|(_, known)| *known == handle));
                if alone && !ours {
                    return Err(SetupError::new("create", path, ALREADY_THERE));
                }
                Ok(None)
            }
            Err(fault) => Err(self.error("create", path, fault)),
        }
    }

    fn make_trees(&self, server: usize, forest: &Forest, tops: &[u32]) -> Result<(), SetupError> {
        let mut client = self.client(server, 1);
        let folder = self.folder(&mut client, server)?;
        let made = tree::make(forest, &mut client, &folder, tops);
        made.map_err(|fault| self.error("create", self.folder_path(server), fault))
    }

    fn make_files(&self, server: usize, files: &[u32], empty: bool) -> Result<(), SetupError> {
        let mut client = self.client(server, 1);
        let folder = self.folder(&mut client, server)?;
        let name = |file: u32| file_name(file).into_bytes();
        let (mut there, mut failed) = (Vec::new(), None);
        client.all(
            P::NFSPROC3_CREATE,
            files.len(),
            |number, out| put_create(out, &folder, &name(files[number]), Existing::Refused),
            |number, result| match result {
                Ok(_) => {}
                Err(EXIST) => there.push(files[number]),
                Err(fault) => failed = failed.or(Some((files[number], fault))),
            },
        );
        let mut known: Vec<Option<Found>> = vec![None; there.len()];
        client.all(
            P::NFSPROC3_LOOKUP,
            there.len(),
            |number, out| put_name(out, &folder, &name(there[number])),
            |number, result| known[number] = result.ok().and_then(found),
        );
        let path = |file| format!("{}/f{file}", self.folder_path(server));
        let mut handles = Vec::with_capacity(there.len());
        for (file, found) in there.iter().zip(known) {
            let found = match found.filter(|found| found.attributes.is_some()) {
                Some(found) => Ok(found),
                None => client.look(&folder, name(*file)),
            };
            handles.push(plain(found.map_err(|fault| self.error("create", path(*file), fault))?, &path(*file))?);
        }
        client.all(
            P::NFSPROC3_SETATTR,
            if empty { there.len() } else { 0 },
            |number, out| put_emptying(out, &handles[number]),
            |number, result| failed = failed.or(result.err().map(|fault| (there[number], fault))),
        );
        failed.map_or(Ok(()), |(file, fault)| Err(self.error("create", path(file), fault)))
    }

    fn remove_folder(&self, server: usize, names: &[String]) -> Result<(), SetupError> {
        let mut client = self.client(server, 1);
        let Some(root) = self.marked_root(&mut client, server)? else { return Ok(()) };
        let path = self.folder_path(server);
        let folder = match client.look(&root, &self.target.directory) {
            Ok(found) => directory(found, &path)?,
            // Stale: another process has removed it between two calls.
            Err(NOENT | STALE | BADHANDLE) => return Ok(()),
            Err(fault) => return Err(self.error("remove", path, fault)),
        };
        let names: Vec<Vec<u8>> = names.iter().map(|name| name.clone().into_bytes()).collect();
        let file_system = self.servers[server].file_system;
        remove::names(&mut client, &folder, &names, file_system, 0)
            .map(|_| ())
            .map_err(|left| self.removal_error(format!("{path}/{}", left.path), &left))?;
        match client.rmdir(&root, self.target.directory.as_bytes()) {
            Ok(()) | Err(NOENT | STALE | BADHANDLE | NOTEMPTY | EXIST) => Ok(()),
            Err(fault) => Err(self.error("remove", path, fault)),
        }
    }

    fn file_lane(self: Arc<Self>, file: u32, setup: LaneSetup) -> Box<dyn Lane> {
        let server = self.volume_of(file);
        Box::new(FileLane::open(self, server, file, setup))
    }

    fn tree_lane(self: Arc<Self>, forest: Arc<Forest>, setup: LaneSetup) -> Box<dyn Lane> {
        Box::new(TreeLane::open(self, forest, setup))
    }
}

fn directory(found: Found, path: &str) -> Result<Handle, SetupError> {
    match found.attributes {
        Some(attributes) if attributes.kind == DIRECTORY => Ok(found.handle),
        _ => Err(SetupError::new("open", path, NOT_A_DIRECTORY)),
    }
}

fn plain(found: Found, path: &str) -> Result<Handle, SetupError> {
    match found.attributes {
        Some(attributes) if attributes.kind == REGULAR && attributes.links == 1 => Ok(found.handle),
        _ => Err(SetupError::new("open", path, NOT_PLAIN)),
    }
}
