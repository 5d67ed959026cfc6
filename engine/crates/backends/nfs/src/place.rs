//! Where a job's files are: the root that the engine makes and marks in each server's export, and the job's directory
//! in it. Nothing outside is written to or removed.

use crate::client::{put_create, put_emptying, put_name, Client, Existing, Handle};
use crate::mount::{self, Server};
use crate::remove;
use crate::replies::{found, Found, DIRECTORY, REGULAR};
use crate::rpc::Identity;
use crate::status::{ACCES, BADHANDLE, EXIST, NOENT, NOTEMPTY, PERM, ROFS, STALE};
use crate::transport::Transport;
use assay_core::names::MARKER;
use assay_core::{as_errno, fault_message, Fault, SetupError};
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

    /// Number of the server that a lane uses.
    pub(crate) fn server_of(&self, lane: u32) -> usize {
        lane as usize % self.servers.len()
    }

    /// A client of one of the servers. It connects when it is used.
    pub(crate) fn client(&self, server: usize, links: u32) -> Client {
        let transport = Transport::new(self.servers[server].address, links, Arc::clone(&self.identity));
        Client { transport, timeout_ns: self.target.timeout_ns }
    }

    /// Bytes of a READ and of a WRITE.
    pub(crate) fn sizes(&self, server: usize) -> (u32, u32) {
        let least = |wanted: u64, limit: u32| wanted.clamp(1, u64::from(limit)) as u32;
        let server = &self.servers[server];
        (least(self.target.rsize, server.read_limit), least(self.target.wsize, server.write_limit))
    }

    /// Path of the root, for people.
    pub(crate) fn root_path(&self, server: usize) -> String {
        let export = self.target.export.trim_end_matches('/');
        format!("{}:{export}/{}", self.servers[server].name, self.target.root)
    }

    /// Path of the job's directory, for people.
    pub(crate) fn folder_path(&self, server: usize) -> String {
        format!("{}/{}", self.root_path(server), self.target.directory)
    }

    /// An error of a server, with what may help.
    pub(crate) fn error(&self, action: &'static str, object: String, fault: Fault) -> SetupError {
        let words = fault_message(fault);
        // The server may have refused at the call's head already, which is no status of NFS.
        let message = match as_errno(fault) {
            Some(libc::EACCES | libc::EPERM) => {
                format!("{words}: may this host and user write to the export? (uid and gid of the target)")
            }
            Some(libc::EROFS) => format!("{words}: the export is for reading only"),
            Some(libc::ESTALE) => format!("{words}: what was there has been removed or replaced on the server"),
            Some(libc::ETIMEDOUT) => format!("{words}: no answer for {} s", self.target.timeout_ns as f64 / 1e9),
            _ => words,
        };
        SetupError::new(action, object, message).because(fault)
    }

    /// Something that was to be removed is still there.
    fn left_error(&self, path: String, left: &remove::Left) -> SetupError {
        if left.foreign {
            return SetupError::new("remove", path, "was not made by Assay: left alone");
        }
        self.error("remove", path, left.fault)
    }

    /// Makes root and directory on each server. `alone`: no other process makes the same directory.
    pub(crate) fn prepare(&self, alone: bool) -> Result<(), SetupError> {
        let mut made: Vec<(usize, Handle)> = Vec::new();
        let outcome = (0..self.servers.len()).try_for_each(|server| {
            let handle = self.prepare_one(server, alone, &made)?;
            made.extend(handle.map(|handle| (server, handle)));
            Ok(())
        });
        if outcome.is_err() {
            // What is not empty any more belongs to others.
            for (server, _) in made {
                let _ = self.remove_folder(server, &[]);
            }
        }
        outcome
    }

    /// The same on one server; the directory's handle if it was made now.
    fn prepare_one(&self, server: usize, alone: bool, made: &[(usize, Handle)]) -> Result<Option<Handle>, SetupError> {
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
                    let message =
                        "is already there: another job, or remains of one, which `assay-engine clean` removes";
                    return Err(SetupError::new("create", path, message));
                }
                Ok(None)
            }
            Err(fault) => Err(self.error("create", path, fault)),
        }
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

    /// Name of a file, as in the file backend.
    pub(crate) fn file_name(file: u32) -> String {
        assay_core::names::file_name(file)
    }

    /// Opens a file: only a plain one with one name, as what somebody has put in its place is not written to.
    pub(crate) fn file(&self, client: &mut Client, server: usize, file: u32) -> Result<Handle, SetupError> {
        let folder = self.folder(client, server)?;
        let path = format!("{}/f{file}", self.folder_path(server));
        let found = client.look(&folder, Self::file_name(file));
        plain(found.map_err(|fault| self.error("open", path.clone(), fault))?, &path)
    }

    /// Makes the files that are missing, and empties the others if that is asked for. Only plain files are emptied.
    pub(crate) fn make_files(&self, server: usize, files: &[u32], empty: bool) -> Result<(), SetupError> {
        let mut client = self.client(server, 1);
        let folder = self.folder(&mut client, server)?;
        let name = |file: u32| Self::file_name(file).into_bytes();
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

    /// Removes names in the job's directory, whatever they are, then the directory if it is empty. What is not there is
    /// no error.
    pub(crate) fn remove_folder(&self, server: usize, names: &[String]) -> Result<(), SetupError> {
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
            .map_err(|left| self.left_error(format!("{path}/{}", left.path), &left))?;
        match client.rmdir(&root, self.target.directory.as_bytes()) {
            Ok(()) | Err(NOENT | STALE | BADHANDLE | NOTEMPTY | EXIST) => Ok(()),
            Err(fault) => Err(self.error("remove", path, fault)),
        }
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
            done.map_err(|left| self.left_error(format!("{path}: {}", left.path), &left))?;
            removed.push(path);
        }
        Ok(removed)
    }
}

fn unmarked(path: String) -> SetupError {
    let message =
        format!("is there without {MARKER}: only a directory that Assay has made is written to, name another");
    SetupError::new("open", path, message)
}

fn directory(found: Found, path: &str) -> Result<Handle, SetupError> {
    match found.attributes {
        Some(attributes) if attributes.kind == DIRECTORY => Ok(found.handle),
        _ => Err(SetupError::new("open", path, "is not a directory, or a symbolic link: refused")),
    }
}

fn plain(found: Found, path: &str) -> Result<Handle, SetupError> {
    match found.attributes {
        Some(attributes) if attributes.kind == REGULAR && attributes.links == 1 => Ok(found.handle),
        _ => Err(SetupError::new("open", path, "is not a plain file with one name: refused")),
    }
}
