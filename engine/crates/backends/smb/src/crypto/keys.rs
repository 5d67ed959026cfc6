//! Keys that follow from the one of the session, and the sum over what was said until then ([MS-SMB2] sections 3.1.4.2 and
//! 3.2.5.3).

use super::hmac_of;
use assay_spec::SmbVersion;
use sha2::{Digest, Sha512};

/// Sum over the messages of a negotiation, in their order (section 3.2.5.2): whoever has changed one on the way gets other
/// keys.
#[derive(Clone)]
pub(crate) struct Preauth([u8; 64]);

impl Preauth {
    pub(crate) fn new() -> Self {
        Preauth([0; 64])
    }

    /// Adds a message, without what TCP needs in front.
    pub(crate) fn add(&mut self, message: &[u8]) {
        let mut hash = Sha512::new();
        hash.update(self.0);
        hash.update(message);
        self.0.copy_from_slice(&hash.finalize());
    }
}

/// Counter mode of NIST SP 800-108 with HMAC-SHA256, of which `length` bytes are taken, at most 32.
fn derive(key: &[u8], label: &[u8], context: &[u8], length: usize) -> Vec<u8> {
    let bits = (length as u32 * 8).to_be_bytes();
    let made = hmac_of!(sha2::Sha256, key, [&1_u32.to_be_bytes()[..], label, &[0], context, &bits]);
    made[..length].to_vec()
}

/// What a key is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Sign,
    /// Encrypt what goes to the server.
    ToServer,
    /// Encrypt what comes from it.
    FromServer,
}

/// The key for a purpose, of `length` bytes.
pub(crate) fn key(session: &[u8], version: SmbVersion, preauth: &Preauth, purpose: Purpose, length: usize) -> Vec<u8> {
    if version < SmbVersion::V3_0 {
        return session.to_vec();
    }
    if version == SmbVersion::V3_1_1 {
        let label: &[u8] = match purpose {
            Purpose::Sign => b"SMBSigningKey\0",
            Purpose::ToServer => b"SMBC2SCipherKey\0",
            Purpose::FromServer => b"SMBS2CCipherKey\0",
        };
        return derive(session, label, &preauth.0, length);
    }
    let (label, context): (&[u8], &[u8]) = match purpose {
        Purpose::Sign => (b"SMB2AESCMAC\0", b"SmbSign\0"),
        Purpose::ToServer => (b"SMB2AESCCM\0", b"ServerIn \0"),
        Purpose::FromServer => (b"SMB2AESCCM\0", b"ServerOut\0"),
    };
    derive(session, label, context, length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::from_hex as bytes;

    /// The values of Microsoft's own example, "SMB 2 and SMB 3 security in Windows 10: the anatomy of signing and
    /// cryptographic keys".
    #[test]
    fn keys_are_those_of_the_published_example() {
        let session = bytes("7CD451825D0450D235424E44BA6E78CC");
        let key = |purpose| key(&session, SmbVersion::V3_0, &Preauth::new(), purpose, 16);
        assert_eq!(key(Purpose::Sign), bytes("0B7E9C5CAC36C0F6EA9AB275298CEDCE"));
        assert_ne!(key(Purpose::ToServer), key(Purpose::FromServer));
    }

    #[test]
    fn every_version_purpose_and_negotiation_has_keys_of_its_own() {
        let (mut one, mut other) = (Preauth::new(), Preauth::new());
        for message in [b"first", b"later"] {
            one.add(message);
        }
        // They end alike: what was said before counts, too.
        for message in [b"other", b"later"] {
            other.add(message);
        }
        let purposes = [Purpose::Sign, Purpose::ToServer, Purpose::FromServer];
        let mut all = Vec::new();
        for (version, preauth) in [(SmbVersion::V3_0, &one), (SmbVersion::V3_1_1, &one), (SmbVersion::V3_1_1, &other)] {
            all.extend(purposes.map(|purpose| key(&[9; 16], version, preauth, purpose, 16)));
            assert_eq!(key(&[9; 16], version, preauth, Purpose::ToServer, 32).len(), 32);
        }
        let different: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len(), "{all:?}");
        let old = |purpose| key(&[9; 16], SmbVersion::V2_1, &one, purpose, 16);
        assert!(purposes.into_iter().all(|purpose| old(purpose) == [9; 16]), "before 3.0 there is one key");
    }
}
