//! Bodies of requests, and what answers to them say ([MS-SMB2] section 2.2). Offsets in them count from the header.

use crate::wire::{
    file_id_at, part, put_text, put_u16, put_u32, put_u64, text_bytes, u16_at, u32_at, u64_at, FileId, HEADER,
};

/// Rights that are asked for (section 2.2.13.1.1).
pub(crate) const READ_DATA: u32 = 0x1;
pub(crate) const WRITE_DATA: u32 = 0x2;
pub(crate) const READ_ATTRIBUTES: u32 = 0x80;
pub(crate) const DELETE: u32 = 0x1_0000;

/// What is done about a file that is there or not (section 2.2.13).
pub(crate) const OPEN: u32 = 1;
pub(crate) const CREATE: u32 = 2;
pub(crate) const OPEN_OR_CREATE: u32 = 3;
pub(crate) const MAKE_ANEW: u32 = 5;

/// How it is opened (section 2.2.13).
pub(crate) const IS_DIRECTORY: u32 = 0x1;
pub(crate) const WRITE_THROUGH: u32 = 0x2;
pub(crate) const IS_FILE: u32 = 0x40;
/// A link is opened itself, and not what it points to.
pub(crate) const NOT_THROUGH_LINKS: u32 = 0x20_0000;

/// Attributes of files ([MS-FSCC] section 2.6).
pub(crate) const ATTRIBUTE_DIRECTORY: u32 = 0x10;
/// No other attribute is set.
pub(crate) const ATTRIBUTE_NORMAL: u32 = 0x80;
pub(crate) const ATTRIBUTE_LINK: u32 = 0x400;

/// Kinds of information ([MS-FSCC] sections 2.4 and 2.5).
pub(crate) const OF_FILE: u8 = 1;
pub(crate) const OF_VOLUME: u8 = 2;
pub(crate) const DIRECTORY_ENTRIES: u8 = 1;
pub(crate) const STANDARD: u8 = 5;
pub(crate) const FULL_SIZE: u8 = 7;
pub(crate) const RENAME: u8 = 10;
pub(crate) const DISPOSITION: u8 = 13;
pub(crate) const END: u8 = 20;

/// Bytes of an answer to READ before its data, with the header.
pub(crate) const READ_HEAD: usize = HEADER + 16;

/// How a file or directory is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) access: u32,
    pub(crate) disposition: u32,
    pub(crate) options: u32,
}

/// A file or directory that has been opened (section 2.2.14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) file: FileId,
    pub(crate) size: u64,
    pub(crate) attributes: u32,
    /// It was not there before.
    pub(crate) made: bool,
}

impl Opened {
    /// Reads an answer to CREATE, from its header on.
    pub(crate) fn read(answer: &[u8]) -> Option<Opened> {
        let body = answer.get(HEADER..)?;
        Some(Opened {
            file: file_id_at(body, 64)?,
            size: u64_at(body, 48)?,
            attributes: u32_at(body, 56)?,
            made: u32_at(body, 4)? == 2,
        })
    }
}

/// CREATE (section 2.2.13): the path is relative to the share, its parts separated by backslashes.
pub(crate) fn put_create(out: &mut Vec<u8>, path: &str, opening: Opening) {
    put_u16(out, 57);
    // No lease, no oplock: nothing is cached on this side.
    put_u16(out, 0);
    put_u32(out, 2);
    put_u64(out, 0);
    put_u64(out, 0);
    put_u32(out, opening.access);
    put_u32(out, 0);
    // Others may read, write and remove it.
    put_u32(out, 7);
    put_u32(out, opening.disposition);
    put_u32(out, opening.options);
    put_u16(out, (HEADER + 56) as u16);
    put_u16(out, text_bytes(path));
    put_u64(out, 0);
    put_text(out, path);
    if path.is_empty() {
        put_u64(out, 0);
    }
}

/// CLOSE (section 2.2.15).
pub(crate) fn put_close(out: &mut Vec<u8>, file: &FileId) {
    put_u16(out, 24);
    put_u16(out, 0);
    put_u32(out, 0);
    out.extend_from_slice(file);
}

/// FLUSH (section 2.2.17), of the same shape.
pub(crate) fn put_flush(out: &mut Vec<u8>, file: &FileId) {
    put_close(out, file);
}

/// READ (section 2.2.19).
pub(crate) fn put_read(out: &mut Vec<u8>, file: &FileId, offset: u64, length: u32) {
    put_u16(out, 49);
    // The data shall start right behind the answer's head.
    out.push(READ_HEAD as u8);
    out.push(0);
    put_u32(out, length);
    put_u64(out, offset);
    out.extend_from_slice(file);
    put_u32(out, 0);
    put_u64(out, 0);
    put_u32(out, 0);
    out.push(0);
}

/// Where the data of an answer to READ starts, from its header on, and how much it is (section 2.2.20).
pub(crate) fn read_data(answer: &[u8]) -> Option<(usize, usize)> {
    let body = answer.get(HEADER..)?;
    Some((usize::from(*body.get(2)?), u32_at(body, 4)? as usize))
}

