//! Checksums of contents, and the headers that carry them.

use assay_spec::Checksum;
use base64::prelude::{Engine as _, BASE64_STANDARD};
use crc_fast::{CrcAlgorithm, Digest as Crc};
use md5::Md5;
use sha2::{Digest as _, Sha256};

/// A checksum that is being computed.
pub(crate) enum RunningChecksum {
    Md5(Md5),
    Crc(Checksum, Crc),
    Sha256(Sha256),
}

impl RunningChecksum {
    /// The checksum of no bytes yet; none if the target wants none.
    pub(crate) fn new(kind: Checksum) -> Option<Self> {
        let crc = |algorithm| Some(RunningChecksum::Crc(kind, Crc::new(algorithm)));
        match kind {
            Checksum::None => None,
            Checksum::Md5 => Some(RunningChecksum::Md5(Md5::new())),
            Checksum::Crc32 => crc(CrcAlgorithm::Crc32IsoHdlc),
            Checksum::Crc32c => crc(CrcAlgorithm::Crc32Iscsi),
            Checksum::Crc64nvme => crc(CrcAlgorithm::Crc64Nvme),
            Checksum::Sha256 => Some(RunningChecksum::Sha256(Sha256::new())),
        }
    }

    /// Adds more of the contents.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        match self {
            RunningChecksum::Md5(sum) => sum.update(bytes),
            RunningChecksum::Crc(_, sum) => sum.update(bytes),
            RunningChecksum::Sha256(sum) => sum.update(bytes),
        }
    }

    /// The checksum's bytes, highest first.
    pub(crate) fn bytes(self) -> Vec<u8> {
        match self {
            RunningChecksum::Md5(sum) => sum.finalize().to_vec(),
            RunningChecksum::Sha256(sum) => sum.finalize().to_vec(),
            RunningChecksum::Crc(Checksum::Crc64nvme, sum) => sum.finalize().to_be_bytes().to_vec(),
            RunningChecksum::Crc(_, sum) => (sum.finalize() as u32).to_be_bytes().to_vec(),
        }
    }
}

/// The request header of the checksum; empty if there is none.
pub(crate) fn header(kind: Checksum) -> &'static str {
    match kind {
        Checksum::None => "",
        Checksum::Md5 => "content-md5",
        Checksum::Crc32 => "x-amz-checksum-crc32",
        Checksum::Crc32c => "x-amz-checksum-crc32c",
        Checksum::Crc64nvme => "x-amz-checksum-crc64nvme",
        Checksum::Sha256 => "x-amz-checksum-sha256",
    }
}

/// The checksum's name when an upload in parts begins; empty if it is not named there.
pub(crate) fn algorithm(kind: Checksum) -> &'static str {
    match kind {
        Checksum::None | Checksum::Md5 => "",
        Checksum::Crc32 => "CRC32",
        Checksum::Crc32c => "CRC32C",
        Checksum::Crc64nvme => "CRC64NVME",
        Checksum::Sha256 => "SHA256",
    }
}

/// A checksum as headers carry it.
pub(crate) fn encoded(sum: &[u8]) -> String {
    BASE64_STANDARD.encode(sum)
}

/// Whether an ETag is the MD5 of the contents; none if the object has parts or is encrypted, so that the ETag says
/// nothing.
pub(crate) fn etag_agrees(etag: &str, md5: &[u8]) -> Option<bool> {
    let bare = etag.trim_matches('"');
    let plain = bare.len() == 32 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hex = md5.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    plain.then(|| bare.eq_ignore_ascii_case(&hex))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(kind: Checksum, bytes: &[u8]) -> String {
        let mut sum = RunningChecksum::new(kind).unwrap();
        bytes.chunks(2).for_each(|piece| sum.add(piece));
        encoded(&sum.bytes())
    }

    /// The check values of the catalogue of parametrised CRC algorithms, and of RFC 1321 and FIPS 180.
    #[test]
    fn sums_are_those_of_the_standards() {
        let digits = b"123456789";
        assert_eq!(of(Checksum::Crc32, digits), encoded(&0xcbf4_3926_u32.to_be_bytes()));
        assert_eq!(of(Checksum::Crc32c, digits), encoded(&0xe306_9283_u32.to_be_bytes()));
        assert_eq!(of(Checksum::Crc64nvme, digits), encoded(&0xae8b_1486_0a79_9888_u64.to_be_bytes()));
        assert_eq!(of(Checksum::Md5, b"abc"), "kAFQmDzST7DWlj99KOF/cg==");
        assert_eq!(of(Checksum::Sha256, b"abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }

    #[test]
    fn an_etag_of_parts_proves_nothing() {
        let md5 = Md5::digest(b"abc");
        assert_eq!(etag_agrees("\"900150983cd24fb0d6963f7d28e17f72\"", &md5), Some(true));
        assert_eq!(etag_agrees("900150983cd24fb0d6963f7d28e17f73", &md5), Some(false));
        assert_eq!(etag_agrees("\"900150983cd24fb0d6963f7d28e17f72-2\"", &md5), None);
    }

    const KINDS: [Checksum; 5] =
        [Checksum::Md5, Checksum::Crc32, Checksum::Crc32c, Checksum::Crc64nvme, Checksum::Sha256];

    proptest! {
        #[test]
        fn a_sum_is_of_the_bytes_however_they_come(bytes in proptest::collection::vec(any::<u8>(), 1..200), piece in 1_usize..64) {
            for kind in KINDS {
                let of = |piece: usize, bytes: &[u8]| {
                    let mut sum = RunningChecksum::new(kind).unwrap();
                    bytes.chunks(piece).for_each(|piece| sum.add(piece));
                    sum.bytes()
                };
                let whole = of(bytes.len(), &bytes);
                prop_assert_eq!(&of(piece, &bytes), &whole);
                prop_assert_ne!(&of(piece, &bytes[1..]), &whole);
            }
        }

        #[test]
        fn an_etag_agrees_with_one_content_only(md5: [u8; 16], other: [u8; 16], quoted: bool, upper: bool) {
            let hex: String = md5.iter().map(|byte| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") }).collect();
            let etag = if quoted { format!("\"{hex}\"") } else { hex.clone() };
            prop_assert_eq!(etag_agrees(&etag, &md5), Some(true));
            prop_assert_eq!(etag_agrees(&etag, &other), Some(md5 == other));
            prop_assert_eq!(etag_agrees(&hex[1..], &md5), None);
            prop_assert_eq!(etag_agrees(&hex.replacen(|_: char| true, "g", 1), &md5), None);
        }
    }

    #[test]
    fn each_kind_has_a_header_of_its_own() {
        let headers: std::collections::HashSet<_> = KINDS.map(header).into_iter().collect();
        assert_eq!(headers.len(), KINDS.len());
        for kind in KINDS.into_iter().filter(|kind| *kind != Checksum::Md5) {
            assert!(header(kind).ends_with(&format!("-{}", algorithm(kind).to_lowercase())), "{kind:?}");
        }
        assert!(RunningChecksum::new(Checksum::None).is_none() && header(Checksum::None).is_empty());
    }
}
