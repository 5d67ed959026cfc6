//! Makes a session: what both sides can do, who asks, and which share ([MS-SMB2] sections 3.2.4.2 and 3.2.5.2 to 3.2.5.5).

use crate::credentials::Credentials;
use crate::crypto::keys::{key, Preauth, Purpose};
use crate::crypto::seal::{Cipher, Sealer};
use crate::crypto::sign::{Algorithm, Signer};
use crate::crypto::{ntlm, random};
use crate::link::{Link, Shared};
use crate::status::{answered, GARBAGE, MORE_PROCESSING, SUCCESS};
use crate::wire::{
    part, put_text, put_u16, put_u32, put_u64, set_u32, text_bytes, u16_at, u32_at, Chain, Command, Header, HEADER,
    PREFIX,
};
use assay_core::Fault;
use assay_spec::{SmbTarget, SmbVersion};
use std::net::SocketAddr;

const VERSIONS: [(SmbVersion, u16); 4] = [
    (SmbVersion::V2_1, 0x0210),
    (SmbVersion::V3_0, 0x0300),
    (SmbVersion::V3_0_2, 0x0302),
    (SmbVersion::V3_1_1, 0x0311),
];

/// Security modes (section 2.2.3).
const CAN_SIGN: u16 = 1;
const MUST_SIGN: u16 = 2;

/// Capabilities (section 2.2.3).
const LARGE_MTU: u32 = 0x4;
const MULTI_CHANNEL: u32 = 0x8;
const ENCRYPTION: u32 = 0x40;

/// Kinds of contexts of a negotiation (section 2.2.3.1).
const PREAUTH_CONTEXT: u16 = 1;
const ENCRYPTION_CONTEXT: u16 = 2;
const SIGNING_CONTEXT: u16 = 8;
/// SHA-512.
const PREAUTH_HASH: u16 = 1;

/// Flags of a session (section 2.2.6): of a guest or nobody; encrypted.
const GUEST_OR_ANONYMOUS: u16 = 0x3;
const SESSION_ENCRYPTED: u16 = 0x4;
/// Flag of a share (section 2.2.10).
const SHARE_ENCRYPTED: u32 = 0x8000;
/// Flag of a request that adds a connection to a session (section 2.2.5).
const BINDING: u8 = 1;
/// Kind of a share that holds files (section 2.2.10).
const DISK: u8 = 1;

/// Least bytes of a READ or WRITE that a server must take (section 3.3.5.4).
const MIN_SIZE: u32 = 64 << 10;

/// Why there is no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The server is not there, or the connection was lost.
    Unreachable(i32),
    /// It has refused; what was asked for.
    Refused(&'static str, Fault),
    /// It cannot do what was asked for.
    Unable(&'static str),
}

impl From<i32> for Refusal {
    fn from(errno: i32) -> Self {
        Refusal::Unreachable(errno)
    }
}

/// Where a share is, and who asks.
pub(crate) struct Peer {
    pub(crate) target: SmbTarget,
    /// The server, as in the job.
    pub(crate) server: String,
    pub(crate) address: SocketAddr,
    pub(crate) share: String,
    pub(crate) credentials: Credentials,
}

impl Peer {
    /// The share, for people.
    pub(crate) fn shown(&self) -> String {
        format!("//{}/{}", self.server, self.share)
    }
}

/// What was agreed on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Agreed {
    pub(crate) version: SmbVersion,
    /// Most bytes of a READ and of a WRITE.
    pub(crate) read_limit: u32,
    pub(crate) write_limit: u32,
    algorithm: Algorithm,
    cipher: Option<Cipher>,
    must_sign: bool,
    large: bool,
    several: bool,
}

impl Agreed {
    /// What the server can do and wants, for people.
    pub(crate) fn server(&self) -> String {
        let word = |yes| if yes { "yes" } else { "no" };
        format!(
            "of the server: READ of {} and WRITE of {} bytes at most, more than 64 KiB at once: {}, signing required: {}, \
             encryption: {}, multichannel: {}",
            self.read_limit,
            self.write_limit,
            word(self.large),
            word(self.must_sign),
            self.cipher.map_or("none", Cipher::name),
            word(self.several)
        )
    }
}

