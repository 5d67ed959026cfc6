//! An operation on a name as a sequence of calls.

use crate::calls::Payload;
use crate::client::{put_attributes, put_create, put_name, Existing, Handle, DIRECTORY_MODE};
use crate::replies::{allowed, created, listed, looked_up, written, Attributes, Rounds};
use crate::rpc::Procedure;
use crate::stability::Stable;
use crate::status::GARBAGE;
use crate::transport::Transport;
use crate::xdr::{put_opaque, put_u32, put_u64, Input};
use assay_core::names::Names;
use assay_core::{Buffers, Fault, Op, OpKind};
use assay_spec::{name_kinds, object_kinds};
use nfs3_types::nfs3::{ACCESS3_READ, NFS_PROGRAM as P};

/// What the lane knows of its names.
pub(crate) struct Context<'a> {
    pub(crate) leaves: &'a [Handle],
    pub(crate) names_per_leaf: u64,
    /// Names, and what RENAME makes of them.
    pub(crate) names: &'a Names,
    pub(crate) stable: Stable,
    /// Bytes of a READ, of a WRITE, and of a page of a listing.
    pub(crate) read_bytes: u32,
    pub(crate) write_bytes: u32,
    pub(crate) listing_bytes: u32,
    pub(crate) buffers: &'a Buffers,
}

/// Which call comes next, or was last made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Step {
    /// The one that the operation starts with.
    #[default]
    First,
    /// LOOKUP of a file that was made by a server that does not tell the handle.
    Find,
    Write,
    /// GETATTR after a LOOKUP without attributes.
    Attributes,
    Access,
    Read,
}

/// An operation under way.
#[derive(Default)]
pub(crate) struct Work {
    op: Option<Op>,
    step: Step,
    deadline: u64,
    /// The file's.
    handle: Handle,
    /// Bytes read or written, or entries listed.
    count: u32,
    /// Where the listing goes on.
    cookie: u64,
    verifier: [u8; 8],
    rounds: Rounds,
}

impl Work {
    /// An operation that shall have ended by `deadline`.
    pub(crate) fn begin(&mut self, op: &Op, deadline: u64) {
        (self.op, self.step, self.deadline) = (Some(*op), Step::First, deadline);
        (self.count, self.cookie, self.verifier) = (0, 0, [0; 8]);
        self.rounds = Rounds::default();
    }

    /// Makes the next call; fault if the operation cannot be done.
    pub(crate) fn call(&mut self, context: &Context<'_>, transport: &mut Transport) -> Result<(), Fault> {
        let op = self.op.ok_or(Fault::os(libc::EINVAL))?;
        let about = (u64::from(op.slot), self.deadline);
        let nfs = Procedure::nfs;
        match self.step {
            Step::First if op.kind == OpKind::Readdir => self.call_readdir(op, context, transport)?,
            Step::First | Step::Find => self.call_name(op, context, transport)?,
            Step::Write => self.call_write(op, context, transport),
            Step::Read => self.call_read(op, context, transport),
            Step::Attributes => {
                let fill = |out: &mut Vec<u8>| put_opaque(out, &self.handle);
                transport.start(nfs(P::NFSPROC3_GETATTR), about, Payload::None, fill);
            }
            Step::Access => {
                let fill = |out: &mut Vec<u8>| {
                    put_opaque(out, &self.handle);
                    put_u32(out, ACCESS3_READ);
                };
                transport.start(nfs(P::NFSPROC3_ACCESS), about, Payload::None, fill);
            }
        }
        Ok(())
    }

