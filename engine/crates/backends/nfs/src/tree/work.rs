//! An operation on a name as a sequence of calls.

use crate::client::{put_attributes, put_create, put_name, Existing, Handle, DIRECTORY_MODE};
use crate::replies::{allowed, created, listed, looked_up, written, Attributes, Rounds};
use crate::rpc::Procedure;
use crate::stability::Stable;
use crate::status::GARBAGE;
use crate::transport::Transport;
use crate::xdr::{put_opaque, put_u32, put_u64, Input};
use assay_core::names::Names;
use assay_core::{Buffers, Fault, Op, OpKind, Source, OPEN_TO_READ};
use assay_remote::{piece_to_read, piece_to_write, Payload};
use assay_spec::{name_kinds, object_kinds, program_kinds};
use nfs3_types::nfs3::{ACCESS3_READ, NFS_PROGRAM as P};

/// What the lane knows of its names.
pub(crate) struct Context<'a> {
    pub(crate) leaves: &'a [Handle],
    pub(crate) names_per_leaf: u64,
    /// Names, and what RENAME makes of them.
    pub(crate) names: &'a Names,
    pub(crate) stable: Stable,
    /// Bytes of a READ and of a WRITE.
    pub(crate) sizes: (u32, u32),
    /// Bytes of a page of a listing.
    pub(crate) listing_bytes: u32,
    pub(crate) buffers: &'a Buffers,
    /// Contents that are longer than a buffer; none if none are.
    pub(crate) source: Option<&'a dyn Source>,
    /// What is asked of a file that is opened.
    pub(crate) opening: Opening,
    /// The phase is on the data of files: one that is made stays open.
    pub(crate) on_data: bool,
    /// What becomes of a file that is to be created and is there.
    pub(crate) existing: Existing,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// For what is allowed then, in the bits of ACCESS (RFC 1813 section 3.3.4).
    For(u32),
    /// Made, or emptied.
    Anew,
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
    /// The file is opened by making or emptying it.
    anew: bool,
    /// What must be allowed.
    rights: u32,
    /// Bytes read or written, or entries listed.
    count: u64,
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
        (self.anew, self.rights) = match context.opening {
            Opening::For(_) if op.kind == OpKind::Open && op.offset == OPEN_TO_READ => (false, ACCESS3_READ),
            Opening::For(rights) => (context.on_data && op.kind == OpKind::Create, rights),
            Opening::Anew => (op.kind == OpKind::Open, 0),
        };
        let about = (u64::from(op.slot), self.deadline);
        let nfs = Procedure::nfs;
        match self.step {
            Step::First if op.kind == OpKind::Readdir => self.call_readdir(op, context, transport)?,
            Step::First | Step::Find => self.call_name(op, context, transport)?,
            Step::Write => self.call_write(op, context, transport)?,
            Step::Read => self.call_read(op, context, transport),
            Step::Attributes => {
                let fill = |out: &mut Vec<u8>| put_opaque(out, &self.handle);
                transport.start(nfs(P::NFSPROC3_GETATTR), about, Payload::None, fill);
            }
            Step::Access => {
                let fill = |out: &mut Vec<u8>| {
                    put_opaque(out, &self.handle);
                    put_u32(out, self.rights);
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
            (Step::Find, _) | (_, OpKind::Stat | OpKind::Read) => P::NFSPROC3_LOOKUP,
            (_, OpKind::Open) if !self.anew => P::NFSPROC3_LOOKUP,
            (_, OpKind::Create | OpKind::Open) => P::NFSPROC3_CREATE,
            (_, OpKind::Rename) => P::NFSPROC3_RENAME,
            (_, OpKind::Unlink) => P::NFSPROC3_REMOVE,
            (_, OpKind::Mkdir) => P::NFSPROC3_MKDIR,
            (_, OpKind::Rmdir) => P::NFSPROC3_RMDIR,
            (
                _,
                OpKind::Readdir | OpKind::Write | OpKind::Close | OpKind::Sync | object_kinds!() | program_kinds!(),
            ) => return Err(Fault::os(libc::EINVAL)),
        };
        let about = (u64::from(op.slot), self.deadline);
        transport.start(Procedure::nfs(procedure), about, Payload::None, |out| match procedure {
            P::NFSPROC3_CREATE => {
                let emptied = op.kind == OpKind::Open;
                put_create(out, leaf, name.bytes(), if emptied { Existing::Emptied } else { context.existing });
            }
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

    fn call_write(&self, op: Op, context: &Context<'_>, transport: &mut Transport) -> Result<(), Fault> {
        let (data, length) = piece_to_write(&op, self.count, context.sizes.1, context.buffers, context.source)?;
        let about = (u64::from(op.slot), self.deadline);
        let payload = Payload::Out(data, length as usize);
        transport.start(Procedure::nfs(P::NFSPROC3_WRITE), about, payload, |out| {
            put_opaque(out, &self.handle);
            put_u64(out, self.count);
            put_u32(out, length);
            put_u32(out, context.stable as u32);
            put_u32(out, length);
        });
        Ok(())
    }

    fn call_read(&self, op: Op, context: &Context<'_>, transport: &mut Transport) {
        let (data, length) = piece_to_read(&op, self.count, context.sizes.0, context.buffers);
        let about = (u64::from(op.slot), self.deadline);
        transport.start(Procedure::nfs(P::NFSPROC3_READ), about, Payload::In(data, length as usize), |out| {
            put_opaque(out, &self.handle);
            put_u64(out, self.count);
            put_u32(out, length);
        });
    }

    /// A READ has brought so many bytes, with which the file may end: the operation's result, or none if another follows.
    pub(crate) fn has_read(&mut self, count: u32, eof: bool) -> Option<Result<u64, Fault>> {
        self.count += u64::from(count);
        let whole = self.op.is_some_and(|op| self.count >= op.length);
        (eof || count == 0 || whole).then_some(Ok(self.count))
    }

    /// A call has ended: the operation's result, or none if another call follows.
    pub(crate) fn ended(&mut self, results: Result<&[u8], Fault>) -> Option<Result<u64, Fault>> {
        let results = match results {
            Ok(results) => results,
            Err(fault) => return Some(Err(fault)),
        };
        match self.next(results) {
            Ok(result) => result.map(Ok),
            Err(fault) => Some(Err(fault)),
        }
    }

    fn next(&mut self, results: &[u8]) -> Result<Option<u64>, Fault> {
        let op = self.op.ok_or(Fault::os(libc::EINVAL))?;
        match (self.step, op.kind) {
            (Step::First, OpKind::Create) if op.length == 0 && !self.anew => Ok(Some(0)),
            (Step::First, OpKind::Create) => Ok(self.made(created(results))),
            (Step::First, OpKind::Open) if self.anew => Ok(self.made(created(results))),
            (Step::Find, _) => Ok(self.made(Some(looked_up(results).ok_or(GARBAGE)?.0))),
            (Step::Write, _) => {
                let written = written(results).filter(|done| u64::from(done.count) <= op.length - self.count);
                self.count += u64::from(written.ok_or(GARBAGE)?.count);
                let nothing = written.is_some_and(|done| done.count == 0);
                Ok((self.count == op.length || nothing).then_some(self.count))
            }
            (Step::First, OpKind::Stat | OpKind::Open | OpKind::Read) => self.found(op.kind, results),
            // What it brings is told by the call, see `has_read`.
            (Step::Read, _) => Err(GARBAGE),
            (Step::Attributes, _) => Ok(Some(Attributes::read(&mut Input(results)).ok_or(GARBAGE)?.size)),
            (Step::Access, _) => match allowed(results) {
                Some(rights) if rights & self.rights == self.rights => Ok(Some(0)),
                // The server has not refused: it has only said what the user may not.
                Some(_) => Err(Fault::os(libc::EACCES)),
                None => Err(GARBAGE),
            },
            (Step::First, OpKind::Readdir) => self.page(results),
            (Step::First, OpKind::Rename | OpKind::Unlink | OpKind::Mkdir | OpKind::Rmdir) => Ok(Some(0)),
            (Step::First, OpKind::Write | OpKind::Close | OpKind::Sync | object_kinds!() | program_kinds!()) => {
                Err(Fault::os(libc::EINVAL))
            }
        }
    }

    /// A file was made: what follows, now that its handle is known, or not yet.
    fn made(&mut self, handle: Option<&[u8]>) -> Option<u64> {
        let Some(handle) = handle else {
            self.step = Step::Find;
            return None;
        };
        self.keep(handle);
        self.step = Step::Write;
        self.anew.then_some(0)
    }

    fn found(&mut self, kind: OpKind, results: &[u8]) -> Result<Option<u64>, Fault> {
        let (handle, attributes) = looked_up(results).ok_or(GARBAGE)?;
        match (kind, attributes) {
            (OpKind::Stat, Some(attributes)) => return Ok(Some(attributes.size)),
            (OpKind::Stat, None) => self.step = Step::Attributes,
            (OpKind::Read, _) => self.step = Step::Read,
            (OpKind::Write | OpKind::Sync | object_kinds!() | program_kinds!() | name_kinds!(), _) => {
                self.step = Step::Access;
            }
        }
        self.keep(handle);
        Ok(None)
    }

    fn page(&mut self, results: &[u8]) -> Result<Option<u64>, Fault> {
        let page = listed(results, |_| {}).ok_or(GARBAGE)?;
        self.count = self.count.checked_add(u64::from(page.names)).ok_or(Fault::os(libc::EOVERFLOW))?;
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

    /// It opens a file, or makes one.
    pub(crate) fn opens(&self) -> bool {
        self.op.is_some_and(|op| matches!(op.kind, OpKind::Open | OpKind::Create))
    }

    /// The file that was opened, as the server knows it.
    pub(crate) fn handle(&self) -> &[u8] {
        &self.handle
    }

    fn keep(&mut self, handle: &[u8]) {
        self.handle.clear();
        self.handle.extend_from_slice(handle);
    }
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
