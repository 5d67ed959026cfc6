//! XDR (RFC 4506) by hand, for what is done for each operation: without allocating, unlike the codec's owned types.

/// Appends a 32-bit number (RFC 4506 section 4.2).
pub(crate) fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends a 64-bit number (RFC 4506 section 4.5).
pub(crate) fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends bytes with their length and padding (RFC 4506 section 4.10).
pub(crate) fn put_opaque(out: &mut Vec<u8>, bytes: &[u8]) {
    put_u32(out, bytes.len() as u32);
    out.extend_from_slice(bytes);
    out.extend_from_slice(&[0; 3][..padding(bytes.len())]);
}

/// Zero bytes that follow `length` bytes of opaque data.
pub(crate) fn padding(length: usize) -> usize {
    length.wrapping_neg() & 3
}

/// The number at `at`; none if the bytes end before.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let end = at.checked_add(4)?;
    bytes.get(at..end).map(|four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
}

/// What is left to read of a reply. Each method is none where the reply is too short.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    /// The next so many bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    /// A 32-bit number.
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.bytes(4).and_then(|four| u32_at(four, 0))
    }

    /// A 64-bit number.
    pub(crate) fn u64(&mut self) -> Option<u64> {
        let high = self.u32()?;
        Some(u64::from(high) << 32 | u64::from(self.u32()?))
    }

    /// A boolean.
    pub(crate) fn flag(&mut self) -> Option<bool> {
        self.u32().map(|value| value != 0)
    }

    /// Variable-length opaque data of at most `limit` bytes.
    pub(crate) fn opaque(&mut self, limit: usize) -> Option<&'a [u8]> {
        let length = self.u32()? as usize;
        if length > limit {
            return None;
        }
        let bytes = self.bytes(length)?;
        self.bytes(padding(length))?;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nfs3_types::xdr_codec::{Opaque, Pack};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn opaque_data_is_the_codecs(bytes in proptest::collection::vec(any::<u8>(), 0..70), number in any::<u64>()) {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            put_opaque(&mut ours, &bytes);
            put_u64(&mut ours, number);
            Opaque::borrowed(&bytes).pack(&mut theirs).unwrap();
            number.pack(&mut theirs).unwrap();
            prop_assert_eq!(&ours, &theirs);
            let mut input = Input(&ours);
            prop_assert_eq!(input.opaque(70), Some(bytes.as_slice()));
            prop_assert_eq!(input.u64(), Some(number));
            prop_assert_eq!(input.u32(), None);
        }

        #[test]
        fn what_is_cut_short_is_none(bytes in proptest::collection::vec(any::<u8>(), 1..70), cut in 1_usize..4) {
            let mut whole = Vec::new();
            put_opaque(&mut whole, &bytes);
            prop_assert_eq!(Input(&whole[..whole.len() - cut]).opaque(70), None);
            prop_assert_eq!(Input(&whole).opaque(bytes.len() - 1), None);
        }
    }
}
