//! NTLM version 2 ([MS-NLMP]): a user shows that he knows a password without telling it. Its messages are sent as they
//! are, which servers take since version 2 of SMB, as Linux's own client does it.

use super::{hmac_of, random};
use crate::credentials::Credentials;
use crate::wire::{part, put_text, put_u16, put_u32, put_u64, text_bytes, u16_at, u32_at, u64_at};
use assay_core::clock;
use md4::{Digest, Md4};
use md5::Md5;

const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";

/// What is wanted of each other ([MS-NLMP] section 2.2.2.5): Unicode, target's name, signatures, NTLM, always sign,
/// extended session security, target's description, 128 and 56 bits.
const FLAGS: u32 = 0x1 | 0x4 | 0x10 | 0x200 | 0x8000 | 0x8_0000 | 0x80_0000 | 0x2000_0000 | 0x8000_0000;

/// Entries of a target's description ([MS-NLMP] section 2.2.2.1).
const AV_END: u16 = 0;
const AV_FLAGS: u16 = 6;
const AV_TIME: u16 = 7;
/// Value of the flags: the last message has a sum over all three.
const WITH_SUM: u32 = 2;

/// Where the sum is in the last message, and where what it speaks of begins.
const AT_SUM: usize = 72;
const AT_PAYLOAD: usize = 88;

/// Seconds from 1601 to 1970, in which Windows counts.
const EPOCH_SECONDS: u64 = 11_644_473_600;

/// The first message ([MS-NLMP] section 2.2.1.1).
pub(crate) fn negotiate() -> Vec<u8> {
    let mut out = SIGNATURE.to_vec();
    put_u32(&mut out, 1);
    put_u32(&mut out, FLAGS);
    // Neither domain nor workstation is named.
    out.resize(out.len() + 16, 0);
    out
}

/// What the server has answered ([MS-NLMP] section 2.2.1.2).
pub(crate) struct Challenge<'a> {
    flags: u32,
    nonce: &'a [u8],
    /// Its description of itself.
    target: &'a [u8],
}

impl<'a> Challenge<'a> {
    pub(crate) fn read(message: &'a [u8]) -> Option<Self> {
        let right = message.starts_with(SIGNATURE) && u32_at(message, 8)? == 2;
        let length = u16_at(message, 40)? as usize;
        let target = part(message, u32_at(message, 44)? as usize, length)?;
        right.then_some(Challenge { flags: u32_at(message, 20)?, nonce: part(message, 24, 8)?, target })
    }
}

/// The description's entries, without the last one, and the time among them.
fn entries(target: &[u8]) -> (&[u8], Option<u64>) {
    let (mut at, mut time) = (0, None);
    while let (Some(kind), Some(length)) = (u16_at(target, at), u16_at(target, at + 2)) {
        let end = at + 4 + length as usize;
        if kind == AV_END || end > target.len() {
            break;
        }
        if kind == AV_TIME {
            time = u64_at(target, at + 4);
        }
        at = end;
    }
    (&target[..at], time)
}

/// Key of a user ([MS-NLMP] section 3.3.2, NTOWFv2).
fn user_key(credentials: &Credentials) -> [u8; 16] {
    let mut password = Vec::new();
    put_text(&mut password, &credentials.password);
    let hash = Md4::digest(&password);
    let mut name = Vec::new();
    put_text(&mut name, &(credentials.user.to_uppercase() + &credentials.domain));
    hmac_of!(Md5, &hash, [&name]).into()
}

/// The answer to a challenge, and the key of the session ([MS-NLMP] section 3.3.2).
fn answer(key: &[u8; 16], challenge: &[u8], time: u64, nonce: [u8; 8], target: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let mut about = vec![1, 1, 0, 0, 0, 0, 0, 0];
    put_u64(&mut about, time);
    about.extend_from_slice(&nonce);
    put_u32(&mut about, 0);
    about.extend_from_slice(target);
    put_u32(&mut about, 0);
    let proof: [u8; 16] = hmac_of!(Md5, key, [challenge, &about]).into();
    let session: [u8; 16] = hmac_of!(Md5, key, [&proof]).into();
    ([&proof[..], &about].concat(), session)
}

/// The last message ([MS-NLMP] section 2.2.1.3), and the key of the session; none if the server's answer is none.
pub(crate) fn authenticate(credentials: &Credentials, first: &[u8], second: &[u8]) -> Option<(Vec<u8>, [u8; 16])> {
    let challenge = Challenge::read(second)?;
    let (known, time) = entries(challenge.target);
    let mut target = known.to_vec();
    if time.is_some() {
        put_u16(&mut target, AV_FLAGS);
        put_u16(&mut target, 4);
        put_u32(&mut target, WITH_SUM);
    }
    put_u32(&mut target, u32::from(AV_END));
    let now = clock::wall() / 100 + EPOCH_SECONDS * 10_000_000;
    let key = user_key(credentials);
    let (proof, session) = answer(&key, challenge.nonce, time.unwrap_or(now), random(), &target);
    let mut out = third(credentials, &proof, challenge.flags & FLAGS);
    if time.is_some() {
        let sum: [u8; 16] = hmac_of!(Md5, &session, [first, second, &out]).into();
        out[AT_SUM..AT_PAYLOAD].copy_from_slice(&sum);
    }
    Some((out, session))
}

