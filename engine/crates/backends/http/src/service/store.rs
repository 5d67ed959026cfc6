//! Buckets and their contents.

use super::tables::Tables;
use super::Contents;
use bytes::Bytes;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

/// An object: its size, and its contents if they are stored.
#[derive(Debug, Clone, Default)]
pub(super) struct Object {
    pub(super) size: u64,
    pub(super) contents: Bytes,
    pub(super) etag: String,
}

/// An upload in parts.
#[derive(Debug, Default)]
pub(super) struct Upload {
    pub(super) key: String,
    pub(super) parts: BTreeMap<u32, Object>,
}

/// A bucket.
#[derive(Debug, Default)]
pub(super) struct Bucket {
    pub(super) objects: BTreeMap<String, Object>,
    pub(super) uploads: HashMap<String, Upload>,
}

/// All buckets and tables of the service.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) contents: Contents,
    pub(super) buckets: HashMap<String, Bucket>,
    pub(super) tables: Tables,
    next_upload: u64,
}

impl Store {
    pub(super) fn new(contents: Contents) -> Self {
        Store { contents, buckets: HashMap::new(), tables: Tables::default(), next_upload: 0 }
    }

    /// An upload id that was not used before.
    pub(super) fn upload_name(&mut self) -> String {
        self.next_upload += 1;
        format!("upload-{}", self.next_upload)
    }
}

impl Bucket {
    /// At most `most` keys after `after` that begin with `prefix`, and whether there are more.
    pub(super) fn page(&self, prefix: &str, after: &str, most: usize) -> (Vec<(&String, &Object)>, bool) {
        let from = prefix.max(after);
        let start = if after >= prefix && !after.is_empty() { Bound::Excluded(from) } else { Bound::Included(from) };
        let mut keys =
            self.objects.range::<str, _>((start, Bound::Unbounded)).take_while(|(key, _)| key.starts_with(prefix));
        let page: Vec<_> = keys.by_ref().take(most).collect();
        (page, keys.next().is_some())
    }

    /// Makes an object from an upload's parts; none if there is no such upload.
    pub(super) fn complete(&mut self, name: &str) -> Option<Object> {
        let upload = self.uploads.remove(name)?;
        let size = upload.parts.values().map(|part| part.size).sum();
        let mut contents = Vec::new();
        upload.parts.values().for_each(|part| contents.extend_from_slice(&part.contents));
        let etag = format!("\"00000000000000000000000000000000-{}\"", upload.parts.len());
        let object = Object { size, contents: contents.into(), etag };
        self.objects.insert(upload.key, object.clone());
        Some(object)
    }
}
