//! A disk's answer to IDENTIFY DEVICE (ATA/ATAPI-6, section 8.15).

use crate::frame::SECTOR;

/// A disk, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Sectors of 512 bytes.
    pub(crate) sectors: u64,
    /// Model number.
    pub(crate) model: String,
    /// Serial number.
    pub(crate) serial: String,
    /// Revision of its firmware.
    pub(crate) firmware: String,
}

/// A text of ATA: two characters in each word, the first in its upper half.
fn text(bytes: &[u8]) -> String {
    let swapped: Vec<u8> = bytes.chunks_exact(2).flat_map(|pair| [pair[1], pair[0]]).collect();
    let printable = |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { *byte as char } else { ' ' };
    swapped.iter().map(printable).collect::<String>().trim().to_owned()
}

impl Identity {
    /// Reads the data of an answer.
    pub(crate) fn of(data: &[u8; SECTOR]) -> Self {
        let word = |at: usize| u64::from(u16::from_le_bytes([data[2 * at], data[2 * at + 1]]));
        let number = |at: usize, words: usize| (0..words).rev().fold(0, |sum, step| sum << 16 | word(at + step));
        // Word 83, bit 10: addresses of 48 bits.
        let sectors = if word(83) & 1 << 10 != 0 { number(100, 4) } else { number(60, 2) };
        Identity { sectors, model: text(&data[54..94]), serial: text(&data[20..40]), firmware: text(&data[46..54]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_those_of_48_bits_where_the_disk_has_them() {
        let mut data = [0; SECTOR];
        data[120..124].copy_from_slice(&0x0fff_ffff_u32.to_le_bytes());
        assert_eq!(Identity::of(&data).sectors, 0x0fff_ffff);
        data[166..168].copy_from_slice(&(1_u16 << 10).to_le_bytes());
        data[200..208].copy_from_slice(&0x1_2345_6789_u64.to_le_bytes());
        data[54..58].copy_from_slice(b"bVal");
        let found = Identity::of(&data);
        assert_eq!((found.sectors, found.model.as_str()), (0x1_2345_6789, "Vbla"));
    }

    proptest! {
        #[test]
        fn what_a_disk_calls_itself_is_read_and_nothing_of_it_steers_a_terminal(
            name in "[!-~]([ -~]{0,38}[!-~])?",
            bytes in proptest::collection::vec(any::<u8>(), SECTOR),
        ) {
            let mut data: [u8; SECTOR] = bytes.try_into().unwrap();
            let found = Identity::of(&data);
            for text in [&found.model, &found.serial, &found.firmware] {
                prop_assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{text:?}");
                prop_assert_eq!(text.trim(), text);
            }
            for (pair, letters) in data[54..94].chunks_exact_mut(2).zip(format!("{name:40}").as_bytes().chunks_exact(2)) {
                pair.copy_from_slice(&[letters[1], letters[0]]);
            }
            prop_assert_eq!(Identity::of(&data).model, name);
        }
    }
}
