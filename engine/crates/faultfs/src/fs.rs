//! Handles each kernel call: applies the rules, calls the backing directory, and replies.

use crate::control::Control;
use crate::entries::{self, Change, Owner};
use crate::log::Call;
use crate::nodes::{entry, lock, Handle, Node, Nodes};
use crate::rules::Fault;
use crate::{data, Outcome};
use fuser::{
    BsdFileFlags, Errno as Code, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, LockOwner, OpenFlags,
    RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs,
    ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Caching time of replies. The kernel must not cache, so that a fault takes effect at once.
const TTL: Duration = Duration::ZERO;

/// A file system that passes calls on to a backing directory.
#[derive(Debug)]
pub(crate) struct PassThrough {
    nodes: Nodes,
    control: Arc<Control>,
    open_flags: FopenFlags,
}

type Answer<T> = Result<T, Errno>;
/// A file or directory, and the fault to apply to it.
type Faulty = (Arc<Node>, Option<Fault>);

impl PassThrough {
    pub(crate) fn new(backing: &str, control: Arc<Control>, cached: bool) -> Outcome<Self> {
        let direct = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        let open_flags = if cached { FopenFlags::empty() } else { direct };
        Ok(Self { nodes: Nodes::new(backing)?, control, open_flags })
    }

    /// Applies the rules to a call about a name in a directory. If the rule is `disappear`, the name is missing.
    fn by_name(&self, req: &Request, operation: &'static str, parent: INodeNo, name: &OsStr) -> Answer<Arc<Node>> {
        self.by_name_with(req, operation, parent, name).map(|(node, _)| node)
    }

    /// Like [`PassThrough::by_name`], but also returns the fault to apply.
    fn by_name_with(&self, req: &Request, operation: &'static str, parent: INodeNo, name: &OsStr) -> Answer<Faulty> {
        let node = self.nodes.get(parent)?;
        let fault = self.apply_rules(req, operation, &node.below(name), 0, 0, Errno::NOENT)?;
        Ok((node, fault))
    }

    /// Applies the rules to a change of a name, and makes the change unless it is to be lost.
    fn unless_lost(
        &self,
        req: &Request,
        operation: &'static str,
        parent: INodeNo,
        name: &OsStr,
        change: impl FnOnce(&Node) -> Answer<()>,
    ) -> Answer<()> {
        let (node, fault) = self.by_name_with(req, operation, parent, name)?;
        if fault == Some(Fault::Lost) {
            return Ok(());
        }
        change(&node)
    }

    /// Applies the rules to a call about a file the kernel knows.
    fn by_node(&self, req: &Request, operation: &'static str, number: INodeNo) -> Answer<Arc<Node>> {
        self.by_node_with(req, operation, number).map(|(node, _)| node)
    }

    /// Like [`PassThrough::by_node`], but also returns the fault to apply.
    fn by_node_with(&self, req: &Request, operation: &'static str, number: INodeNo) -> Answer<Faulty> {
        let node = self.nodes.get(number)?;
        let fault = self.apply_rules(req, operation, &node.path(), 0, 0, Errno::STALE)?;
        Ok((node, fault))
    }

    /// Applies the rules to a call about an open file.
    fn by_handle(
        &self,
        req: &Request,
        operation: &'static str,
        number: FileHandle,
        offset: u64,
        length: u64,
    ) -> Answer<(Arc<Handle>, Option<Fault>)> {
        let handle = self.nodes.handle(number.0)?;
        let fault = self.apply_rules(req, operation, &handle.node.path(), offset, length, Errno::STALE)?;
        Ok((handle, fault))
    }

    fn apply_rules(
        &self,
        req: &Request,
        operation: &'static str,
        path: &str,
        offset: u64,
        length: u64,
        error_if_missing: Errno,
    ) -> Answer<Option<Fault>> {
        match self.control.apply_rules(&Call { operation, path, offset, length, pid: req.pid() })? {
            // The mount point itself never disappears.
            Some(Fault::Disappear) if path.is_empty() && operation != "readdir" => Ok(None),
            Some(Fault::Disappear) => Err(error_if_missing),
            fault => Ok(fault),
        }
    }

    fn read_file(&self, req: &Request, fh: FileHandle, offset: u64, size: u32) -> Answer<Vec<u8>> {
        let (handle, fault) = self.by_handle(req, "read", fh, offset, size.into())?;
        let file = handle.file.as_ref().ok_or(Errno::ISDIR)?;
        let old_data = lock(&handle.node.old_data);
        data::read(file, &old_data, offset, size as usize, fault).map_err(|error| errno(&error))
    }

    fn write_file(&self, req: &Request, fh: FileHandle, offset: u64, bytes: &[u8]) -> Answer<u32> {
        let (handle, fault) = self.by_handle(req, "write", fh, offset, bytes.len() as u64)?;
        let file = handle.file.as_ref().ok_or(Errno::ISDIR)?;
        let mut old_data = lock(&handle.node.old_data);
        if fault == Some(Fault::Vanish) {
            lock(&handle.undo).note(file, offset, bytes.len()).map_err(|error| errno(&error))?;
        }
        data::write(file, &mut old_data, offset, bytes, fault).map(|size| size as u32).map_err(|error| errno(&error))
    }

    fn sync_file(&self, req: &Request, operation: &'static str, fh: FileHandle, data_only: bool) -> Answer<()> {
        let (handle, _) = self.by_handle(req, operation, fh, 0, 0)?;
        match &handle.file {
            Some(file) if data_only => rustix::fs::fdatasync(file),
            Some(file) => rustix::fs::fsync(file),
            None => rustix::fs::fsync(handle.node.open(0)?),
        }
    }

    fn list(&self, req: &Request, fh: FileHandle, offset: u64, reply: &mut ReplyDirectory) -> Answer<()> {
        let handle = self.nodes.handle(fh.0)?;
        let mut names = match self.apply_rules(req, "readdir", &handle.node.path(), offset, 0, Errno::NOENT) {
            Err(Errno::NOENT) => vec![b".".to_vec(), b"..".to_vec()],
            Err(error) => return Err(error),
            Ok(fault) => entries::list(&handle.node, fault == Some(Fault::Forget))?,
        };
        // Sorted, so that an offset stays valid while names are added and removed.
        names.sort();
        for (at, name) in names.into_iter().enumerate().skip(offset as usize) {
            let name = OsString::from_vec(name);
            // Skip names that were removed in the meantime.
            let Ok((number, kind)) = entry(&handle.node, &name) else { continue };
            if reply.add(INodeNo(number), at as u64 + 1, kind, &name) {
                break;
            }
        }
        Ok(())
    }
}

fn owner(req: &Request) -> Owner {
    Owner { uid: req.uid(), gid: req.gid() }
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

fn code(errno: Errno) -> Code {
    Code::from_i32(errno.raw_os_error())
}

/// Attributes of a file, with a wrong size if the fault says so.
fn reported_attributes((node, fault): &Faulty) -> Answer<fuser::FileAttr> {
    let found = node.attributes()?;
    let wrong = *fault == Some(Fault::Size) && found.kind == fuser::FileType::RegularFile;
    Ok(fuser::FileAttr { size: found.size + u64::from(wrong), ..found })
}

fn answer_entry(reply: ReplyEntry, found: Answer<Arc<Node>>) {
    answer_faulty_entry(reply, found.map(|node| (node, None)));
}

fn answer_faulty_entry(reply: ReplyEntry, found: Answer<Faulty>) {
    match found.and_then(|faulty| reported_attributes(&faulty)) {
        Ok(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
        Err(error) => reply.error(code(error)),
    }
}

fn answer_attributes(reply: ReplyAttr, found: Answer<fuser::FileAttr>) {
    match found {
        Ok(attributes) => reply.attr(&TTL, &attributes),
        Err(error) => reply.error(code(error)),
    }
}

fn answer(reply: ReplyEmpty, done: Answer<()>) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(code(error)),
    }
}

impl Filesystem for PassThrough {
    fn lookup(&self, req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let dir = self.by_name_with(req, "lookup", parent, name);
        answer_faulty_entry(reply, dir.and_then(|(dir, fault)| Ok((self.nodes.look_up(&dir, name)?, fault))));
    }

    fn forget(&self, _req: &Request, ino: INodeNo, nlookup: u64) {
        self.nodes.forget(ino, nlookup);
    }

    fn getattr(&self, req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        answer_attributes(
            reply,
            self.by_node_with(req, "getattr", ino).and_then(|faulty| reported_attributes(&faulty)),
        );
    }

    fn setattr(
        &self,
        req: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let change = Change { mode, uid, gid, size, accessed, modified };
        let done =
            self.by_node(req, "setattr", ino).and_then(|node| change.apply(&node).and_then(|()| node.attributes()));
        answer_attributes(reply, done);
    }

    fn readlink(&self, req: &Request, ino: INodeNo, reply: ReplyData) {
        let found = self.by_node(req, "readlink", ino);
        match found.and_then(|node| rustix::fs::readlinkat(&node.fd, c"", Vec::new())) {
            Ok(target) => reply.data(target.as_bytes()),
            Err(error) => reply.error(code(error)),
        }
    }

    fn mknod(&self, req: &Request, parent: INodeNo, name: &OsStr, mode: u32, _mask: u32, rdev: u32, reply: ReplyEntry) {
        let dir = self.by_name(req, "mknod", parent, name);
        let done = dir.and_then(|dir| entries::make_node(&self.nodes, &dir, name, mode, rdev, owner(req)));
        answer_entry(reply, done);
    }

    fn mkdir(&self, req: &Request, parent: INodeNo, name: &OsStr, mode: u32, _umask: u32, reply: ReplyEntry) {
        let dir = self.by_name(req, "mkdir", parent, name);
        answer_entry(reply, dir.and_then(|dir| entries::make_directory(&self.nodes, &dir, name, mode, owner(req))));
    }

    fn unlink(&self, req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let remove = |dir: &Node| rustix::fs::unlinkat(&dir.fd, name, AtFlags::empty());
        answer(reply, self.unless_lost(req, "unlink", parent, name, remove));
    }

    fn rmdir(&self, req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let remove = |dir: &Node| rustix::fs::unlinkat(&dir.fd, name, AtFlags::REMOVEDIR);
        answer(reply, self.unless_lost(req, "rmdir", parent, name, remove));
    }

    fn symlink(&self, req: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        let dir = self.by_name(req, "symlink", parent, name);
        let done = dir.and_then(|dir| entries::make_link(&self.nodes, &dir, name, target.as_os_str(), owner(req)));
        answer_entry(reply, done);
    }

    fn rename(
        &self,
        req: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let move_it = |from: &Node| {
            let to = self.nodes.get(new_parent)?;
            entries::rename(&self.nodes, (from, name), (&to, new_name), flags)
        };
        answer(reply, self.unless_lost(req, "rename", parent, name, move_it));
    }

    fn link(&self, req: &Request, ino: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let both = self.by_name(req, "link", parent, name).and_then(|dir| Ok((dir, self.nodes.get(ino)?)));
        answer_entry(reply, both.and_then(|(dir, node)| entries::second_name(&self.nodes, &node, &dir, name)));
    }

    fn open(&self, req: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let opened = self.by_node(req, "open", ino).and_then(|node| Ok((node.open(flags.0)?, node)));
        match opened {
            Ok((file, node)) => reply.opened(FileHandle(self.nodes.add_handle(node, Some(file))), self.open_flags),
            Err(error) => reply.error(code(error)),
        }
    }

    fn create(
        &self,
        req: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let dir = self.by_name(req, "create", parent, name);
        let done = dir.and_then(|dir| entries::create(&self.nodes, &dir, name, mode, flags, owner(req)));
        match done.and_then(|(node, file)| Ok((node.attributes()?, node, file))) {
            Ok((attributes, node, file)) => {
                let handle = FileHandle(self.nodes.add_handle(node, Some(file)));
                reply.created(&TTL, &attributes, Generation(0), handle, self.open_flags);
            }
            Err(error) => reply.error(code(error)),
        }
    }

    fn read(
        &self,
        req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.read_file(req, fh, offset, size) {
            Ok(bytes) => reply.data(&bytes),
            Err(error) => reply.error(code(error)),
        }
    }

    fn write(
        &self,
        req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        bytes: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.write_file(req, fh, offset, bytes) {
            Ok(size) => reply.written(size),
            Err(error) => reply.error(code(error)),
        }
    }

    fn flush(&self, req: &Request, _ino: INodeNo, fh: FileHandle, _lock_owner: LockOwner, reply: ReplyEmpty) {
        answer(reply, self.by_handle(req, "flush", fh, 0, 0).map(drop));
    }

    fn release(
        &self,
        req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        let result = self.by_handle(req, "release", fh, 0, 0).map(drop);
        self.nodes.close(fh.0);
        answer(reply, result);
    }

    fn fsync(&self, req: &Request, _ino: INodeNo, fh: FileHandle, datasync: bool, reply: ReplyEmpty) {
        answer(reply, self.sync_file(req, "fsync", fh, datasync));
    }

    fn opendir(&self, req: &Request, ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        match self.by_node(req, "opendir", ino) {
            Ok(node) => reply.opened(FileHandle(self.nodes.add_handle(node, None)), FopenFlags::empty()),
            Err(error) => reply.error(code(error)),
        }
    }

    fn readdir(&self, req: &Request, _ino: INodeNo, fh: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        match self.list(req, fh, offset, &mut reply) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(code(error)),
        }
    }

    fn releasedir(&self, _req: &Request, _ino: INodeNo, fh: FileHandle, _flags: OpenFlags, reply: ReplyEmpty) {
        self.nodes.close(fh.0);
        reply.ok();
    }

    fn fsyncdir(&self, req: &Request, _ino: INodeNo, fh: FileHandle, datasync: bool, reply: ReplyEmpty) {
        answer(reply, self.sync_file(req, "fsyncdir", fh, datasync));
    }

    fn statfs(&self, req: &Request, ino: INodeNo, reply: ReplyStatfs) {
        match self.by_node(req, "statfs", ino).and_then(|node| rustix::fs::fstatvfs(&node.fd)) {
            Ok(s) => {
                let (size, piece) = (s.f_bsize as u32, s.f_frsize as u32);
                reply.statfs(s.f_blocks, s.f_bfree, s.f_bavail, s.f_files, s.f_ffree, size, s.f_namemax as u32, piece);
            }
            Err(error) => reply.error(code(error)),
        }
    }

    fn fallocate(
        &self,
        req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let done = self.by_handle(req, "fallocate", fh, offset, length).and_then(|(handle, _)| {
            let file = handle.file.as_ref().ok_or(Errno::ISDIR)?;
            rustix::fs::fallocate(file, rustix::fs::FallocateFlags::from_bits_retain(mode as u32), offset, length)
        });
        answer(reply, done);
    }
}
