//! Procedures of NFS version 3 (RFC 1813 section 3.3), one after the other or many at a time. For all that is not
//! measured.

use crate::calls::MAX_CALLS;
use crate::replies::{created, found, listed, Found};
use crate::rpc::Procedure;
use crate::status::GARBAGE;
use crate::transport::Transport;
use crate::xdr::{put_opaque, put_u32, put_u64, Input};
use assay_core::{clock, Fault};
use assay_remote::{Payload, Transport as _, WINDOW};
use nfs3_types::nfs3::NFS_PROGRAM as P;
use nfs3_types::nfs3::{sattr3, Nfs3Option};
use nfs3_types::xdr_codec::Pack;

/// What a server knows a file or directory by (RFC 1813 section 2.3.3).
pub(crate) type Handle = Vec<u8>;

/// Mode of new files, and of new directories: the owner's alone.
pub(crate) const FILE_MODE: u32 = 0o600;
pub(crate) const DIRECTORY_MODE: u32 = 0o700;

/// How CREATE treats a file that is there (RFC 1813 section 3.3.8, createmode3): UNCHECKED or GUARDED, or the first with
/// a size of 0 among the new attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    Taken = 0,
    /// Taken, and emptied.
    Emptied = 2,
    Refused = 1,
}

/// Bytes of a listing that are asked for at once.
const LISTING_BYTES: u32 = 32 << 10;
/// A server that sends more than that at once does not keep to what it was asked for.
const MAX_LISTED: usize = 2 * LISTING_BYTES as usize;
/// Parts of a listing in which there may be no name.
const MAX_EMPTY: usize = 64;

/// A server, and how long to wait for it.
pub(crate) struct Client {
    pub(crate) transport: Transport,
    pub(crate) timeout_ns: u64,
}

/// Puts a directory and a name in it (RFC 1813 section 2.6, diropargs3).
pub(crate) fn put_name(out: &mut Vec<u8>, directory: &[u8], name: &[u8]) {
    put_opaque(out, directory);
    put_opaque(out, name);
}

/// Puts the attributes of a new object (RFC 1813 section 2.6, sattr3).
pub(crate) fn put_attributes(out: &mut Vec<u8>, mode: Option<u32>, size: Option<u64>) {
    let mode = mode.map_or(Nfs3Option::None, Nfs3Option::Some);
    let size = size.map_or(Nfs3Option::None, Nfs3Option::Some);
    // Writing to a Vec cannot fail.
    let _ = sattr3 { mode, size, ..sattr3::default() }.pack(out);
}

/// Puts the arguments of a SETATTR (RFC 1813 section 3.3.2) that empties a file.
pub(crate) fn put_emptying(out: &mut Vec<u8>, file: &[u8]) {
    put_opaque(out, file);
    put_attributes(out, None, Some(0));
    put_u32(out, 0);
}

/// Puts the arguments of CREATE (RFC 1813 section 3.3.8).
pub(crate) fn put_create(out: &mut Vec<u8>, directory: &[u8], name: &[u8], existing: Existing) {
    put_name(out, directory, name);
    let emptied = existing == Existing::Emptied;
    let how = if emptied { Existing::Taken } else { existing };
    put_u32(out, how as u32);
    put_attributes(out, Some(FILE_MODE), emptied.then_some(0));
}

impl Client {
    /// Does one call; the results after the status, or fault.
    pub(crate) fn call(&mut self, procedure: Procedure, fill: impl FnOnce(&mut Vec<u8>)) -> Result<Vec<u8>, Fault> {
        let deadline = clock::now() + self.timeout_ns;
        let number = self.transport.start(procedure, (0, deadline), Payload::None, fill);
        self.transport.complete(number)
    }

    /// The same for a procedure of NFS.
    fn nfs(&mut self, procedure: P, fill: impl FnOnce(&mut Vec<u8>)) -> Result<Vec<u8>, Fault> {
        self.call(Procedure::nfs(procedure), fill)
    }

