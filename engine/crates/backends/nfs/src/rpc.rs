//! Remote procedure calls: what is before the arguments and the results (RFC 5531).

use crate::xdr::{padding, u32_at};
use nfs3_types::nfs3::NFS_PROGRAM;
use nfs3_types::rpc::{auth_unix, call_body, msg_body, opaque_auth, rpc_msg, RPC_VERSION_2};
use nfs3_types::xdr_codec::{Opaque, Pack};
use nfs3_types::{mount, nfs3, portmap};

/// Longest body of a verifier (RFC 5531 section 8.2).
const MAX_AUTH_BYTES: usize = 400;
/// Longest name of a machine in AUTH_SYS (RFC 5531 section 14 and appendix A).
const MAX_MACHINE_NAME: usize = 255;
/// Says that a fragment is its record's last (RFC 5531 section 11).
const LAST_FRAGMENT: u32 = 0x8000_0000;

/// Which procedure of which program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Procedure {
    pub(crate) program: u32,
    pub(crate) version: u32,
    pub(crate) number: u32,
}

impl Procedure {
    /// One of NFS version 3 (RFC 1813 section 3).
    pub(crate) const fn nfs(number: NFS_PROGRAM) -> Self {
        Procedure { program: nfs3::PROGRAM, version: nfs3::VERSION, number: number as u32 }
    }

    /// One of MOUNT version 3 (RFC 1813 appendix I).
    pub(crate) const fn mount(number: mount::MOUNT_PROGRAM) -> Self {
        Procedure { program: mount::PROGRAM, version: mount::VERSION, number: number as u32 }
    }

    /// One of the portmapper, version 2 (RFC 1833 section 3).
    pub(crate) const fn portmap(number: portmap::PMAP_PROG) -> Self {
        Procedure { program: portmap::PROGRAM, version: portmap::VERSION, number: number as u32 }
    }

    /// Results start with a status.
    pub(crate) fn is_nfs(self) -> bool {
        self.program == nfs3::PROGRAM
    }
}

/// Whom calls are made as: AUTH_SYS (RFC 5531 section 14, appendix A).
pub(crate) struct Identity {
    credential: opaque_auth<'static>,
}

impl Identity {
    /// A user and a group, with no further groups.
    pub(crate) fn new(uid: u32, gid: u32) -> Self {
        let name = rustix::system::uname().nodename().to_bytes().to_vec();
        let machinename = Opaque::owned(name[..name.len().min(MAX_MACHINE_NAME)].to_vec());
        let credential = opaque_auth::auth_unix(&auth_unix { stamp: 0, machinename, uid, gid, gids: Vec::new() });
        Identity { credential }
    }

    /// Puts into `out` everything before the arguments. The record mark and the xid are filled in by `seal`.
    pub(crate) fn begin(&self, out: &mut Vec<u8>, procedure: Procedure) {
        out.clear();
        out.extend_from_slice(&[0; 4]);
        let body = call_body {
            rpcvers: RPC_VERSION_2,
            prog: procedure.program,
            vers: procedure.version,
            proc: procedure.number,
            cred: self.credential.borrow(),
            verf: opaque_auth::default(),
        };
        // Writing to a Vec cannot fail.
        let _ = rpc_msg { xid: 0, body: msg_body::CALL(body) }.pack(out);
    }
}

/// Fills in the record mark, for a record of one fragment with `payload` more bytes after `out`, and the xid.
pub(crate) fn seal(out: &mut [u8], payload: usize, xid: u32) {
    let length = (out.len() - 4 + payload) as u32;
    out[..4].copy_from_slice(&(length | LAST_FRAGMENT).to_be_bytes());
    out[4..8].copy_from_slice(&xid.to_be_bytes());
}

/// What a reply says before the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heading {
    /// So many bytes must be known to tell.
    More(usize),
    /// The call was not done; errno.
    Failed(i32),
    /// It was; the results start there.
    Results(usize),
}

