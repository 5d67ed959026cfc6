//! Results of procedures, read without allocating more than they hold.

use crate::rpc::ATTRIBUTES_BYTES;
use crate::xdr::Input;

/// Longest file handle (RFC 1813 section 2.4).
pub(crate) const MAX_HANDLE: usize = 64;
/// Longest name that a server may have.
const MAX_NAME: usize = 4096;

/// Types of files (RFC 1813 section 2.6, ftype3).
pub(crate) const REGULAR: u32 = 1;
pub(crate) const DIRECTORY: u32 = 2;

/// A reply ends before its results do.
struct TooShort;

/// What is used of a file's attributes (RFC 1813 section 2.6, fattr3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) kind: u32,
    /// Names that it has.
    pub(crate) links: u32,
    pub(crate) size: u64,
    /// File system it is in.
    pub(crate) file_system: u64,
}

impl Attributes {
    /// Reads a fattr3.
    pub(crate) fn read(input: &mut Input<'_>) -> Option<Self> {
        let mut fields = Input(input.bytes(ATTRIBUTES_BYTES)?);
        let kind = fields.u32()?;
        fields.u32()?;
        let links = fields.u32()?;
        fields.u64()?;
        let size = fields.u64()?;
        // used, rdev
        fields.bytes(16)?;
        let file_system = fields.u64()?;
        Some(Attributes { kind, links, size, file_system })
    }

    /// Reads a post_op_attr: `Ok` of what is there, `Err` if the reply is too short.
    fn read_optional(input: &mut Input<'_>) -> Result<Option<Self>, TooShort> {
        if input.flag().ok_or(TooShort)? {
            Self::read(input).map(Some).ok_or(TooShort)
        } else {
            Ok(None)
        }
    }
}

/// What a LOOKUP has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) handle: Vec<u8>,
    pub(crate) attributes: Option<Attributes>,
}

/// Results of LOOKUP (RFC 1813 section 3.3.3): the handle, and attributes if the server gives them.
pub(crate) fn looked_up(results: &[u8]) -> Option<(&[u8], Option<Attributes>)> {
    let mut input = Input(results);
    Some((input.opaque(MAX_HANDLE)?, Attributes::read_optional(&mut input).ok()?))
}

/// The same to keep.
pub(crate) fn found(results: &[u8]) -> Option<Found> {
    looked_up(results).map(|(handle, attributes)| Found { handle: handle.to_vec(), attributes })
}

/// Results of CREATE and MKDIR (RFC 1813 sections 3.3.8 and 3.3.9): the handle, if the server gives it.
pub(crate) fn created(results: &[u8]) -> Option<&[u8]> {
    let mut input = Input(results);
    if !input.flag()? {
        return None;
    }
    input.opaque(MAX_HANDLE)
}

/// Passes over a wcc_data (RFC 1813 section 2.6).
fn pass_wcc(input: &mut Input<'_>) -> Option<()> {
    if input.flag()? {
        input.bytes(24)?;
    }
    Attributes::read_optional(input).ok().map(|_| ())
}

/// What a server says that it will lose together (RFC 1813 section 3.3.7, writeverf3).
pub(crate) type Verifier = [u8; 8];

/// Results of WRITE (RFC 1813 section 3.3.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) count: u32,
    /// How stable it is: 0 not at all, 1 the data, 2 everything.
    pub(crate) committed: u32,
    pub(crate) verifier: Verifier,
}

/// Reads them.
pub(crate) fn written(results: &[u8]) -> Option<Written> {
    let mut input = Input(results);
    pass_wcc(&mut input)?;
    let (count, committed) = (input.u32()?, input.u32()?);
    Some(Written { count, committed, verifier: input.bytes(8)?.try_into().ok()? })
}

/// Results of COMMIT (RFC 1813 section 3.3.21).
pub(crate) fn committed(results: &[u8]) -> Option<Verifier> {
    let mut input = Input(results);
    pass_wcc(&mut input)?;
    input.bytes(8)?.try_into().ok()
}

/// Results of ACCESS (RFC 1813 section 3.3.4): what is allowed.
pub(crate) fn allowed(results: &[u8]) -> Option<u32> {
    let mut input = Input(results);
    Attributes::read_optional(&mut input).ok()?;
    input.u32()
}

/// Results of MNT (RFC 1813 appendix I): the handle of the export, or the status. Read here because the codec makes room
/// for whatever length a server claims.
pub(crate) fn mounted(results: &[u8]) -> Option<Result<&[u8], u32>> {
    let mut input = Input(results);
    match input.u32()? {
        0 => input.opaque(MAX_HANDLE).map(Ok),
        status => Some(Err(status)),
    }
}

/// Tells a listing that goes round: cookies that come again. Source: Brent, An improved Monte Carlo factorization
/// algorithm, BIT 20 (1980), section 2.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rounds {
    known: u64,
    since: u64,
    limit: u64,
}

impl Rounds {
    /// Whether the listing has come to this cookie before; known after three times round at most.
    pub(crate) fn again(&mut self, cookie: u64) -> bool {
        if self.limit > 0 && cookie == self.known {
            return true;
        }
        if self.since == self.limit {
            (self.known, self.since, self.limit) = (cookie, 0, (2 * self.limit).max(1));
        }
        self.since += 1;
        false
    }
}

/// Results of READDIR (RFC 1813 section 3.3.16).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    /// Names but `.` and `..`.
    pub(crate) names: u32,
    /// Where the next page starts; none if there were no entries at all.
    pub(crate) cookie: Option<u64>,
    pub(crate) verifier: [u8; 8],
    pub(crate) eof: bool,
}

