//! Reads traces: gzip of lines, the first of which is a header in JSON, with a record in each of the others.

use crate::record::{parse, Record};
use assay_core::SetupError;
use flate2::bufread::MultiGzDecoder;
use serde::Deserialize;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;

/// The only version of the format.
const VERSION: u32 = 1;
/// Longest line of a record.
const MAX_LINE_BYTES: u64 = 64 << 10;
/// Longest first line, which has the recorded command.
const MAX_HEADER_BYTES: u64 = 4 << 20;
/// Bytes of compressed and of plain text that are buffered.
const BUFFER_BYTES: usize = 64 << 10;

/// The first line; readers ignore its other fields.
#[derive(Debug, Deserialize)]
struct Header {
    assay_trace: u32,
}

/// A trace that is read record by record.
pub(crate) struct Trace<R> {
    path: String,
    input: BufReader<MultiGzDecoder<R>>,
    line: Vec<u8>,
    number: u64,
}

impl Trace<BufReader<File>> {
    /// Open a trace and read its header.
    ///
    /// # Errors
    /// If it is missing, no regular file, or no trace.
    pub(crate) fn open(path: &str) -> Result<Self, SetupError> {
        // A pipe without a writer would block here.
        let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path);
        let file = file.map_err(|error| SetupError::new("open", path, error.to_string()))?;
        let kind = file.metadata().map_err(|error| SetupError::new("open", path, error.to_string()))?;
        if !kind.is_file() {
            return Err(SetupError::new("open", path, "is not a regular file"));
        }
        Trace::new(path, BufReader::with_capacity(BUFFER_BYTES, file))
    }
}

impl<R: BufRead> Trace<R> {
    /// Read the header of a trace.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn new(path: &str, file: R) -> Result<Self, SetupError> {
        let input = BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(file));
        let mut trace = Trace { path: path.to_owned(), input, line: Vec::new(), number: 0 };
        let found = trace.next_line(MAX_HEADER_BYTES)?;
        let header = found.then(|| serde_json::from_slice::<Header>(&trace.line).ok()).flatten();
        match header {
            Some(Header { assay_trace: VERSION }) => Ok(trace),
            Some(Header { assay_trace }) => {
                Err(trace.error(format!("a trace of format {assay_trace}; this engine reads format {VERSION}")))
            }
            None => Err(trace.error("not a trace: its first line has no field assay_trace")),
        }
    }

    /// An error at the current line.
    pub(crate) fn error(&self, why: impl std::fmt::Display) -> SetupError {
        SetupError::new("read", format!("{}, line {}", self.path, self.number), why.to_string())
    }

    /// Number of the current line, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Read a line without its end into `line`; false at the end of the trace.
    fn next_line(&mut self, most: u64) -> Result<bool, SetupError> {
        self.line.clear();
        self.number += 1;
        match (&mut self.input).take(most).read_until(b'\n', &mut self.line) {
            Ok(0) => Ok(false),
            Ok(_) if self.line.pop_if(|last| *last == b'\n').is_some() => Ok(true),
            Ok(length) if length as u64 == most => Err(self.error(format!("is longer than {most} bytes"))),
            Ok(_) => Err(self.error("the trace ends in the middle of a line")),
            Err(error) => Err(self.error(format!("not whole gzip: {error}"))),
        }
    }

    /// The next record; None at the end.
    ///
    /// # Errors
    /// If the file is damaged, or the line is no record.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>, SetupError> {
        if !self.next_line(MAX_LINE_BYTES)? {
            return Ok(None);
        }
        match parse(&self.line) {
            Ok(record) => Ok(Some(record)),
            Err(why) => Err(SetupError::new("read", format!("{}, line {}", self.path, self.number), why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{packed, HEADER};
    use proptest::prelude::*;

    fn error_of(bytes: &[u8]) -> Option<String> {
        let mut trace = match Trace::new("t", bytes) {
            Ok(trace) => trace,
            Err(error) => return Some(error.to_string()),
        };
        loop {
            match trace.next() {
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(error) => return Some(error.to_string()),
            }
        }
    }

    #[test]
    fn what_is_no_trace_is_refused_where_it_ends_to_be_one() {
        let lines = format!("{HEADER}\nT\t1\t-\t0\n");
        assert_eq!(error_of(&packed(&lines)), None);
        let cases = [
            (b"plain text\n".to_vec(), "t, line 1: not whole gzip"),
            (packed(""), "t, line 1: not a trace"),
            (packed("{}\n"), "t, line 1: not a trace"),
            (packed("{\"assay_trace\":2}\n"), "t, line 1: a trace of format 2"),
            (packed(&format!("{lines}X\t1\n")), "t, line 3: begins with \"X\""),
            (packed(&format!("{lines}T\t2\t-\t5")), "t, line 3: the trace ends in the middle of a line"),
            (packed(&format!("{lines}{}\n", "T".repeat(70_000))), "t, line 3: is longer than 65536 bytes"),
        ];
        for (bytes, why) in cases {
            let error = error_of(&bytes).expect(why);
            assert!(error.contains(why) && error.lines().count() == 1, "{error}");
        }
    }

    #[test]
    fn several_members_are_one_trace() {
        let whole = [packed(&format!("{HEADER}\nT\t1\t-\t0\n")), packed("E\t1\t5\n")].concat();
        let mut trace = Trace::new("t", whole.as_slice()).unwrap();
        assert!(trace.next().unwrap().is_some() && trace.next().unwrap().is_some());
        assert!(trace.next().unwrap().is_none());
    }

    proptest! {
        /// A file that was cut anywhere, or in which a byte has another value, is refused; nothing panics.
        #[test]
        fn damage_is_found(cut in 0_usize..200, at in 10_usize..200, bit in 0_u8..8) {
            let lines: Vec<String> = (0..40).map(|at| format!("T\t{at}\t-\t{}\n", at * 7919 % 1000)).collect();
            let lines = lines.concat();
            let whole = packed(&format!("{HEADER}\n{lines}"));
            prop_assert!(error_of(&whole[..cut.min(whole.len() - 1)]).is_some());
            let mut changed = whole.clone();
            let at = at.min(whole.len() - 1);
            changed[at] ^= 1 << bit;
            prop_assert!(error_of(&changed).is_some());
        }
    }
}
