//! Encrypted messages ([MS-SMB2] sections 2.2.41 and 3.1.4.3).

use crate::wire::{put_u16, put_u32, put_u64, u32_at, u64_at, ENCRYPTED_ID, PREFIX};
use ccm::aead::{AeadInOut, KeyInit};
use ccm::consts::{U11, U16};
use ccm::Ccm;
use ring::aead::{Aad, LessSafeKey, Nonce, UnboundKey, AES_128_GCM, AES_256_GCM};

/// Bytes in front of an encrypted message.
pub(crate) const SEAL_HEADER: usize = 52;
const AT_NONCE: usize = 20;
const AT_SIZE: usize = 36;
const AT_SESSION: usize = 44;

/// How messages are encrypted; the numbers are the protocol's (section 2.2.3.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cipher {
    Aes128Ccm = 1,
    Aes128Gcm = 2,
    Aes256Gcm = 4,
}

impl Cipher {
    /// What is asked for, the best first.
    pub(crate) const OFFERED: [Cipher; 3] = [Cipher::Aes128Gcm, Cipher::Aes256Gcm, Cipher::Aes128Ccm];

    pub(crate) fn of(number: u16) -> Option<Cipher> {
        Self::OFFERED.into_iter().find(|cipher| *cipher as u16 == number)
    }

    /// Bytes of its key.
    pub(crate) fn key_bytes(self) -> usize {
        match self {
            Cipher::Aes128Ccm | Cipher::Aes128Gcm => 16,
            Cipher::Aes256Gcm => 32,
        }
    }

    /// For people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Cipher::Aes128Ccm => "AES-128-CCM",
            Cipher::Aes128Gcm => "AES-128-GCM",
            Cipher::Aes256Gcm => "AES-256-GCM",
        }
    }
}

enum Key {
    Gcm(Box<LessSafeKey>),
    Ccm(Box<Ccm<aes::Aes128, U16, U11>>),
}

impl Key {
    fn new(cipher: Cipher, key: &[u8]) -> Key {
        let gcm =
            |algorithm| Key::Gcm(Box::new(LessSafeKey::new(UnboundKey::new(algorithm, key).expect("its length"))));
        match cipher {
            Cipher::Aes128Gcm => gcm(&AES_128_GCM),
            Cipher::Aes256Gcm => gcm(&AES_256_GCM),
            Cipher::Aes128Ccm => Key::Ccm(Box::new(Ccm::new_from_slice(key).expect("its length"))),
        }
    }

    /// Encrypts in place; the tag.
    fn seal(&self, nonce: &[u8; 16], about: &[u8], data: &mut [u8]) -> [u8; 16] {
        match self {
            Key::Gcm(key) => {
                let nonce = Nonce::try_assume_unique_for_key(&nonce[..12]).expect("12 bytes");
                let tag = key.seal_in_place_separate_tag(nonce, Aad::from(about), data);
                tag.expect("a message is not too long").as_ref().try_into().expect("16 bytes")
            }
            Key::Ccm(key) => {
                let nonce: [u8; 11] = nonce[..11].try_into().expect("11 bytes");
                let tag = key.encrypt_inout_detached(&nonce.into(), about, data.into());
                tag.expect("a message is not too long").into()
            }
        }
    }

    /// Decrypts in place; false if the tag is not right.
    fn open(&self, nonce: &[u8], about: &[u8], tag: [u8; 16], data: &mut [u8]) -> bool {
        match self {
            Key::Gcm(key) => {
                let nonce = Nonce::try_assume_unique_for_key(&nonce[..12]).expect("12 bytes");
                key.open_in_place_separate_tag(nonce, Aad::from(about), tag.into(), data, 0..).is_ok()
            }
            Key::Ccm(key) => {
                let nonce: [u8; 11] = nonce[..11].try_into().expect("11 bytes");
                key.decrypt_inout_detached(&nonce.into(), about, data.into(), &tag.into()).is_ok()
            }
        }
    }
}

/// Encrypts what goes and decrypts what comes.
pub(crate) struct Sealer {
    cipher: Cipher,
    session: u64,
    to_server: Key,
    from_server: Key,
    /// Never used twice with one key.
    number: u64,
    salt: [u8; 4],
}

impl Sealer {
    pub(crate) fn new(cipher: Cipher, session: u64, to_server: &[u8], from_server: &[u8]) -> Self {
        let (to_server, from_server) = (Key::new(cipher, to_server), Key::new(cipher, from_server));
        Sealer { cipher, session, to_server, from_server, number: 0, salt: super::random() }
    }

