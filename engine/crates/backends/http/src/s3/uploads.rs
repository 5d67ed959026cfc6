//! Objects that are being uploaded in parts.

use assay_core::Fault;
use std::collections::{BTreeMap, HashMap};

/// One upload.
#[derive(Debug, Clone, Default)]
struct Upload {
    id: String,
    /// The stored parts, by number.
    parts: BTreeMap<u64, Part>,
}

/// A stored part.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    pub(crate) etag: String,
    /// XML element of its checksum, and the checksum; empty if there is none.
    pub(crate) sum: (&'static str, String),
}

/// The uploads of a lane, by the object's number.
#[derive(Debug, Default)]
pub(crate) struct Uploads(HashMap<u64, Upload>);

/// There is no such upload.
const UNKNOWN: Fault = Fault::os(libc::ENOENT);

impl Uploads {
    /// Notes that an upload was begun, with the service's id.
    pub(crate) fn begin(&mut self, object: u64, id: String) {
        self.0.insert(object, Upload { id, parts: BTreeMap::new() });
    }

    /// The id of an object's upload.
    pub(crate) fn id(&self, object: u64) -> Result<String, Fault> {
        self.0.get(&object).map(|upload| upload.id.clone()).ok_or(UNKNOWN)
    }

    /// Notes that a part is stored.
    pub(crate) fn note(&mut self, object: u64, number: u64, part: Part) {
        if let Some(upload) = self.0.get_mut(&object) {
            upload.parts.insert(number, part);
        }
    }

    /// The list of an upload's parts, as XML.
    pub(crate) fn list(&self, object: u64) -> Result<String, Fault> {
        let upload = self.0.get(&object).ok_or(UNKNOWN)?;
        let part = |(number, part): (&u64, &Part)| {
            let (name, sum) = &part.sum;
            let sum = if sum.is_empty() { String::new() } else { format!("<{name}>{sum}</{name}>") };
            let etag = super::xml::escaped(&part.etag);
            format!("<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag>{sum}</Part>")
        };
        let parts: String = upload.parts.iter().map(part).collect();
        Ok(format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>"))
    }

    /// Forgets a completed upload.
    pub(crate) fn end(&mut self, object: u64) {
        self.0.remove(&object);
    }

    /// Takes out the uploads that were begun and not completed: object and id.
    pub(crate) fn take(&mut self) -> Vec<(u64, String)> {
        self.0.drain().map(|(object, upload)| (object, upload.id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(etag: &str, sum: &str) -> Part {
        Part { etag: etag.to_owned(), sum: ("ChecksumCRC32", sum.to_owned()) }
    }

    #[test]
    fn parts_are_listed_by_their_numbers_and_the_last_of_each_counts() {
        let mut uploads = Uploads::default();
        uploads.begin(7, "u".to_owned());
        for (number, tag, sum) in [(10, "\"j\"", ""), (2, "lost<&", ""), (1, "a", "AA=="), (2, "b<&", "")] {
            uploads.note(7, number, part(tag, sum));
        }
        let list = uploads.list(7).unwrap();
        let document = crate::s3::xml::parse(list.as_bytes()).unwrap();
        let found: Vec<_> = document
            .entries("Part")
            .map(|part| {
                (part["PartNumber"].as_str(), part["ETag"].as_str(), part.get("ChecksumCRC32").map(String::as_str))
            })
            .collect();
        assert_eq!(found, [("1", "a", Some("AA==")), ("2", "b<&", None), ("10", "\"j\"", None)]);
    }

    #[test]
    fn what_was_not_begun_or_has_ended_is_not_known() {
        let mut uploads = Uploads::default();
        uploads.note(1, 1, part("a", ""));
        assert_eq!((uploads.id(1), uploads.list(1)), (Err(UNKNOWN), Err(UNKNOWN)));
        for (object, id) in [(1, "one"), (2, "two"), (1, "anew")] {
            uploads.begin(object, id.to_owned());
            uploads.note(object, 1, part(id, ""));
        }
        assert!(uploads.list(1).unwrap().contains("anew") && !uploads.list(1).unwrap().contains("one"));
        uploads.end(2);
        assert_eq!(uploads.id(2), Err(UNKNOWN));
        assert_eq!(uploads.take(), [(1, "anew".to_owned())]);
        assert_eq!((uploads.take().len(), uploads.id(1)), (0, Err(UNKNOWN)));
    }
}