/// WRITE (section 2.2.21), without the data, which follows.
pub(crate) fn put_write(out: &mut Vec<u8>, file: &FileId, offset: u64, length: u32) {
    put_u16(out, 49);
    put_u16(out, (HEADER + 48) as u16);
    put_u32(out, length);
    put_u64(out, offset);
    out.extend_from_slice(file);
    put_u64(out, 0);
    put_u32(out, 0);
    put_u32(out, 0);
}

/// Bytes that an answer to WRITE says were written (section 2.2.22).
pub(crate) fn written(answer: &[u8]) -> Option<u32> {
    u32_at(answer, HEADER + 4)
}

/// QUERY_DIRECTORY (section 2.2.33) of all names; `again` from the first one on.
pub(crate) fn put_list(out: &mut Vec<u8>, file: &FileId, again: bool, room: u32) {
    put_u16(out, 33);
    out.push(DIRECTORY_ENTRIES);
    out.push(u8::from(again));
    put_u32(out, 0);
    out.extend_from_slice(file);
    put_u16(out, (HEADER + 32) as u16);
    put_u16(out, 2);
    put_u32(out, room);
    put_text(out, "*");
}

/// What an answer to a query brings (sections 2.2.34 and 2.2.38).
pub(crate) fn queried(answer: &[u8]) -> Option<&[u8]> {
    let body = answer.get(HEADER..)?;
    part(answer, u16_at(body, 2)? as usize, u32_at(body, 4)? as usize)
}

/// Bytes of an entry of a directory before its name.
const ENTRY_HEAD: usize = 64;

/// Tells the names of a listing ([MS-FSCC] section 2.4.10) but `.` and `..`. None if it is no listing.
pub(crate) fn entries(listing: &[u8], mut told: impl FnMut(&[u8])) -> Option<()> {
    let (mut at, dot) = (0, [b'.', 0]);
    loop {
        let entry = listing.get(at..)?;
        let name = part(entry, ENTRY_HEAD, u32_at(entry, 60)? as usize)?;
        if name != dot && name != [dot, dot].concat() {
            told(name);
        }
        let next = u32_at(entry, 0)? as usize;
        if next == 0 {
            return Some(());
        }
        // An entry that is shorter than its head would be told again and again.
        if next < ENTRY_HEAD {
            return None;
        }
        at += next;
    }
}

/// Text of UTF-16.
pub(crate) fn text(bytes: &[u8]) -> String {
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    String::from_utf16_lossy(&units)
}

/// QUERY_INFO (section 2.2.37).
pub(crate) fn put_query(out: &mut Vec<u8>, file: &FileId, of: u8, class: u8) {
    put_u16(out, 41);
    out.push(of);
    out.push(class);
    put_u32(out, 4096);
    put_u64(out, 0);
    put_u64(out, 0);
    out.extend_from_slice(file);
    out.push(0);
}

/// Names of a file, of an answer to a query of `STANDARD` ([MS-FSCC] section 2.4.46).
pub(crate) fn links(information: &[u8]) -> Option<u32> {
    u32_at(information, 16)
}

/// Bytes that this user may still fill, of an answer to a query of `FULL_SIZE` ([MS-FSCC] section 2.5.4).
pub(crate) fn free_bytes(information: &[u8]) -> Option<u64> {
    let unit = u64::from(u32_at(information, 24)?).checked_mul(u64::from(u32_at(information, 28)?))?;
    Some(u64_at(information, 8)?.saturating_mul(unit))
}

/// SET_INFO (section 2.2.39) of a file; `put` puts the information.
pub(crate) fn put_set(out: &mut Vec<u8>, file: &FileId, class: u8, put: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    put_u16(out, 33);
    out.push(OF_FILE);
    out.push(class);
    put_u32(out, 0);
    put_u16(out, (HEADER + 32) as u16);
    put_u16(out, 0);
    put_u32(out, 0);
    out.extend_from_slice(file);
    let before = out.len();
    put(out);
    let length = (out.len() - before) as u32;
    crate::wire::set_u32(out, start + 4, length);
}

/// That a file goes when it is closed ([MS-FSCC] section 2.4.11).
pub(crate) fn put_going(out: &mut Vec<u8>) {
    out.push(1);
}