    /// Does `count` calls, many at a time. `done` is told the results in any order.
    pub(crate) fn all(
        &mut self,
        procedure: P,
        count: usize,
        mut fill: impl FnMut(usize, &mut Vec<u8>),
        done: impl FnMut(usize, Result<&[u8], Fault>),
    ) {
        const { assert!(WINDOW < MAX_CALLS) };
        let timeout_ns = self.timeout_ns;
        let start = |transport: &mut Transport, number: usize| {
            let about = (number as u64, clock::now() + timeout_ns);
            transport.start(Procedure::nfs(procedure), about, Payload::None, |out| fill(number, out));
        };
        self.transport.all(count, start, done);
    }

    /// LOOKUP (RFC 1813 section 3.3.3).
    pub(crate) fn lookup(&mut self, directory: &[u8], name: impl AsRef<[u8]>) -> Result<Found, Fault> {
        let results = self.nfs(P::NFSPROC3_LOOKUP, |out| put_name(out, directory, name.as_ref()))?;
        found(&results).ok_or(GARBAGE)
    }

    /// GETATTR (RFC 1813 section 3.3.1).
    pub(crate) fn attributes(&mut self, handle: &[u8]) -> Result<crate::replies::Attributes, Fault> {
        let results = self.nfs(P::NFSPROC3_GETATTR, |out| put_opaque(out, handle))?;
        crate::replies::Attributes::read(&mut Input(&results)).ok_or(GARBAGE)
    }

    /// LOOKUP; attributes that the server leaves out are asked for.
    pub(crate) fn look(&mut self, directory: &[u8], name: impl AsRef<[u8]>) -> Result<Found, Fault> {
        let mut found = self.lookup(directory, name)?;
        if found.attributes.is_none() {
            found.attributes = Some(self.attributes(&found.handle)?);
        }
        Ok(found)
    }

    /// CREATE (RFC 1813 section 3.3.8) of an empty file.
    pub(crate) fn create(&mut self, directory: &[u8], name: &str, existing: Existing) -> Result<Handle, Fault> {
        let results = self.nfs(P::NFSPROC3_CREATE, |out| put_create(out, directory, name.as_bytes(), existing))?;
        self.made(directory, name, &results)
    }

    /// MKDIR (RFC 1813 section 3.3.9).
    pub(crate) fn mkdir(&mut self, directory: &[u8], name: &str) -> Result<Handle, Fault> {
        let results = self.nfs(P::NFSPROC3_MKDIR, |out| {
            put_name(out, directory, name.as_bytes());
            put_attributes(out, Some(DIRECTORY_MODE), None);
        })?;
        self.made(directory, name, &results)
    }

    /// The handle of what was made, which a server need not tell.
    fn made(&mut self, directory: &[u8], name: &str, results: &[u8]) -> Result<Handle, Fault> {
        match created(results) {
            Some(handle) => Ok(handle.to_vec()),
            None => self.lookup(directory, name).map(|found| found.handle),
        }
    }

    /// RMDIR (RFC 1813 section 3.3.13).
    pub(crate) fn rmdir(&mut self, directory: &[u8], name: &[u8]) -> Result<(), Fault> {
        self.nfs(P::NFSPROC3_RMDIR, |out| put_name(out, directory, name)).map(|_| ())
    }

    /// READDIR (RFC 1813 section 3.3.16) until at least one name is known or the directory ends: all names but `.` and
    /// `..` of the first part of the listing that has any. Empty if there are none; ELOOP if the listing goes on without
    /// any.
    pub(crate) fn first_names(&mut self, directory: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
        let (mut cookie, mut verifier) = (0, [0; 8]);
        for _ in 0..MAX_EMPTY {
            let results = self.nfs(P::NFSPROC3_READDIR, |out| {
                put_opaque(out, directory);
                put_u64(out, cookie);
                out.extend_from_slice(&verifier);
                put_u32(out, LISTING_BYTES);
            })?;
            let mut names = Vec::new();
            let within = Some(results.as_slice()).filter(|results| results.len() <= MAX_LISTED);
            let page = within.and_then(|results| listed(results, |name| names.push(name.to_vec())));
            let page = page.ok_or(GARBAGE)?;
            match page.cookie {
                Some(last) if names.is_empty() && !page.eof => cookie = last,
                _ => return Ok(names),
            }
            verifier = page.verifier;
        }
        Err(Fault::os(libc::ELOOP))
    }
}