    fn call_name(&self, op: Op, context: &Context<'_>, transport: &mut Transport) -> Result<(), Fault> {
        let leaf = context.leaves.get((op.object / context.names_per_leaf) as usize).ok_or(Fault::os(libc::ENOENT))?;
        let (mut name, mut other) = (context.names.current, context.names.other);
        name.set(op.object);
        other.set(op.object);
        let procedure = match (self.step, op.kind) {
            (Step::Find, _) | (_, OpKind::Stat | OpKind::Open | OpKind::Read) => P::NFSPROC3_LOOKUP,
            (_, OpKind::Create) => P::NFSPROC3_CREATE,
            (_, OpKind::Rename) => P::NFSPROC3_RENAME,
            (_, OpKind::Unlink) => P::NFSPROC3_REMOVE,
            (_, OpKind::Mkdir) => P::NFSPROC3_MKDIR,
            (_, OpKind::Rmdir) => P::NFSPROC3_RMDIR,
            (_, OpKind::Readdir | OpKind::Write | OpKind::Sync | object_kinds!()) => {
                return Err(Fault::os(libc::EINVAL))
            }
        };
        let about = (u64::from(op.slot), self.deadline);
        transport.start(Procedure::nfs(procedure), about, Payload::None, |out| match procedure {
            P::NFSPROC3_CREATE => put_create(out, leaf, name.bytes(), Existing::Refused),
            P::NFSPROC3_MKDIR => {
                put_name(out, leaf, name.bytes());
                put_attributes(out, Some(DIRECTORY_MODE), None);
            }
            P::NFSPROC3_RENAME => {
                put_name(out, leaf, name.bytes());
                put_name(out, leaf, other.bytes());
            }
            _ => put_name(out, leaf, name.bytes()),
        });
        Ok(())
    }

    fn call_readdir(&self, op: Op, context: &Context<'_>, transport: &mut Transport) -> Result<(), Fault> {
        let leaf = context.leaves.get(op.object as usize).ok_or(Fault::os(libc::ENOENT))?;
        let about = (u64::from(op.slot), self.deadline);
        transport.start(Procedure::nfs(P::NFSPROC3_READDIR), about, Payload::None, |out| {
            put_opaque(out, leaf);
            put_u64(out, self.cookie);
            out.extend_from_slice(&self.verifier);
            put_u32(out, context.listing_bytes);
        });
        Ok(())
    }

    fn call_write(&self, op: Op, context: &Context<'_>, transport: &mut Transport) {
        let length = context.write_bytes.min(op.length as u32 - self.count);
        let data = context.buffers.pointer(op.slot).wrapping_add(self.count as usize);
        let about = (u64::from(op.slot), self.deadline);
        let payload = Payload::Out(data.cast_const(), length as usize);
        transport.start(Procedure::nfs(P::NFSPROC3_WRITE), about, payload, |out| {
            put_opaque(out, &self.handle);
            put_u64(out, u64::from(self.count));
            put_u32(out, length);
            put_u32(out, context.stable as u32);
            put_u32(out, length);
        });
    }

    fn call_read(&self, op: Op, context: &Context<'_>, transport: &mut Transport) {
        let length = context.read_bytes.min(op.length as u32 - self.count);
        let data = context.buffers.pointer(op.slot).wrapping_add(self.count as usize);
        let about = (u64::from(op.slot), self.deadline);
        transport.start(Procedure::nfs(P::NFSPROC3_READ), about, Payload::In(data, length as usize), |out| {
            put_opaque(out, &self.handle);
            put_u64(out, u64::from(self.count));
            put_u32(out, length);
        });
    }

    /// A READ has brought so many bytes, with which the file may end: the operation's result, or none if another follows.
    pub(crate) fn has_read(&mut self, count: u32, eof: bool) -> Option<Result<u32, Fault>> {
        self.count += count;
        let whole = self.op.is_some_and(|op| u64::from(self.count) >= op.length);
        (eof || count == 0 || whole).then_some(Ok(self.count))
    }

    /// A call has ended: the operation's result, or none if another call follows.
    pub(crate) fn ended(&mut self, results: Result<&[u8], Fault>) -> Option<Result<u32, Fault>> {
        let results = match results {
            Ok(results) => results,
            Err(fault) => return Some(Err(fault)),
        };
        match self.next(results) {
            Ok(result) => result.map(Ok),
            Err(fault) => Some(Err(fault)),
        }
    }

