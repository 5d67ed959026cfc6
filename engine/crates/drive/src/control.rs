//! Commands of a controller to a running job: one line of JSON each. Nothing assumes that a line is short or valid.

use serde_json::Value;
use std::io::BufRead;

/// Longer lines are skipped without being stored.
pub const MAX_LINE_BYTES: usize = 4 << 10;
/// A start further ahead than this is a mistake: lanes that wait for it cannot be stopped.
const FURTHEST_NS: u64 = 3_600_000_000_000;

/// A controller's command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `{"go":true,"at_ns":T}`: continue at that time of the monotonic clock; without `at_ns`, or if that has passed,
    /// at once. With `"most":N` the lanes continue until each has done that many operations.
    Go(Go),
    /// `{"stop":true}`.
    Stop,
    /// `{"ping":N}`.
    Ping(u64),
}

/// Permission to continue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Go {
    /// When to continue, on this process's monotonic clock; 0: at once.
    pub at_ns: u64,
    /// Operations that each lane is to have done in the end; None if not limited.
    pub most: Option<u64>,
}

/// The command of a line that arrives at the time `now` of the monotonic clock, in nanoseconds; None if it is invalid.
pub fn parse_command(line: &[u8], now: u64) -> Option<Command> {
    let said: Value = serde_json::from_slice(line).ok()?;
    if said["stop"] == true {
        return Some(Command::Stop);
    }
    if said["go"] == true {
        let at = said.get("at_ns").map_or(Some(0), Value::as_u64)?;
        let most = match said.get("most") {
            None => None,
            Some(most) => Some(most.as_u64()?),
        };
        return (at <= now.saturating_add(FURTHEST_NS)).then_some(Command::Go(Go { at_ns: at, most }));
    }
    said["ping"].as_u64().map(Command::Ping)
}

/// Read the next line into `line`, without its end, and at most `MAX_LINE_BYTES` of it. Returns whether that is the
/// whole line; None at the end of the input.
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
        let go = |at_ns, most| Command::Go(Go { at_ns, most });
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
            (r#"{"ping":18446744073709551615}"#, Some(Command::Ping(u64::MAX))),
            (r#"{"ping":-1}"#, None),
            (r#"{"go":true,"stop":true}"#, Some(Command::Stop)),
            ("[]", None),
            ("", None),
            ("\u{0}", None),
        ] {
            assert_eq!(parse_command(line.as_bytes(), now), told, "{line}");
        }
        assert_eq!(parse_command(&[b'['; MAX_LINE_BYTES], now), None);
    }

    #[test]
    fn an_endless_line_is_not_stored() {
        let mut input = BufReader::new(std::io::repeat(b' ').take(64 << 20).chain(&b"\n{\"ping\":1}\n"[..]));
        let mut line = Vec::new();
        assert_eq!(next_line(&mut input, &mut line).unwrap(), Some(false));
        assert!(line.capacity() <= 2 * MAX_LINE_BYTES, "{}", line.capacity());
        assert_eq!(next_line(&mut input, &mut line).unwrap(), Some(true));
        assert_eq!(parse_command(&line, 0), Some(Command::Ping(1)));
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
