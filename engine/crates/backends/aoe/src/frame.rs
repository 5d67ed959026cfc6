//! Frames of ATA over Ethernet (AoEr11, "AoE (ATA over Ethernet)", S. Hopkins and B. Coile, 2009), byte by byte.

/// EtherType of AoE (AoEr11 section 2).
pub(crate) const ETHERTYPE: u16 = 0x88a2;
/// Bytes of the Ethernet header.
pub(crate) const ETHERNET: usize = 14;
/// Bytes of the Ethernet and the AoE header.
pub(crate) const HEADER: usize = 24;
/// Bytes before the data of an ATA message.
pub(crate) const ATA_HEADER: usize = HEADER + 12;
/// Bytes before the text of a configuration query.
pub(crate) const CONFIG_HEADER: usize = HEADER + 8;
/// Bytes of the shortest Ethernet frame without its checksum (IEEE 802.3).
pub(crate) const MIN_FRAME_BYTES: usize = 60;
/// Bytes of a sector.
pub(crate) const SECTOR: usize = 512;

const VERSION: u8 = 0x10;
const RESPONSE: u8 = 0x08;
const ERROR: u8 = 0x04;
const ATA: u8 = 0;
const CONFIG: u8 = 1;

/// The address of all shelves.
pub(crate) const EVERY_SHELF: u16 = u16::MAX;
/// The address of all slots.
pub(crate) const EVERY_SLOT: u8 = u8::MAX;

/// An Ethernet address.
pub(crate) type Mac = [u8; 6];
/// The address of all stations.
pub(crate) const BROADCAST: Mac = [0xff; 6];

/// An Ethernet address as text.
pub(crate) fn mac_text(mac: Mac) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

/// A command of ATA that AoE carries (ATA/ATAPI-6, section 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// READ SECTORS EXT, with addresses of 48 bits.
    Read,
    /// WRITE SECTORS EXT.
    Write,
    /// FLUSH CACHE EXT.
    FlushExt,
    /// FLUSH CACHE, which older disks know.
    Flush,
    /// IDENTIFY DEVICE.
    Identify,
}

impl Command {
    /// Its number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Command::Read => 0x24,
            Command::Write => 0x34,
            Command::FlushExt => 0xea,
            Command::Flush => 0xe7,
            Command::Identify => 0xec,
        }
    }

    /// Flags of the ATA section: 0x40 for addresses of 48 bits, 0x01 for data sent to the disk.
    fn flags(self) -> u8 {
        match self {
            Command::Read | Command::FlushExt => 0x40,
            Command::Write => 0x41,
            Command::Flush | Command::Identify => 0,
        }
    }
}

/// The name of a command's number, for people.
pub(crate) fn command_name(code: u8) -> &'static str {
    match code {
        0x20 => "READ SECTORS",
        0x24 => "READ SECTORS EXT",
        0x30 => "WRITE SECTORS",
        0x34 => "WRITE SECTORS EXT",
        0xe5 => "CHECK POWER MODE",
        0xe7 => "FLUSH CACHE",
        0xea => "FLUSH CACHE EXT",
        0xec => "IDENTIFY DEVICE",
        0xef => "SET FEATURES",
        _ => "ATA command",
    }
}

/// The addresses of a frame: two stations and a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    /// The receiving station; that of the disk in a question.
    pub(crate) to: Mac,
    /// The sending station.
    pub(crate) from: Mac,
    /// First part of the disk's address.
    pub(crate) shelf: u16,
    /// Second part of the disk's address.
    pub(crate) slot: u8,
}

fn header(address: &Address, command: u8, tag: u32) -> [u8; HEADER] {
    let mut out = [0; HEADER];
    out[..6].copy_from_slice(&address.to);
    out[6..12].copy_from_slice(&address.from);
    out[12..14].copy_from_slice(&ETHERTYPE.to_be_bytes());
    out[14] = VERSION;
    out[16..18].copy_from_slice(&address.shelf.to_be_bytes());
    out[18] = address.slot;
    out[19] = command;
    out[20..24].copy_from_slice(&tag.to_be_bytes());
    out
}