    pub(crate) fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// Encrypts a message; `message` starts with what TCP needs in front, and is put into `out` encrypted.
    pub(crate) fn seal(&mut self, message: &[&[u8]], out: &mut Vec<u8>) {
        self.number += 1;
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&self.number.to_le_bytes());
        // Eleven bytes are used at least.
        nonce[8..11].copy_from_slice(&self.salt[..3]);
        let length: usize = message.iter().map(|piece| piece.len()).sum();
        out.clear();
        out.reserve(PREFIX + SEAL_HEADER + length);
        out.extend_from_slice(&[0; PREFIX]);
        out.extend_from_slice(&ENCRYPTED_ID);
        out.extend_from_slice(&[0; 16]);
        out.extend_from_slice(&nonce);
        put_u32(out, length as u32);
        put_u16(out, 0);
        put_u16(out, 1);
        put_u64(out, self.session);
        for piece in message {
            out.extend_from_slice(piece);
        }
        let (head, data) = out.split_at_mut(PREFIX + SEAL_HEADER);
        let tag = self.to_server.seal(&nonce, &head[PREFIX + AT_NONCE..], data);
        head[PREFIX + 4..PREFIX + AT_NONCE].copy_from_slice(&tag);
    }

    /// Decrypts a message that has come, in place; what was in it, or none if it is not right.
    pub(crate) fn open<'a>(&self, message: &'a mut [u8]) -> Option<&'a mut [u8]> {
        if message.len() < SEAL_HEADER || message[..4] != ENCRYPTED_ID {
            return None;
        }
        let (head, data) = message.split_at_mut(SEAL_HEADER);
        let right = u32_at(head, AT_SIZE)? as usize == data.len() && u64_at(head, AT_SESSION)? == self.session;
        let tag: [u8; 16] = head[4..AT_NONCE].try_into().ok()?;
        let open = right && self.from_server.open(&head[AT_NONCE..AT_SIZE], &head[AT_NONCE..], tag, data);
        open.then_some(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_encrypted_comes_out_and_what_was_changed_does_not() {
        for cipher in Cipher::OFFERED {
            let key: Vec<u8> = (0..cipher.key_bytes() as u8).collect();
            let mut sealer = Sealer::new(cipher, 42, &key, &key);
            let mut out = Vec::new();
            sealer.seal(&[b"some", b" bytes"], &mut out);
            let mut message = out[PREFIX..].to_vec();
            assert_eq!(sealer.open(&mut message.clone()).unwrap(), b"some bytes", "{cipher:?}");
            for at in 4..message.len() {
                if (31..36).contains(&at) && cipher == Cipher::Aes128Ccm {
                    continue;
                }
                message[at] ^= 1;
                assert!(sealer.open(&mut message.clone()).is_none(), "{cipher:?} {at}");
                message[at] ^= 1;
            }
            let first = out[PREFIX + AT_NONCE..PREFIX + AT_SIZE].to_vec();
            sealer.seal(&[b"some bytes"], &mut out);
            assert_ne!(first, out[PREFIX + AT_NONCE..PREFIX + AT_SIZE], "a number is used once");
            assert_eq!(Cipher::of(cipher as u16), Some(cipher));
        }
    }

    #[test]
    fn only_a_whole_message_of_this_session_and_this_direction_comes_out() {
        for cipher in Cipher::OFFERED {
            let (ours, theirs) = (vec![1; cipher.key_bytes()], vec![2; cipher.key_bytes()]);
            let mut server = Sealer::new(cipher, 42, &theirs, &ours);
            let client = Sealer::new(cipher, 42, &ours, &theirs);
            let mut out = Vec::new();
            for length in [0, 1, 15, 16, 17, 1000] {
                server.seal(&[&vec![5; length]], &mut out);
                let message = &out[PREFIX..];
                assert_eq!(client.open(&mut message.to_vec()).unwrap(), vec![5; length], "{cipher:?} {length}");
                assert!(server.open(&mut message.to_vec()).is_none(), "its own message, sent back");
                let other = Sealer::new(cipher, 43, &ours, &theirs);
                assert!(other.open(&mut message.to_vec()).is_none(), "another session's");
                assert!(client.open(&mut [message, &[0]].concat()).is_none(), "a byte too many");
            }
            for cut in 0..out.len() - PREFIX {
                assert!(client.open(&mut out[PREFIX..PREFIX + cut].to_vec()).is_none(), "{cipher:?} {cut} bytes");
            }
        }
    }

    #[test]
    fn ciphers_that_were_not_offered_are_none() {
        let known: Vec<u16> = (0..=u16::MAX).filter(|number| Cipher::of(*number).is_some()).collect();
        assert_eq!(known, [1, 2, 4]);
    }
}