/// A file's new path ([MS-FSCC] section 2.4.42.2); it takes the place of a file that is there, as rename(2) does.
pub(crate) fn put_rename(out: &mut Vec<u8>, path: &str) {
    put_u64(out, 1);
    put_u64(out, 0);
    put_u32(out, u32::from(text_bytes(path)));
    put_text(out, path);
    // The information is never shorter than its structure with a name of four letters.
    out.resize(out.len() + 4, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(next: u32, name: &str, attributes: u32) -> Vec<u8> {
        let mut out = Vec::new();
        put_u32(&mut out, next);
        out.resize(56, 0);
        put_u32(&mut out, attributes);
        put_u32(&mut out, u32::from(text_bytes(name)));
        put_text(&mut out, name);
        out.resize(out.len().next_multiple_of(8), 0);
        out
    }

    proptest! {
        #[test]
        fn whatever_a_server_says_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = (Opened::read(&bytes), read_data(&bytes), written(&bytes), queried(&bytes));
            let _ = (links(&bytes), free_bytes(&bytes), text(&bytes));
            let mut told = 0;
            let _ = entries(&bytes, |_| told += 1);
            prop_assert!(told <= 5);
        }
    }

    #[test]
    fn entries_are_told_but_those_of_the_directory_itself() {
        let listing = [entry(72, ".", 16), entry(72, "..", 16), entry(72, "f0", 32), entry(0, "deep", 16)].concat();
        let mut found = Vec::new();
        entries(&listing, |name| found.push(text(name))).unwrap();
        assert_eq!(found, ["f0", "deep"]);
        assert_eq!(entries(&entry(8, "round", 0), |_| {}), None);
        assert_eq!(entries(&[], |_| {}), None);
    }

    #[test]
    fn a_listing_that_is_cut_off_is_none() {
        let whole = [entry(72, "f0", 32), entry(0, "f1", 32)].concat();
        let end = whole.len() - 4;
        for cut in 0..end {
            assert_eq!(entries(&whole[..cut], |_| {}), None, "{cut} bytes");
        }
        assert_eq!(entries(&whole[..end], |_| {}), Some(()), "only what fills it up is missing");
    }

    #[test]
    fn what_is_left_of_a_volume_is_never_more_than_a_number_has_room_for() {
        let mut volume = vec![0; 32];
        volume[8..16].copy_from_slice(&10_u64.to_le_bytes());
        volume[24..28].copy_from_slice(&8_u32.to_le_bytes());
        volume[28..32].copy_from_slice(&512_u32.to_le_bytes());
        assert_eq!(free_bytes(&volume), Some(10 * 8 * 512));
        assert_eq!(free_bytes(&volume[..31]), None);
        assert_eq!(free_bytes(&[0xff; 32]), Some(u64::MAX));
    }

    /// A request's body behind an empty header, as offsets count.
    fn behind_header(put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut body = Vec::new();
        put(&mut body);
        [vec![0; HEADER], body].concat()
    }

    proptest! {
        #[test]
        fn paths_and_names_stand_where_requests_say(path in "[^\\x00]{0,30}") {
            let opening = Opening { access: READ_DATA, disposition: OPEN, options: IS_FILE };
            let create = behind_header(|out| put_create(out, &path, opening));
            let (at, length) = (u16_at(&create, HEADER + 44).unwrap(), u16_at(&create, HEADER + 46).unwrap());
            prop_assert_eq!(text(part(&create, at as usize, length as usize).unwrap()), path.clone());
            prop_assert!(create.len() > HEADER + 56, "a body is never without its last byte");

            let rename = behind_header(|out| put_set(out, &[7; 16], RENAME, |out| put_rename(out, &path)));
            let (at, length) = (u16_at(&rename, HEADER + 8).unwrap(), u32_at(&rename, HEADER + 4).unwrap());
            let information = part(&rename, at as usize, length as usize).unwrap();
            prop_assert_eq!(at as usize + length as usize, rename.len());
            let name = part(information, 20, u32_at(information, 16).unwrap() as usize).unwrap();
            prop_assert_eq!((text(name), information[0]), (path, 1));
            prop_assert!(information.len() >= 24);
        }

        #[test]
        fn names_of_a_listing_are_told_in_their_order(names in proptest::collection::vec("[a-zä€𝄞.]{1,9}", 1..8)) {
            let mut listing = Vec::new();
            for (number, name) in names.iter().enumerate() {
                let one = entry(0, name, 32);
                let next = if number + 1 == names.len() { 0 } else { one.len() as u32 };
                listing.extend(entry(next, name, 32));
            }
            let mut found = Vec::new();
            prop_assert_eq!(entries(&listing, |name| found.push(text(name))), Some(()));
            let told: Vec<String> = names.into_iter().filter(|name| name != "." && name != "..").collect();
            prop_assert_eq!(found, told);
        }

        #[test]
        fn an_answer_to_a_query_brings_what_it_says_or_nothing(at in 0_u16..200, length in 0_u32..200, whole in HEADER + 8..300_usize) {
            let mut answer: Vec<u8> = (0..whole).map(|byte| byte as u8).collect();
            answer[HEADER + 2..HEADER + 4].copy_from_slice(&at.to_le_bytes());
            answer[HEADER + 4..HEADER + 8].copy_from_slice(&length.to_le_bytes());
            let end = at as usize + length as usize;
            prop_assert_eq!(queried(&answer), (end <= whole).then(|| &answer[at as usize..end]));
            answer[HEADER + 4..HEADER + 8].fill(0xff);
            prop_assert_eq!(queried(&answer), None);
        }
    }
}
