//! Findings: what a check found wrong.

use serde::Serialize;

/// How a defect of the storage shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Symptom {
    /// Old data is read where it was overwritten.
    Stale,
    /// Zeros are read where data was written.
    Zeros,
    /// A part of a record is new and a part is old.
    Torn,
    /// Bytes are read that were never written there.
    Corrupt,
    /// Wrong bytes were read, and the right ones when they were read again.
    Fleeting,
    /// A read returns fewer or more bytes than expected.
    Length,
    /// Flushed data can be read while the file is open, but not when it is opened anew.
    Unstable,
    /// A file is reported with a size other than the size that was written.
    Size,
    /// A file has other contents than it was created with, and the size of these contents.
    Contents,
    /// A directory lists more or fewer names than it contains.
    Listing,
    /// A name exists that should not, or is missing.
    Name,
    /// An operation fails, or cannot be started.
    Refused,
    /// Less was done than requested, without an error.
    Undone,
    /// Files or objects made by a check cannot be removed.
    Remains,
}

impl Symptom {
    /// One line that describes the symptom.
    pub fn description(self) -> &'static str {
        match self {
            Symptom::Stale => "old data is read where new data was written",
            Symptom::Zeros => "zeros are read where data was written",
            Symptom::Torn => "records are torn: a part of one is new, a part is not",
            Symptom::Corrupt => "bytes are read that were never written there",
            Symptom::Fleeting => "wrong bytes are read, and the right ones when read again",
            Symptom::Length => "reads bring fewer or more bytes than there are",
            Symptom::Unstable => "flushed data is gone when the file is opened anew",
            Symptom::Size => "files are told to have another size than they have",
            Symptom::Contents => "files have not the contents that they were made with",
            Symptom::Listing => "directories list fewer or more names than they have",
            Symptom::Name => "names are there that should not be, or are missing",
            Symptom::Refused => "operations fail",
            Symptom::Undone => "less is done than was requested, without an error",
            Symptom::Remains => "what was made cannot be removed",
        }
    }
}

/// One defect that a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How the defect shows.
    pub symptom: Symptom,
    /// The operation: read, stat, readdir, open, ...
    pub action: String,
    /// File, directory or device.
    pub object: String,
    /// Byte offset in the object, for findings about data.
    pub offset: Option<u64>,
    /// The expected value.
    pub expected: String,
    /// The value that was found.
    pub found: String,
    /// Further information; may be empty.
    pub remark: String,
}

impl Finding {
    pub(crate) fn new(symptom: Symptom, action: impl Into<String>, object: impl Into<String>) -> Self {
        Finding {
            symptom,
            action: action.into(),
            object: object.into(),
            offset: None,
            expected: String::new(),
            found: String::new(),
            remark: String::new(),
        }
    }

    pub(crate) fn at(self, offset: u64) -> Self {
        Finding { offset: Some(offset), ..self }
    }

    /// Sets the expected and the found value.
    pub(crate) fn values(self, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Finding { expected: expected.into(), found: found.into(), ..self }
    }

    pub(crate) fn remark(self, remark: impl Into<String>) -> Self {
        Finding { remark: remark.into(), ..self }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.action, self.object)?;
        if let Some(offset) = self.offset {
            write!(out, " at {offset}")?;
        }
        write!(out, ": expected {}, found {}", self.expected, self.found)?;
        if !self.remark.is_empty() {
            write!(out, " ({})", self.remark)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line() {
        let plain = Finding::new(Symptom::Name, "open", "f0").values("no such file", "it was opened");
        assert_eq!(plain.to_string(), "open f0: expected no such file, found it was opened");
        let whole = plain.at(7).remark("twice");
        assert_eq!(whole.to_string(), "open f0 at 7: expected no such file, found it was opened (twice)");
    }
}
