//! Who signs in, what keys follow from it, and what is done with them: NTLMv2, signatures, encryption.

pub(crate) mod keys;
pub(crate) mod ntlm;
pub(crate) mod seal;
pub(crate) mod sign;

/// Bytes that nobody can foresee, from the kernel (getrandom(2)).
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        // Only a signal that comes before the kernel has collected enough can interrupt so short a read.
        let got = rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty());
        filled += got.unwrap_or(0);
    }
    bytes
}

/// Bytes that are written in hex.
#[cfg(test)]
pub(crate) fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits")).collect()
}

/// HMAC (RFC 2104) of several parts with a hash.
macro_rules! hmac_of {
    ($hash:ty, $key:expr, $parts:expr) => {{
        use hmac::{Hmac, KeyInit, Mac};
        let mut mac = <Hmac<$hash>>::new_from_slice($key).expect("any length is a key");
        for part in $parts {
            Mac::update(&mut mac, part);
        }
        mac.finalize().into_bytes()
    }};
}
pub(crate) use hmac_of;