/// A session at a share.
pub(crate) struct Session {
    pub(crate) agreed: Agreed,
    pub(crate) shared: Shared,
    pub(crate) links: Vec<Link>,
    /// Its guest or nobody: the server did not know the user.
    pub(crate) guest: bool,
}

impl Session {
    /// How messages are protected, for people.
    pub(crate) fn protection(&self) -> String {
        match (&self.shared.sealer, &self.links[0].signer) {
            (Some(sealer), _) => format!("encrypted with {}", sealer.cipher().name()),
            (None, Some(signer)) if self.shared.signing => format!("signed with {}", signer.algorithm().name()),
            _ => "neither signed nor encrypted".to_owned(),
        }
    }
}

/// One connection that is not yet, or no more, part of a session.
struct Opening<'a> {
    peer: &'a Peer,
    guid: [u8; 16],
    link: Link,
    preauth: Preauth,
    until: u64,
}

/// An answer to a request that is not measured.
struct Answer {
    header: Header,
    bytes: Vec<u8>,
}

impl Answer {
    /// The bytes that two numbers of the body point to.
    fn security(&self, at: usize) -> Option<&[u8]> {
        let place = u16_at(&self.bytes, HEADER + at)? as usize;
        part(&self.bytes, place, u16_at(&self.bytes, HEADER + at + 2)? as usize)
    }
}

/// Makes a session with a share.
pub(crate) fn open(peer: &Peer, until: u64) -> Result<Session, Refusal> {
    let guid = random();
    let (mut first, agreed) = Opening::negotiated(peer, guid, until)?;
    let (id, flags, keys) = first.sign_in(&agreed, None)?;
    let guest = flags & GUEST_OR_ANONYMOUS != 0;
    if guest && (agreed.must_sign || peer.target.signing || peer.target.encryption) {
        return Err(Refusal::Unable(
            "the server takes this user for a guest, whose messages cannot be signed or encrypted",
        ));
    }
    let signing = !guest && (agreed.must_sign || peer.target.signing);
    let mut shared = Shared { session: id, tree: 0, sealer: None, signing, large: agreed.large };
    let preauth = first.preauth.clone();
    let sealer = || sealer(&agreed, id, &keys, &preauth);
    if peer.target.encryption || flags & SESSION_ENCRYPTED != 0 {
        shared.sealer = Some(sealer()?);
    }
    if first.connect_tree(&agreed, &mut shared, guest)? {
        shared.sealer = Some(sealer()?);
    }
    let mut links = vec![first.link];
    if peer.target.channels > 1 && !agreed.several {
        return Err(Refusal::Unable("the server has no multichannel: set `channels` to 1"));
    }
    for _ in 1..peer.target.channels {
        let (mut next, _) = Opening::negotiated(peer, guid, until)?;
        let main = links[0].signer.as_ref();
        next.sign_in(&agreed, Some((id, main)))?;
        links.push(next.link);
    }
    Ok(Session { agreed, shared, links, guest })
}

fn sealer(agreed: &Agreed, id: u64, keys: &[u8; 16], preauth: &Preauth) -> Result<Sealer, Refusal> {
    let cipher = agreed.cipher.ok_or(Refusal::Unable("the server cannot encrypt: set `encryption` to false"))?;
    let made = |purpose| key(keys, agreed.version, preauth, purpose, cipher.key_bytes());
    Ok(Sealer::new(cipher, id, &made(Purpose::ToServer), &made(Purpose::FromServer)))
}

impl<'a> Opening<'a> {
    /// A new connection on which both sides have said what they can do.
    fn negotiated(peer: &'a Peer, guid: [u8; 16], until: u64) -> Result<(Self, Agreed), Refusal> {
        let link = Link::dial(&peer.address, until)?;
        let mut opening = Opening { peer, guid, link, preauth: Preauth::new(), until };
        let agreed = opening.negotiate()?;
        Ok((opening, agreed))
    }