/// The head of an ATA message on `sectors` sectors from `lba` on; the data of a write follows it. The sender pads a
/// message without data to the shortest frame.
pub(crate) fn ata(address: &Address, tag: u32, command: Command, lba: u64, sectors: u8) -> [u8; ATA_HEADER] {
    let mut out = [0; ATA_HEADER];
    out[..HEADER].copy_from_slice(&header(address, ATA, tag));
    let section = &mut out[HEADER..];
    section[0] = command.flags();
    section[2] = sectors;
    section[3] = command.code();
    section[4..10].copy_from_slice(&lba.to_le_bytes()[..6]);
    out
}

/// A configuration query (AoEr11 section 3.2), command 0: read.
pub(crate) fn query(address: &Address, tag: u32) -> [u8; MIN_FRAME_BYTES] {
    let mut out = [0; MIN_FRAME_BYTES];
    out[..HEADER].copy_from_slice(&header(address, CONFIG, tag));
    out
}

/// The configuration of a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// Messages that it can queue.
    pub(crate) buffers: u16,
    /// Version of its firmware.
    pub(crate) firmware: u16,
    /// Most sectors of one message; 0 means as many as a frame of 1500 bytes holds.
    pub(crate) sectors: u8,
    /// Version of AoE.
    pub(crate) version: u8,
    /// The text that a user has stored there.
    pub(crate) text: Vec<u8>,
}

/// The contents of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body<'a> {
    /// An ATA message.
    Ata {
        /// Status register in an answer, command in a question.
        status: u8,
        /// Error register in an answer.
        error: u8,
        /// Sectors.
        sectors: u8,
        /// The first sector.
        lba: u64,
        /// The data that follows.
        data: &'a [u8],
    },
    /// A configuration.
    Config(Config),
    /// Another command, by its number.
    Other(u8),
}

/// A frame that was received or observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// The addresses as the sender has put them.
    pub(crate) address: Address,
    /// It is an answer.
    pub(crate) response: bool,
    /// The error number, if the answer refuses the command (AoEr11 section 2.4).
    pub(crate) error: Option<u8>,
    /// An answer has the tag of its question.
    pub(crate) tag: u32,
    /// The contents; none of a refusal without contents, or if they are cut off.
    pub(crate) body: Option<Body<'a>>,
}

fn body(command: u8, rest: &[u8]) -> Option<Body<'_>> {
    match command {
        ATA if rest.len() >= ATA_HEADER - HEADER => {
            let mut lba = [0; 8];
            lba[..6].copy_from_slice(&rest[4..10]);
            Some(Body::Ata {
                status: rest[3],
                error: rest[1],
                sectors: rest[2],
                lba: u64::from_le_bytes(lba),
                data: &rest[12..],
            })
        }
        CONFIG if rest.len() >= CONFIG_HEADER - HEADER => {
            let length = usize::from(u16::from_be_bytes([rest[6], rest[7]]));
            Some(Body::Config(Config {
                buffers: u16::from_be_bytes([rest[0], rest[1]]),
                firmware: u16::from_be_bytes([rest[2], rest[3]]),
                sectors: rest[4],
                version: rest[5] >> 4,
                text: rest[8..].get(..length)?.to_vec(),
            }))
        }
        ATA | CONFIG => None,
        other => Some(Body::Other(other)),
    }
}

/// Decodes a frame; none if it is not one of AoE version 1.
pub(crate) fn decode(bytes: &[u8]) -> Option<Frame<'_>> {
    let head: &[u8; HEADER] = bytes.get(..HEADER)?.try_into().ok()?;
    if head[12..14] != ETHERTYPE.to_be_bytes() || head[14] & 0xf0 != VERSION {
        return None;
    }
    let mac = |at: usize| -> Mac { head[at..at + 6].try_into().expect("six bytes") };
    Some(Frame {
        address: Address { to: mac(0), from: mac(6), shelf: u16::from_be_bytes([head[16], head[17]]), slot: head[18] },
        response: head[14] & RESPONSE != 0,
        error: (head[14] & ERROR != 0).then_some(head[15]),
        tag: u32::from_be_bytes([head[20], head[21], head[22], head[23]]),
        body: body(head[19], &bytes[HEADER..]),
    })
}