/// The last message without its sum.
fn third(credentials: &Credentials, proof: &[u8], flags: u32) -> Vec<u8> {
    let mut out = SIGNATURE.to_vec();
    put_u32(&mut out, 3);
    let lengths = [24, proof.len() as u16, text_bytes(&credentials.domain), text_bytes(&credentials.user), 0, 0];
    let mut at = AT_PAYLOAD as u32;
    for length in lengths {
        put_u16(&mut out, length);
        put_u16(&mut out, length);
        put_u32(&mut out, at);
        at += u32::from(length);
    }
    put_u32(&mut out, flags);
    out.resize(AT_PAYLOAD, 0);
    // Of the old way there is nothing to tell.
    out.resize(AT_PAYLOAD + 24, 0);
    out.extend_from_slice(proof);
    put_text(&mut out, &credentials.domain);
    put_text(&mut out, &credentials.user);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::from_hex;
    use proptest::prelude::*;

    fn user() -> Credentials {
        Credentials::known("User", "Password", "Domain")
    }

    /// The values of [MS-NLMP] section 4.2.4.
    #[test]
    fn the_published_example_comes_out() {
        let key = user_key(&user());
        assert_eq!(key[..], from_hex("0c868a403bfd7a93a3001ef22ef02e3f"));
        let mut target = Vec::new();
        for (kind, text) in [(2, "Domain"), (1, "Server")] {
            put_u16(&mut target, kind);
            put_u16(&mut target, text_bytes(text));
            put_text(&mut target, text);
        }
        put_u32(&mut target, 0);
        let challenge = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
        let (proof, session) = answer(&key, &challenge, 0, [0xaa; 8], &target);
        assert_eq!(proof[..16], from_hex("68cd0ab851e51c96aabc927bebef6a1c"));
        assert_eq!(session[..], from_hex("8de40ccadbc14a82f15cb0ad0de95ca3"));
    }

    #[test]
    fn a_challenge_that_is_none_is_refused() {
        for length in 0..64 {
            assert!(authenticate(&user(), &negotiate(), &vec![0; length]).is_none());
        }
        let mut told = SIGNATURE.to_vec();
        put_u32(&mut told, 2);
        told.resize(56, 0xff);
        assert!(authenticate(&user(), &negotiate(), &told).is_none(), "its description would lie outside");
    }

    /// A server's answer with this description of itself.
    fn challenge(target: &[u8]) -> Vec<u8> {
        let mut out = SIGNATURE.to_vec();
        put_u32(&mut out, 2);
        out.resize(20, 0);
        put_u32(&mut out, FLAGS);
        out.extend([3; 8]);
        out.resize(40, 0);
        put_u16(&mut out, target.len() as u16);
        put_u16(&mut out, target.len() as u16);
        put_u32(&mut out, 48);
        out.extend_from_slice(target);
        out
    }

    proptest! {
        #[test]
        fn a_description_is_read_to_its_end_or_to_where_it_is_wrong(
            values in proptest::collection::vec((1_u16..6, proptest::collection::vec(any::<u8>(), 0..12)), 0..5),
            time in proptest::option::of(any::<u64>()),
            cut in any::<prop::sample::Index>(),
        ) {
            let (mut target, mut ends) = (Vec::new(), vec![0]);
            let time_value = time.map(|time| (AV_TIME, time.to_le_bytes().to_vec()));
            for (kind, value) in values.into_iter().chain(time_value) {
                put_u16(&mut target, kind);
                put_u16(&mut target, value.len() as u16);
                target.extend(value);
                ends.push(target.len());
            }
            let known = target.len();
            put_u32(&mut target, 0);
            target.extend([AV_TIME as u8, 0, 8, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
            prop_assert_eq!(entries(&target), (&target[..known], time), "nothing behind the end counts");
            let cut = cut.index(known + 1);
            let end = ends.iter().rfind(|end| **end <= cut).unwrap();
            prop_assert_eq!(entries(&target[..cut]).0, &target[..*end]);
        }

        #[test]
        fn the_last_message_says_where_its_parts_are(target in proptest::collection::vec(any::<u8>(), 0..200)) {
            let second = challenge(&target);
            let (message, _) = authenticate(&user(), &negotiate(), &second).unwrap();
            let field = |number: usize| {
                let at = 12 + 8 * number;
                part(&message, u32_at(&message, at + 4).unwrap() as usize, u16_at(&message, at).unwrap() as usize).unwrap()
            };
            prop_assert_eq!(crate::messages::text(field(2)), "Domain");
            prop_assert_eq!(crate::messages::text(field(3)), "User");
            prop_assert_eq!(field(0), &[0; 24]);
            let about = field(1);
            prop_assert!(about[16 + 28..].starts_with(entries(&target).0));
            let summed = message[AT_SUM..AT_PAYLOAD].iter().any(|byte| *byte != 0);
            prop_assert_eq!(summed, entries(&target).1.is_some());
            prop_assert!(authenticate(&user(), &negotiate(), &second[..second.len() - usize::from(!target.is_empty())])
                .is_none() || target.is_empty());
        }
    }
}