    /// Sends a request and waits for the answer. Until somebody has signed in, both count for the keys.
    fn request(
        &mut self,
        command: Command,
        shared: &mut Shared,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Answer, Refusal> {
        let mut head = Vec::new();
        Chain::new(&mut head).add(command, fill);
        self.link.number(&mut head[PREFIX..], 1, shared);
        self.link.protect(&mut head, &[], shared);
        let counts = matches!(command, Command::Negotiate | Command::SessionSetup);
        if counts {
            self.preauth.add(&head[PREFIX..]);
        }
        let mut bytes = self.link.exchange(&mut head, self.until)?;
        if let Some(sealer) = &shared.sealer {
            bytes = sealer.open(&mut bytes).ok_or(libc::EBADMSG)?.to_vec();
        }
        let header = Header::read(&bytes).ok_or(libc::EBADMSG)?;
        let signer = self.link.signer.as_ref().filter(|_| header.is_signed());
        if signer.is_some_and(|signer| !signer.is_right(&mut bytes)) {
            return Err(Refusal::Unreachable(libc::EBADMSG));
        }
        // The last answer, with which a key is there, does not count for it.
        if counts && (command == Command::Negotiate || header.status == MORE_PROCESSING) {
            self.preauth.add(&bytes);
        }
        Ok(Answer { header, bytes })
    }

    fn negotiate(&mut self) -> Result<Agreed, Refusal> {
        let target = &self.peer.target;
        let (version, guid) = (target.version, self.guid);
        let mode = if target.signing { CAN_SIGN | MUST_SIGN } else { CAN_SIGN };
        let salt: [u8; 32] = random();
        let answer =
            self.request(Command::Negotiate, &mut no_session(), |out| put_negotiate(out, version, mode, &guid, &salt))?;
        if answer.header.status != SUCCESS {
            return Err(Refusal::Refused("version", answered(answer.header.status)));
        }
        read_agreed(&answer.bytes, version).unwrap_or(Err(Refusal::Refused("version", GARBAGE)))
    }

    /// Signs in, or adds this connection to a session, whose number and signer are given; the session's number, its
    /// flags, and its key.
    fn sign_in(
        &mut self,
        agreed: &Agreed,
        session: Option<(u64, Option<&Signer>)>,
    ) -> Result<(u64, u16, [u8; 16]), Refusal> {
        let refused = |fault| Refusal::Refused("user", fault);
        let mut shared = no_session();
        shared.session = session.map_or(0, |(id, _)| id);
        let binding = session.is_some();
        let first = ntlm::negotiate();
        let second = self.set_up(&mut shared, session.and_then(|(_, signer)| signer), binding, &first)?;
        if second.header.status != MORE_PROCESSING {
            return Err(refused(answered(second.header.status)));
        }
        let challenge = second.security(4).ok_or(refused(GARBAGE))?;
        shared.session = second.header.session;
        let told = ntlm::authenticate(&self.peer.credentials, &first, challenge);
        let (third, keys) = told.ok_or(refused(GARBAGE))?;
        let mut last = self.set_up(&mut shared, session.and_then(|(_, signer)| signer), binding, &third)?;
        if last.header.status != SUCCESS {
            return Err(refused(answered(last.header.status)));
        }
        let flags = u16_at(&last.bytes, HEADER + 2).ok_or(refused(GARBAGE))?;
        if flags & GUEST_OR_ANONYMOUS == 0 {
            let made = key(&keys, agreed.version, &self.preauth, Purpose::Sign, 16);
            let signer = Signer::new(agreed.algorithm, &made);
            if last.header.is_signed() && !signer.is_right(&mut last.bytes) {
                return Err(refused(GARBAGE));
            }
            self.link.signer = Some(signer);
        }
        Ok((last.header.session, flags, keys))
    }

    /// One SESSION_SETUP (section 2.2.5); signed with the session's key if it adds a connection.
    fn set_up(
        &mut self,
        shared: &mut Shared,
        signer: Option<&Signer>,
        binding: bool,
        token: &[u8],
    ) -> Result<Answer, Refusal> {
        let fill = |out: &mut Vec<u8>| {
            put_u16(out, 25);
            out.push(if binding { BINDING } else { 0 });
            out.push(CAN_SIGN as u8);
            put_u32(out, 0);
            put_u32(out, 0);
            put_u16(out, (HEADER + 24) as u16);
            put_u16(out, token.len() as u16);
            put_u64(out, 0);
            out.extend_from_slice(token);
        };
        let Some(signer) = signer.filter(|_| binding) else {
            return self.request(Command::SessionSetup, shared, fill);
        };
        let mut head = Vec::new();
        Chain::new(&mut head).add(Command::SessionSetup, fill);
        self.link.number(&mut head[PREFIX..], 1, shared);
        signer.sign(&mut head[PREFIX..]);
        self.preauth.add(&head[PREFIX..]);
        let bytes = self.link.exchange(&mut head, self.until)?;
        let header = Header::read(&bytes).ok_or(libc::EBADMSG)?;
        if header.status == MORE_PROCESSING {
            self.preauth.add(&bytes);
        }
        Ok(Answer { header, bytes })
    }

    /// TREE_CONNECT (section 2.2.9); whether the share wants everything encrypted.
    fn connect_tree(&mut self, agreed: &Agreed, shared: &mut Shared, guest: bool) -> Result<bool, Refusal> {
        let refused = |fault| Refusal::Refused("share", fault);
        let path = format!("\\\\{}\\{}", host(&self.peer.server), self.peer.share);
        let signing = shared.signing;
        // Since version 3.1.1 this request is signed in any case (section 3.2.4.2.4).
        shared.signing = signing || !guest && agreed.version == SmbVersion::V3_1_1;
        let answer = self.request(Command::TreeConnect, shared, |out| {
            put_u16(out, 9);
            put_u16(out, 0);
            put_u16(out, (HEADER + 8) as u16);
            put_u16(out, text_bytes(&path));
            put_text(out, &path);
        });
        shared.signing = signing;
        let answer = answer?;
        if answer.header.status != SUCCESS {
            return Err(refused(answered(answer.header.status)));
        }
        if answer.bytes.get(HEADER + 2) != Some(&DISK) {
            return Err(Refusal::Unable("the share holds no files: it is a printer or a pipe"));
        }
        shared.tree = answer.header.tree;
        let flags = u32_at(&answer.bytes, HEADER + 4).ok_or(refused(GARBAGE))?;
        Ok(shared.sealer.is_none() && flags & SHARE_ENCRYPTED != 0)
    }
}

/// Before anybody has signed in.
fn no_session() -> Shared {
    Shared { session: 0, tree: 0, sealer: None, signing: false, large: true }
}

/// The host of `HOST:PORT`, as a share's path names it.
fn host(server: &str) -> &str {
    match server.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None if server.matches(':').count() == 1 => server.split(':').next().unwrap_or(server),
        None => server,
    }
}

