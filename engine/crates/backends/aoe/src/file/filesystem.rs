//! The file system that the kernel sees: a folder with one file.

use super::worker::{DiskRequest, Queue};
use crate::disk::Disk;
use assay_spec::SECTOR_BYTES;
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs,
    ReplyWrite, Request, WriteFlags,
};
use std::ffi::OsStr;
use std::time::{Duration, SystemTime};

const FOLDER: INodeNo = INodeNo(1);
const FILE: INodeNo = INodeNo(2);
/// How long the kernel may cache attributes: only the contents change.
const ATTRIBUTE_TTL: Duration = Duration::from_hours(1);
/// Most bytes of one request.
pub(super) const MAX_REQUEST_BYTES: u32 = 1 << 20;
/// Most requests that the kernel has in flight in the background, such as those of read-ahead and of loop devices.
const MAX_BACKGROUND: u16 = 64;

/// The folder and its file.
pub(super) struct DiskFilesystem {
    name: String,
    bytes: u64,
    mounted_at: SystemTime,
    queue: Queue,
}

impl DiskFilesystem {
    pub(super) fn new(name: String, disk: &Disk, queue: Queue) -> Self {
        DiskFilesystem { name, bytes: disk.identity.sectors * SECTOR_BYTES, mounted_at: SystemTime::now(), queue }
    }

    fn attributes(&self, number: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size, nlink) = match number {
            FOLDER => (FileType::Directory, 0o700, 0, 2),
            FILE => (FileType::RegularFile, 0o600, self.bytes, 1),
            _ => return None,
        };
        Some(FileAttr {
            ino: number,
            size,
            blocks: size / SECTOR_BYTES,
            atime: self.mounted_at,
            mtime: self.mounted_at,
            ctime: self.mounted_at,
            crtime: self.mounted_at,
            kind,
            perm,
            nlink,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

impl Filesystem for DiskFilesystem {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // The kernel works without the features that it does not offer.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO | InitFlags::FUSE_MAX_PAGES);
        let _ = config.set_max_write(MAX_REQUEST_BYTES);
        let _ = config.set_max_background(MAX_BACKGROUND);
        let _ = config.set_congestion_threshold(MAX_BACKGROUND);
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(FILE).filter(|_| parent == FOLDER && name == self.name.as_str()) {
            Some(attributes) => reply.entry(&ATTRIBUTE_TTL, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(ino) {
            Some(attributes) => reply.attr(&ATTRIBUTE_TTL, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _req: &Request, ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        match ino {
            FILE => reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE),
            _ => reply.error(Errno::EISDIR),
        }
    }

    fn read(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let length = u64::from(size).min(self.bytes.saturating_sub(offset));
        if length == 0 {
            return reply.data(&[]);
        }
        self.queue.put(DiskRequest::Read { offset, length: length as usize, reply });
    }

    fn write(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let length = (data.len() as u64).min(self.bytes.saturating_sub(offset)) as usize;
        match length {
            0 if data.is_empty() => reply.written(0),
            // As for block devices: there is no room beyond the end.
            0 => reply.error(Errno::ENOSPC),
            _ => self.queue.put(DiskRequest::Write { offset, data: data[..length].to_vec(), reply }),
        }
    }

    fn fsync(&self, _req: &Request, _ino: INodeNo, _fh: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        self.queue.put(DiskRequest::Flush { reply });
    }

    fn readdir(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        if ino != FOLDER {
            return reply.error(Errno::ENOTDIR);
        }
        let all = [
            (FOLDER, FileType::Directory, "."),
            (FOLDER, FileType::Directory, ".."),
            (FILE, FileType::RegularFile, &self.name),
        ];
        for (at, (number, kind, name)) in (1_u64..).zip(all).skip(offset as usize) {
            if reply.add(number, at, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _req: &Request, _ino: INodeNo, reply: ReplyStatfs) {
        reply.statfs(self.bytes / SECTOR_BYTES, 0, 0, 1, 0, SECTOR_BYTES as u32, 255, SECTOR_BYTES as u32);
    }
}