/// Reads the start of a reply (RFC 5531 section 9). Errnos are those of Linux's client; an authentication error is
/// EACCES.
pub(crate) fn heading(reply: &[u8]) -> Heading {
    match try_heading(reply) {
        Ok(found) => found,
        Err(missing) => Heading::More(missing),
    }
}

fn try_heading(reply: &[u8]) -> Result<Heading, usize> {
    let word = |at: usize| u32_at(reply, at).ok_or(at + 4);
    let (kind, status) = (word(4)?, word(8)?);
    if kind != 1 || status > 1 {
        return Ok(Heading::Failed(libc::EBADMSG));
    }
    if status == 1 {
        return Ok(Heading::Failed(if word(12)? == 1 { libc::EACCES } else { libc::EPROTONOSUPPORT }));
    }
    let verifier = word(16)? as usize;
    if verifier > MAX_AUTH_BYTES {
        return Ok(Heading::Failed(libc::EBADMSG));
    }
    let at = 20 + verifier + padding(verifier);
    Ok(match word(at)? {
        0 => Heading::Results(at + 4),
        1 => Heading::Failed(libc::EPFNOSUPPORT),
        2 => Heading::Failed(libc::EPROTONOSUPPORT),
        3 => Heading::Failed(libc::EOPNOTSUPP),
        _ => Heading::Failed(libc::EIO),
    })
}

/// What the results of a READ say before the data (RFC 1813 section 3.3.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadHead {
    /// So many bytes of the reply must be known to tell.
    More(usize),
    /// There is no data but an error; the whole reply says which.
    Status,
    /// So many bytes of data follow, and whether the file ends with them.
    Data(u32, bool),
    /// This is not what the procedure returns.
    Nonsense,
}

/// Reads the results of a READ for `asked` bytes, which start at `at`.
pub(crate) fn read_head(reply: &[u8], at: usize, asked: usize) -> ReadHead {
    match try_read_head(reply, at, asked) {
        Ok(found) => found,
        Err(missing) => ReadHead::More(missing),
    }
}

fn try_read_head(reply: &[u8], at: usize, asked: usize) -> Result<ReadHead, usize> {
    let word = |at: usize| u32_at(reply, at).ok_or(at + 4);
    if word(at)? != 0 {
        return Ok(ReadHead::Status);
    }
    let attributes = if word(at + 4)? == 0 { 0 } else { ATTRIBUTES_BYTES };
    let at = at + 8 + attributes;
    let length = word(at + 8)?;
    let (count, eof) = (word(at)?, word(at + 4)?);
    if count != length || length as usize > asked {
        return Ok(ReadHead::Nonsense);
    }
    Ok(ReadHead::Data(length, eof != 0))
}