/// Reads them, and tells each name but `.` and `..`.
pub(crate) fn listed(results: &[u8], mut tell: impl FnMut(&[u8])) -> Option<Page> {
    let mut input = Input(results);
    Attributes::read_optional(&mut input).ok()?;
    let mut page = Page { names: 0, cookie: None, verifier: input.bytes(8)?.try_into().ok()?, eof: false };
    while input.flag()? {
        input.u64()?;
        let name = input.opaque(MAX_NAME)?;
        if name != b"." && name != b".." {
            page.names += 1;
            tell(name);
        }
        page.cookie = Some(input.u64()?);
    }
    page.eof = input.flag()?;
    Some(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::attributes;
    use nfs3_types::nfs3::{
        cookieverf3, dirlist3, entry3, nfs_fh3, nfstime3, stable_how, wcc_attr, wcc_data, writeverf3, COMMIT3resok,
        CREATE3resok, LOOKUP3resok, Nfs3Option, READDIR3resok, WRITE3resok,
    };
    use nfs3_types::xdr_codec::{List, Opaque, Pack};

    fn packed(value: &impl Pack) -> Vec<u8> {
        let mut out = Vec::new();
        value.pack(&mut out).unwrap();
        out
    }

    /// With and without each part that a server may leave out.
    fn wccs() -> [wcc_data; 4] {
        let time = nfstime3 { seconds: 1, nseconds: 2 };
        let before = || Nfs3Option::Some(wcc_attr { size: 1, mtime: time, ctime: time });
        let after = || Nfs3Option::Some(attributes(5));
        [
            wcc_data::default(),
            wcc_data { before: before(), after: Nfs3Option::None },
            wcc_data { before: Nfs3Option::None, after: after() },
            wcc_data { before: before(), after: after() },
        ]
    }

    /// A reply that is cut short is refused at every length.
    fn whole_or_none<T: std::fmt::Debug + PartialEq>(bytes: &[u8], read: impl Fn(&[u8]) -> Option<T>) -> T {
        assert!((0..bytes.len()).all(|length| read(&bytes[..length]).is_none()));
        read(bytes).unwrap()
    }

    #[test]
    fn writes_and_commits_are_read() {
        for file_wcc in wccs() {
            let verf = writeverf3(*b"abcdefgh");
            let bytes = packed(&WRITE3resok { file_wcc, count: 9, committed: stable_how::DATA_SYNC, verf });
            assert_eq!(whole_or_none(&bytes, written), Written { count: 9, committed: 1, verifier: *b"abcdefgh" });
        }
        for file_wcc in wccs() {
            let bytes = packed(&COMMIT3resok { file_wcc, verf: writeverf3(*b"12345678") });
            assert_eq!(whole_or_none(&bytes, committed), *b"12345678");
        }
    }

    #[test]
    fn handles_and_attributes_are_read() {
        let handle = || nfs_fh3 { data: Opaque::owned(b"handle".to_vec()) };
        let obj_attributes = Nfs3Option::Some(attributes(77));
        let bytes = packed(&LOOKUP3resok { object: handle(), obj_attributes, dir_attributes: Nfs3Option::None });
        let found = found(&bytes).unwrap();
        let (size, file_system) = (77, 3);
        assert_eq!(found.handle, b"handle");
        assert_eq!(found.attributes, Some(Attributes { kind: REGULAR, links: 1, size, file_system }));
        let made = |obj| CREATE3resok { obj, obj_attributes: Nfs3Option::None, dir_wcc: wcc_data::default() };
        assert_eq!(created(&packed(&made(Nfs3Option::Some(handle())))), Some(&b"handle"[..]));
        assert_eq!(created(&packed(&made(Nfs3Option::None))), None);
    }

    #[test]
    fn a_listing_that_goes_round_is_noticed() {
        for (tail, cycle) in [(0_u64, 1_u64), (0, 2), (5, 7), (100, 1000)] {
            let mut rounds = Rounds::default();
            let cookie = |step: u64| if step < tail { step } else { tail + (step - tail) % cycle };
            let noticed = (0..10_000).find(|step| rounds.again(cookie(*step)));
            assert!(
                noticed.is_some_and(|step| step >= cycle && step <= 3 * (tail + cycle)),
                "{tail} {cycle}: {noticed:?}"
            );
        }
        let mut rounds = Rounds::default();
        assert!((0..100_000).all(|step| !rounds.again(step)));
    }

    /// The codec would make room for 4 GiB first.
    #[test]
    fn a_mount_is_read_within_its_bounds() {
        let with = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
        assert_eq!(mounted(&with(&[0, 4, 7, u32::MAX])), Some(Ok(&[0, 0, 0, 7][..])));
        assert_eq!(mounted(&with(&[13])), Some(Err(13)));
        assert_eq!(mounted(&with(&[0, u32::MAX, 1])), None);
        assert_eq!(mounted(&with(&[0, 65])), None);
        assert_eq!(mounted(&[]), None);
    }

    #[test]
    fn listings_are_counted() {
        let names: [&[u8]; 4] = [b".", b"..", b"f0.1", b"f0.22"];
        let entry = |(number, name): (usize, &&[u8])| entry3 {
            fileid: number as u64,
            name: (*name).to_vec().into(),
            cookie: 10 + number as u64,
        };
        let entries = List(names.iter().enumerate().map(entry).collect());
        let bytes = packed(&READDIR3resok {
            dir_attributes: Nfs3Option::Some(attributes(0)),
            cookieverf: cookieverf3(*b"verifier"),
            reply: dirlist3 { entries, eof: true },
        });
        let page = Page { names: 2, cookie: Some(13), verifier: *b"verifier", eof: true };
        assert_eq!(whole_or_none(&bytes, |results| listed(results, |_| {})), page);
    }
}
