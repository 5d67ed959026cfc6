//! What a controller says while a job runs: one line of JSON each. Nothing of it is trusted to be short or to make sense.

use serde_json::Value;
use std::io::BufRead;

/// A longer line is passed over without being kept.
pub const MAX_LINE_BYTES: usize = 4 << 10;
/// A start further ahead is a mistake: lanes that wait for it cannot be stopped.
const FURTHEST_NS: u64 = 3_600_000_000_000;

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// `{"go":true,"at_ns":T}`: go on at that time of the monotonic clock; without `at_ns`, or with one that has passed,
    /// at once. With `"most":N` the lanes go on until each has done so many operations.
    Go(Go),
    /// `{"stop":true}`.
    Stop,
    /// `{"ping":N}`.
    Ping(u64),
}

/// Leave to go on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Go {
    /// When, on this process's monotonic clock; 0: at once.
    pub at_ns: u64,
    /// Operations that each lane shall have done in the end; none: it was not asked.
    pub most: Option<u64>,
}

/// What a line says at the time `now` of the monotonic clock, in nanoseconds; none if it is not understood.
pub fn word(line: &[u8], now: u64) -> Option<Word> {
    let said: Value = serde_json::from_slice(line).ok()?;
    if said["stop"] == true {
        return Some(Word::Stop);
    }
    if said["go"] == true {
        let at = said.get("at_ns").map_or(Some(0), Value::as_u64)?;
        let most = match said.get("most") {
            None => None,
            Some(most) => Some(most.as_u64()?),
        };
        return (at <= now.saturating_add(FURTHEST_NS)).then_some(Word::Go(Go { at_ns: at, most }));
    }
    said["ping"].as_u64().map(Word::Ping)
}

/// Puts the next line into `line`, without its end, and at most `MAX_LINE_BYTES` of it. Whether that is all of it; none
/// at the end of the input.
///
/// # Errors
/// If the input cannot be read.
pub fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<Option<bool>> {
    line.clear();
    let (mut whole, mut begun) = (true, false);
    loop {
        let bytes = match input.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if bytes.is_empty() {
            return Ok(begun.then_some(whole));
        }
        begun = true;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        let room = MAX_LINE_BYTES - line.len();
        whole &= part.len() <= room;
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(Some(whole));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::{BufReader, Read};

    #[test]
    fn words_are_understood_or_not() {
        let now = 1_000;
        let go = |at_ns, most| Word::Go(Go { at_ns, most });
        for (line, told) in [
            (r#"{"go":true}"#, Some(go(0, None))),
            (r#"{"go":true,"at_ns":5}"#, Some(go(5, None))),
            (r#"{"go":true,"at_ns":3600000001000}"#, Some(go(FURTHEST_NS + now, None))),
            (r#"{"go":true,"at_ns":3600000001001}"#, None),
            (r#"{"go":true,"at_ns":18446744073709551615}"#, None),
            (r#"{"go":true,"at_ns":-1}"#, None),
            (r#"{"go":true,"at_ns":1.5}"#, None),
            (r#"{"go":true,"at_ns":"5"}"#, None),
            (r#"{"go":true,"most":7}"#, Some(go(0, Some(7)))),
            (r#"{"go":true,"most":-7}"#, None),
            (r#"{"go":1}"#, None),
            (r#"{"ping":18446744073709551615}"#, Some(Word::Ping(u64::MAX))),
            (r#"{"ping":-1}"#, None),
            (r#"{"go":true,"stop":true}"#, Some(Word::Stop)),
            ("[]", None),
            ("", None),
            ("\u{0}", None),
        ] {
            assert_eq!(word(line.as_bytes(), now), told, "{line}");
        }
        assert_eq!(word(&[b'['; MAX_LINE_BYTES], now), None);
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        let mut input = BufReader::new(std::io::repeat(b' ').take(64 << 20).chain(&b"\n{\"ping\":1}\n"[..]));
        let mut line = Vec::new();
        assert_eq!(next_line(&mut input, &mut line).unwrap(), Some(false));
        assert!(line.capacity() <= 2 * MAX_LINE_BYTES, "{}", line.capacity());
        assert_eq!(next_line(&mut input, &mut line).unwrap(), Some(true));
        assert_eq!(word(&line, 0), Some(Word::Ping(1)));
        assert_eq!(next_line(&mut input, &mut line).unwrap(), None);
    }

    proptest! {
        #[test]
        fn lines_come_out_as_they_went_in(
            lines in proptest::collection::vec(proptest::collection::vec(0_u8..=255, 0..40), 0..6),
            piece in 1_usize..20,
        ) {
            let lines: Vec<Vec<u8>> = lines
                .into_iter()
                .map(|line| line.into_iter().filter(|byte| *byte != b'\n').collect())
                .collect();
            let text: Vec<u8> = lines.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect();
            let mut input = BufReader::with_capacity(piece, &text[..]);
            let (mut line, mut seen) = (Vec::new(), Vec::new());
            while let Some(whole) = next_line(&mut input, &mut line).unwrap() {
                prop_assert!(whole);
                seen.push(line.clone());
            }
            prop_assert_eq!(seen, lines);
        }
    }
}