/// Bytes of a fattr3 (RFC 1813 section 2.6).
pub(crate) const ATTRIBUTES_BYTES: usize = 84;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::attributes as plain_file;
    use nfs3_types::nfs3::{nfsstat3, Nfs3Option, READ3res, READ3resfail, READ3resok};
    use nfs3_types::rpc::{accept_stat_data, accepted_reply, auth_flavor, auth_stat, rejected_reply, reply_body};
    use nfs3_types::xdr_codec::Unpack;
    use proptest::prelude::*;

    fn reply(body: reply_body<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        rpc_msg { xid: 7, body: msg_body::REPLY(body) }.pack(&mut out).unwrap();
        out
    }

    fn granted(verifier: &[u8], reply_data: accept_stat_data) -> Vec<u8> {
        let verf = opaque_auth { flavor: auth_flavor::AUTH_NULL, body: Opaque::borrowed(verifier) };
        reply(reply_body::MSG_ACCEPTED(accepted_reply { verf, reply_data }))
    }

    #[test]
    fn a_call_is_what_the_codec_reads() {
        let identity = Identity::new(12, 34);
        let mut out = Vec::new();
        identity.begin(&mut out, Procedure::nfs(NFS_PROGRAM::NFSPROC3_READ));
        seal(&mut out, 5, 0xfeed);
        assert_eq!(u32_at(&out, 0), Some(LAST_FRAGMENT | (out.len() + 1) as u32));
        let (message, used) = rpc_msg::unpack(&mut &out[4..]).unwrap();
        assert_eq!((message.xid, used), (0xfeed, out.len() - 4));
        let msg_body::CALL(call) = message.body else { panic!("not a call") };
        assert_eq!((call.rpcvers, call.prog, call.vers, call.proc), (2, 100_003, 3, 6));
        let (caller, _) = auth_unix::unpack(&mut &call.cred.body.0[..]).unwrap();
        assert_eq!((caller.uid, caller.gid), (12, 34));
    }

    #[test]
    fn refusals_have_their_errnos() {
        let error = rejected_reply::auth_error(auth_stat::AUTH_TOOWEAK);
        assert_eq!(heading(&reply(reply_body::MSG_DENIED(error))), Heading::Failed(libc::EACCES));
        let error = rejected_reply::rpc_mismatch(3, 3);
        assert_eq!(heading(&reply(reply_body::MSG_DENIED(error))), Heading::Failed(libc::EPROTONOSUPPORT));
        for (data, errno) in [
            (accept_stat_data::PROG_UNAVAIL, libc::EPFNOSUPPORT),
            (accept_stat_data::PROG_MISMATCH { low: 4, high: 4 }, libc::EPROTONOSUPPORT),
            (accept_stat_data::PROC_UNAVAIL, libc::EOPNOTSUPP),
            (accept_stat_data::GARBAGE_ARGS, libc::EIO),
            (accept_stat_data::SYSTEM_ERR, libc::EIO),
        ] {
            assert_eq!(heading(&granted(b"", data)), Heading::Failed(errno));
        }
    }

    /// Grows the known part of a reply only as far as is asked for.
    fn parsed<T: PartialEq>(whole: &[u8], read: impl Fn(&[u8]) -> Result<T, usize>) -> (T, usize) {
        let mut known = 0;
        loop {
            match read(&whole[..known]) {
                Ok(found) => return (found, known),
                Err(needed) => {
                    assert!(needed > known && needed <= whole.len(), "asks for {needed} of {}", whole.len());
                    known = needed;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_head_of_a_read_ends_where_the_data_starts(
            verifier in proptest::collection::vec(any::<u8>(), 0..40),
            data in proptest::collection::vec(any::<u8>(), 0..100),
            eof in any::<bool>(),
            attributes in any::<bool>(),
        ) {
            let mut whole = granted(&verifier, accept_stat_data::SUCCESS);
            let results = whole.len();
            let file_attributes = if attributes { Nfs3Option::Some(plain_file(9)) } else { Nfs3Option::None };
            let data_bytes = Opaque::borrowed(&data);
            let done = READ3resok { file_attributes, count: data.len() as u32, eof, data: data_bytes };
            READ3res::Ok(done).pack(&mut whole).unwrap();
            let (at, known) = parsed(&whole, |known| match heading(known) {
                Heading::More(needed) => Err(needed),
                found => Ok(found),
            });
            prop_assert_eq!((at, known), (Heading::Results(results), results));
            let (head, known) = parsed(&whole, |known| match read_head(known, results, 100) {
                ReadHead::More(needed) => Err(needed),
                found => Ok(found),
            });
            prop_assert_eq!(head, ReadHead::Data(data.len() as u32, eof));
            prop_assert_eq!(&whole[known..known + data.len()], &data[..]);
            if !data.is_empty() {
                prop_assert_eq!(read_head(&whole, results, data.len() - 1), ReadHead::Nonsense);
            }
        }
    }

    #[test]
    fn an_error_of_a_read_has_no_data() {
        let mut whole = granted(b"", accept_stat_data::SUCCESS);
        let results = whole.len();
        READ3res::Err((nfsstat3::NFS3ERR_STALE, READ3resfail::default())).pack(&mut whole).unwrap();
        assert_eq!(read_head(&whole, results, 10), ReadHead::Status);
    }
}