/// NEGOTIATE (section 2.2.3).
fn put_negotiate(out: &mut Vec<u8>, newest: SmbVersion, mode: u16, guid: &[u8; 16], salt: &[u8; 32]) {
    let start = out.len();
    let versions: Vec<u16> = VERSIONS.iter().filter(|(version, _)| *version <= newest).map(|(_, word)| *word).collect();
    put_u16(out, 36);
    put_u16(out, versions.len() as u16);
    put_u16(out, mode);
    put_u16(out, 0);
    put_u32(out, if newest >= SmbVersion::V3_0 { LARGE_MTU | MULTI_CHANNEL | ENCRYPTION } else { LARGE_MTU });
    out.extend_from_slice(guid);
    put_u64(out, 0);
    for word in &versions {
        put_u16(out, *word);
    }
    if newest < SmbVersion::V3_1_1 {
        return;
    }
    out.resize(start + (out.len() - start).next_multiple_of(8), 0);
    let at = (HEADER + out.len() - start) as u32;
    set_u32(out, start + 28, at);
    out[start + 32] = 3;
    let hash = [&[1, 0, 32, 0][..], &PREAUTH_HASH.to_le_bytes(), salt].concat();
    put_context(out, start, PREAUTH_CONTEXT, &hash);
    put_context(out, start, ENCRYPTION_CONTEXT, &list(&Cipher::OFFERED.map(|cipher| cipher as u16)));
    let algorithms = [Algorithm::AesGmac, Algorithm::AesCmac, Algorithm::HmacSha256];
    put_context(out, start, SIGNING_CONTEXT, &list(&algorithms.map(|algorithm| algorithm as u16)));
}