/// The answer to a question: the same frame on its way back.
#[cfg(test)]
pub(crate) fn answer(question: &[u8], error: Option<u8>) -> Vec<u8> {
    let mut out = question.to_vec();
    out.copy_within(6..12, 0);
    out[6..12].copy_from_slice(&question[..6]);
    out[14] |= RESPONSE | if error.is_some() { ERROR } else { 0 };
    out[15] = error.unwrap_or(0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ADDRESS: Address = Address { to: [2, 0, 0, 0, 0, 1], from: [2, 0, 0, 0, 0, 9], shelf: 0x0102, slot: 3 };

    #[test]
    fn a_write_has_the_bytes_of_the_specification() {
        let head = ata(&ADDRESS, 0x8765_4321, Command::Write, 0x0605_0403_0201, 17);
        let expected = [
            &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0xa2][..],
            &[0x10, 0, 1, 2, 3, 0, 0x87, 0x65, 0x43, 0x21],
            &[0x41, 0, 17, 0x34, 1, 2, 3, 4, 5, 6, 0, 0],
        ]
        .concat();
        assert_eq!(head.as_slice(), expected);
    }

    #[test]
    fn a_configuration_is_read() {
        let mut bytes = answer(&query(&ADDRESS, 7), None);
        bytes.splice(HEADER.., [0, 16, 0x40, 0x0a, 17, 0x10, 0, 3, b'o', b'u', b'r', 0, 0]);
        let frame = decode(&bytes).unwrap();
        assert!(frame.response && frame.error.is_none() && frame.tag == 7);
        let config = Config { buffers: 16, firmware: 0x400a, sectors: 17, version: 1, text: b"our".to_vec() };
        assert_eq!(frame.body, Some(Body::Config(config)));
        bytes[HEADER + 7] = 200;
        assert_eq!(decode(&bytes).unwrap().body, None);
    }

    proptest! {
        #[test]
        fn what_is_sent_is_read(tag: u32, lba in 0..1u64 << 48, sectors: u8, data in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut bytes = ata(&ADDRESS, tag, Command::Read, lba, sectors).to_vec();
            bytes.extend(&data);
            let frame = decode(&bytes).unwrap();
            prop_assert_eq!((frame.address, frame.tag, frame.response), (ADDRESS, tag, false));
            prop_assert_eq!(frame.body, Some(Body::Ata { status: 0x24, error: 0, sectors, lba, data: &data }));
        }

        #[test]
        fn a_truncated_frame_decodes_to_no_more_than_it_holds(lba in 0..1u64 << 48, data in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut whole = ata(&ADDRESS, 9, Command::Write, lba, 1).to_vec();
            whole.extend(&data);
            for cut in 0..=whole.len() {
                let found = decode(&whole[..cut]);
                prop_assert_eq!(found.is_some(), cut >= HEADER);
                let body = found.and_then(|frame| frame.body);
                let there = data.get(..cut.wrapping_sub(ATA_HEADER));
                let expected = there.map(|data| Body::Ata { status: 0x34, error: 0, sectors: 1, lba, data });
                prop_assert_eq!(body, expected);
            }
        }

        #[test]
        fn a_configuration_is_whole_or_none(text in proptest::collection::vec(any::<u8>(), 0..64), numbers: [u8; 6]) {
            let mut bytes = answer(&query(&ADDRESS, 7)[..HEADER], None);
            bytes.extend(numbers);
            bytes.extend((text.len() as u16).to_be_bytes());
            bytes.extend(&text);
            let Some(Body::Config(config)) = decode(&bytes).unwrap().body else { panic!("it is a configuration") };
            prop_assert_eq!((config.buffers, config.sectors), (u16::from_be_bytes([numbers[0], numbers[1]]), numbers[4]));
            prop_assert_eq!((config.version, &config.text), (numbers[5] >> 4, &text));
            bytes.pop();
            prop_assert_eq!(decode(&bytes).unwrap().body, None);
        }

        #[test]
        fn any_bytes_are_read_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode(&bytes);
            let mut ours = bytes;
            if ours.len() > 14 {
                ours[12..15].copy_from_slice(&[0x88, 0xa2, 0x18]);
                let _ = decode(&ours);
            }
        }
    }
}
