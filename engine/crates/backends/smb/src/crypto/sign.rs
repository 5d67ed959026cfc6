//! Signatures of messages ([MS-SMB2] section 3.1.4.1).

use super::hmac_of;
use crate::wire::{u64_at, AT_FLAGS, AT_MESSAGE, AT_SIGNATURE, FLAG_SIGNED, HEADER};
use ring::aead::{Aad, LessSafeKey, Nonce, UnboundKey, AES_128_GCM};

/// How messages are signed; a number's place is that of the protocol (section 2.2.3.1.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// HMAC-SHA256, before version 3.0.
    HmacSha256,
    /// AES-128-CMAC (RFC 4493).
    AesCmac,
    /// AES-128-GMAC (NIST SP 800-38D), since version 3.1.1.
    AesGmac,
}

impl Algorithm {
    /// For people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Algorithm::HmacSha256 => "HMAC-SHA256",
            Algorithm::AesCmac => "AES-128-CMAC",
            Algorithm::AesGmac => "AES-128-GMAC",
        }
    }
}

/// Signs and checks with one key.
pub(crate) struct Signer {
    algorithm: Algorithm,
    key: [u8; 16],
    gcm: Option<LessSafeKey>,
}

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    ToServer,
    FromServer,
}

impl Signer {
    pub(crate) fn new(algorithm: Algorithm, key: &[u8]) -> Self {
        let key: [u8; 16] = key[..16].try_into().expect("a key has 16 bytes");
        let gcm = || LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).expect("a key has 16 bytes"));
        Signer { algorithm, gcm: (algorithm == Algorithm::AesGmac).then(gcm), key }
    }

    pub(crate) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Signs one request, from its header on.
    pub(crate) fn sign(&self, request: &mut [u8]) {
        request[AT_FLAGS] |= FLAG_SIGNED as u8;
        request[AT_SIGNATURE..HEADER].fill(0);
        let sum = self.sum(request, Way::ToServer);
        request[AT_SIGNATURE..HEADER].copy_from_slice(&sum);
    }

    /// Whether an answer, from its header on, is as the server has signed it.
    pub(crate) fn is_right(&self, answer: &mut [u8]) -> bool {
        if answer.len() < HEADER {
            return false;
        }
        let told: [u8; 16] = answer[AT_SIGNATURE..HEADER].try_into().expect("16 bytes");
        answer[AT_SIGNATURE..HEADER].fill(0);
        let right = self.sum(answer, Way::FromServer) == told;
        answer[AT_SIGNATURE..HEADER].copy_from_slice(&told);
        right
    }

    /// Sum over a message with an empty signature.
    fn sum(&self, message: &[u8], way: Way) -> [u8; 16] {
        match &self.gcm {
            Some(gcm) => {
                let mut nonce = [0; 12];
                let number = u64_at(message, AT_MESSAGE).unwrap_or(0);
                nonce[..8].copy_from_slice(&number.to_le_bytes());
                nonce[8] = u8::from(way == Way::FromServer);
                let nonce = Nonce::assume_unique_for_key(nonce);
                let tag = gcm.seal_in_place_separate_tag(nonce, Aad::from(message), &mut []);
                tag.expect("the message is not too long").as_ref().try_into().expect("16 bytes")
            }
            None if self.algorithm == Algorithm::HmacSha256 => {
                hmac_of!(sha2::Sha256, &self.key, [message])[..16].try_into().expect("16 bytes")
            }
            None => {
                use cmac::{Cmac, KeyInit, Mac};
                let mut mac = <Cmac<aes::Aes128>>::new_from_slice(&self.key).expect("16 bytes");
                mac.update(message);
                mac.finalize().into_bytes().into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_changed_is_found() {
        for algorithm in [Algorithm::HmacSha256, Algorithm::AesCmac, Algorithm::AesGmac] {
            let signer = Signer::new(algorithm, &[7; 16]);
            let mut message = vec![9; 200];
            message[AT_SIGNATURE..HEADER].fill(0);
            let sum = signer.sum(&message, Way::FromServer);
            message[AT_SIGNATURE..HEADER].copy_from_slice(&sum);
            assert!(signer.is_right(&mut message), "{algorithm:?}");
            for at in [0, 30, 63, 64, 199] {
                message[at] ^= 1;
                assert!(!signer.is_right(&mut message), "{algorithm:?} {at}");
                message[at] ^= 1;
            }
            assert!(!signer.is_right(&mut message[..40]));
        }
    }

    proptest! {
        #[test]
        fn a_signature_is_of_all_bytes_of_one_key_and_one_way(
            bytes in proptest::collection::vec(any::<u8>(), HEADER..300),
            at in any::<prop::sample::Index>(),
            bit in 0_u8..8,
        ) {
            for algorithm in [Algorithm::HmacSha256, Algorithm::AesCmac, Algorithm::AesGmac] {
                let (signer, other) = (Signer::new(algorithm, &[7; 16]), Signer::new(algorithm, &[8; 16]));
                let mut message = bytes.clone();
                signer.sign(&mut message);
                // Only the one with a nonce tells the ways apart.
                prop_assert_eq!(signer.is_right(&mut message), algorithm != Algorithm::AesGmac);
                message[AT_SIGNATURE..HEADER].fill(0);
                let sum = signer.sum(&message, Way::FromServer);
                message[AT_SIGNATURE..HEADER].copy_from_slice(&sum);
                let right = message.clone();
                prop_assert!(signer.is_right(&mut message) && !other.is_right(&mut message));
                prop_assert_eq!(&message, &right, "a look changes nothing");
                let at = at.index(message.len());
                message[at] ^= 1 << bit;
                prop_assert!(!signer.is_right(&mut message), "{:?}: bit {} of byte {}", algorithm, bit, at);
            }
        }
    }
}