    fn next(&mut self, results: &[u8]) -> Result<Option<u32>, Fault> {
        let op = self.op.ok_or(Fault::os(libc::EINVAL))?;
        match (self.step, op.kind) {
            (Step::First, OpKind::Create) if op.length == 0 => Ok(Some(0)),
            (Step::First, OpKind::Create) => {
                self.step = match created(results) {
                    Some(handle) => {
                        self.keep(handle);
                        Step::Write
                    }
                    None => Step::Find,
                };
                Ok(None)
            }
            (Step::Find, _) => {
                self.keep(looked_up(results).ok_or(GARBAGE)?.0);
                self.step = Step::Write;
                Ok(None)
            }
            (Step::Write, _) => {
                let written = written(results).filter(|done| done.count <= op.length as u32 - self.count);
                self.count += written.ok_or(GARBAGE)?.count;
                let nothing = written.is_some_and(|done| done.count == 0);
                Ok((self.count == op.length as u32 || nothing).then_some(self.count))
            }
            (Step::First, OpKind::Stat | OpKind::Open | OpKind::Read) => self.found(op.kind, results),
            // What it brings is told by the call, see `has_read`.
            (Step::Read, _) => Err(GARBAGE),
            (Step::Attributes, _) => Ok(Some(size(Attributes::read(&mut Input(results)).ok_or(GARBAGE)?))),
            (Step::Access, _) => match allowed(results) {
                Some(rights) if rights & ACCESS3_READ != 0 => Ok(Some(0)),
                // The server has not refused: it has only said what the user may not.
                Some(_) => Err(Fault::os(libc::EACCES)),
                None => Err(GARBAGE),
            },
            (Step::First, OpKind::Readdir) => self.page(results),
            (Step::First, OpKind::Rename | OpKind::Unlink | OpKind::Mkdir | OpKind::Rmdir) => Ok(Some(0)),
            (Step::First, OpKind::Write | OpKind::Sync | object_kinds!()) => Err(Fault::os(libc::EINVAL)),
        }
    }

    fn found(&mut self, kind: OpKind, results: &[u8]) -> Result<Option<u32>, Fault> {
        let (handle, attributes) = looked_up(results).ok_or(GARBAGE)?;
        match (kind, attributes) {
            (OpKind::Stat, Some(attributes)) => return Ok(Some(size(attributes))),
            (OpKind::Stat, None) => self.step = Step::Attributes,
            (OpKind::Read, _) => self.step = Step::Read,
            (OpKind::Write | OpKind::Sync | object_kinds!() | name_kinds!(), _) => self.step = Step::Access,
        }
        self.keep(handle);
        Ok(None)
    }

    fn page(&mut self, results: &[u8]) -> Result<Option<u32>, Fault> {
        let page = listed(results, |_| {}).ok_or(GARBAGE)?;
        self.count = self.count.checked_add(page.names).ok_or(Fault::os(libc::EOVERFLOW))?;
        if page.eof {
            return Ok(Some(self.count));
        }
        // A page without entries would come again and again.
        self.cookie = page.cookie.ok_or(GARBAGE)?;
        if self.rounds.again(self.cookie) {
            return Err(Fault::os(libc::ELOOP));
        }
        self.verifier = page.verifier;
        Ok(None)
    }

    fn keep(&mut self, handle: &[u8]) {
        self.handle.clear();
        self.handle.extend_from_slice(handle);
    }
}

/// What is too large for a result cannot be a small file's size either.
fn size(attributes: Attributes) -> u32 {
    u32::try_from(attributes.size).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part of a listing with one name.
    fn page(cookie: u64) -> Vec<u8> {
        let mut out = vec![0; 4 + 8];
        put_u32(&mut out, 1);
        put_u64(&mut out, 1);
        put_opaque(&mut out, b"name");
        put_u64(&mut out, cookie);
        put_u32(&mut out, 0);
        put_u32(&mut out, 0);
        out
    }

    #[test]
    fn a_listing_that_goes_round_is_a_fault() {
        let op = Op { kind: OpKind::Readdir, count: 1, slot: 0, object: 0, offset: 0, length: 0 };
        let mut work = Work::default();
        work.begin(&op, u64::MAX);
        let ends = (0..100_u64).find_map(|step| work.ended(Ok(&page(1 + step % 3))));
        assert_eq!(ends, Some(Err(Fault::os(libc::ELOOP))));
        work.begin(&op, u64::MAX);
        assert!((0..100_u64).all(|step| work.ended(Ok(&page(1 + step))).is_none()));
    }
}