/// A number of numbers.
fn list(numbers: &[u16]) -> Vec<u8> {
    let mut out = Vec::new();
    put_u16(&mut out, numbers.len() as u16);
    for number in numbers {
        put_u16(&mut out, *number);
    }
    out
}

/// A context of a negotiation (section 2.2.3.1).
fn put_context(out: &mut Vec<u8>, start: usize, kind: u16, data: &[u8]) {
    out.resize(start + (out.len() - start).next_multiple_of(8), 0);
    put_u16(out, kind);
    put_u16(out, data.len() as u16);
    put_u32(out, 0);
    out.extend_from_slice(data);
}

/// What an answer to NEGOTIATE says (section 2.2.4); none if it is not one.
fn read_agreed(answer: &[u8], newest: SmbVersion) -> Option<Result<Agreed, Refusal>> {
    let body = answer.get(HEADER..)?;
    let word = u16_at(body, 4)?;
    let version = VERSIONS.iter().find(|(version, known)| *known == word && *version <= newest);
    let Some((version, _)) = version else {
        return Some(Err(Refusal::Unable("the server speaks no version from 2.1 to the one that is allowed")));
    };
    let able = u32_at(body, 24)?;
    let large = able & LARGE_MTU != 0;
    let limit = |told: u32| if large { told.max(MIN_SIZE) } else { told.min(MIN_SIZE) };
    let algorithm = if *version < SmbVersion::V3_0 { Algorithm::HmacSha256 } else { Algorithm::AesCmac };
    let old = *version < SmbVersion::V3_1_1;
    let mut agreed = Agreed {
        version: *version,
        read_limit: limit(u32_at(body, 32)?),
        write_limit: limit(u32_at(body, 36)?),
        algorithm,
        cipher: (old && able & ENCRYPTION != 0).then_some(Cipher::Aes128Ccm),
        must_sign: u16_at(body, 2)? & MUST_SIGN != 0,
        large,
        several: able & MULTI_CHANNEL != 0,
    };
    if !old {
        read_contexts(answer, &mut agreed)?;
    }
    Some(Ok(agreed))
}

fn read_contexts(answer: &[u8], agreed: &mut Agreed) -> Option<()> {
    let mut at = u32_at(answer, HEADER + 60)? as usize;
    for _ in 0..u16_at(answer, HEADER + 6)? {
        let length = u16_at(answer, at + 2)? as usize;
        let data = part(answer, at + 8, length)?;
        match u16_at(answer, at)? {
            ENCRYPTION_CONTEXT => agreed.cipher = Cipher::of(u16_at(data, 2)?),
            SIGNING_CONTEXT => {
                let known = [Algorithm::HmacSha256, Algorithm::AesCmac, Algorithm::AesGmac];
                let told = u16_at(data, 2)?;
                agreed.algorithm = known.into_iter().find(|algorithm| *algorithm as u16 == told)?;
            }
            _ => {}
        }
        at += 8 + length.next_multiple_of(8);
    }
    Some(())
}

/// Reads bytes as an answer to NEGOTIATE of each version.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn read_anything(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    for (version, word) in VERSIONS {
        if bytes.len() > HEADER + 6 {
            bytes[HEADER + 4..HEADER + 6].copy_from_slice(&word.to_le_bytes());
        }
        let _ = read_agreed(&bytes, version);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hosts_are_named_without_their_port() {
        for (server, name) in
            [("nas", "nas"), ("nas:4450", "nas"), ("[fe80::1]:445", "fe80::1"), ("fe80::1", "fe80::1")]
        {
            assert_eq!(host(server), name);
        }
    }

    #[test]
    fn what_is_offered_ends_with_the_version_that_is_allowed() {
        for (place, (version, _)) in VERSIONS.iter().enumerate() {
            let mut out = Vec::new();
            put_negotiate(&mut out, *version, CAN_SIGN, &[0; 16], &[0; 32]);
            assert_eq!(u16_at(&out, 2), Some(place as u16 + 1));
        }
    }

    proptest! {
        #[test]
        fn whatever_a_server_says_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            read_anything(&bytes);
        }
    }
}
