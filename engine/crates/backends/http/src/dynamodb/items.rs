//! Items in requests and in answers.

use super::answers::Item;
use super::keys::{self, Key};
use super::lane::Shared;
use super::request::write_key;
use assay_core::{Fault, Op, ITEM_LENGTH, MALFORMED_TABLE_ANSWER};
use assay_spec::CONTENTS_ATTRIBUTE;
use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use std::fmt::Write as _;

/// Writes the attribute with the contents as a JSON member, without a comma.
pub(super) fn write_contents(into: &mut String, name: &str, contents: &[u8]) {
    let _ = write!(into, r#""{name}":{{"B":""#);
    STANDARD.encode_string(contents, into);
    into.push_str(r#""}"#);
}

impl Shared {
    /// A whole item as JSON.
    pub(super) fn item(&self, key: &Key, contents: &[u8]) -> String {
        let mut item = String::with_capacity(contents.len() * 4 / 3 + 256);
        item.push('{');
        write_key(&mut item, &self.place.target, key);
        item.push(',');
        write_contents(&mut item, CONTENTS_ATTRIBUTE, contents);
        item.push('}');
        item
    }

    /// Calls `with` with the contents that an operation on one item stores.
    pub(super) fn with_contents<T>(&self, op: &Op, with: impl FnOnce(&[u8]) -> T) -> Result<T, Fault> {
        let length = op.length.checked_sub(self.key_bytes).ok_or(Fault::os(libc::EINVAL))?;
        if op.length <= self.buffers.length() as u64 && !op.kind.moves_several() {
            // SAFETY: the slot belongs to this operation until it ends.
            return Ok(with(unsafe { self.buffers.slice(op.slot, length as usize) }));
        }
        self.with_generated(op.object, length, with)
    }

    /// Generates the contents of one of the lane's items, and calls `with` with them.
    pub(super) fn with_generated<T>(
        &self,
        object: u64,
        length: u64,
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Fault> {
        let source = self.source.as_ref().ok_or(Fault::os(libc::EINVAL))?;
        let mut contents = vec![0; length as usize];
        source.fill(object, 0, &mut contents);
        Ok(with(&contents))
    }

    /// Puts the contents of the one item that an operation has fetched into its slot, or checks them; returns the
    /// item's size in bytes.
    pub(super) fn receive_item(&self, op: &Op, item: &Item<'_>) -> Result<u64, Fault> {
        let contents = contents(item)?;
        let (length, room) = (contents.len() as u64 + self.key_bytes, self.buffers.length());
        if length > op.length {
            return Err(ITEM_LENGTH);
        }
        if op.length > room as u64 {
            if let Some(source) = &self.source {
                source.check(op.slot, op.object, 0, &contents);
            }
        } else {
            let some = contents.len().min(room);
            // SAFETY: the slot belongs to this operation until it ends.
            unsafe { self.buffers.slice(op.slot, some) }.copy_from_slice(&contents[..some]);
        }
        Ok(length)
    }

    /// Checks one of several items that an operation has fetched; returns its number and its size in bytes, none if it
    /// is not of this job.
    pub(super) fn check_item(&self, op: &Op, item: &Item<'_>) -> Result<Option<(u64, u64)>, Fault> {
        let target = &self.place.target;
        let partition = item.text(&target.partition_key).ok_or(MALFORMED_TABLE_ANSWER)?;
        let sort = target.sort_key.as_ref().and_then(|name| item.text(name));
        let Some(number) = keys::number(target, self.lane, partition, sort) else { return Ok(None) };
        let contents = contents(item)?;
        if let Some(source) = &self.source {
            if contents.len() as u64 != source.length(number) {
                return Err(ITEM_LENGTH);
            }
            source.check(op.slot, number, 0, &contents);
        }
        Ok(Some((number, contents.len() as u64 + self.key_bytes)))
    }
}

fn contents(item: &Item<'_>) -> Result<Vec<u8>, Fault> {
    let encoded = item.bytes(CONTENTS_ATTRIBUTE).ok_or(MALFORMED_TABLE_ANSWER)?;
    STANDARD.decode(encoded).map_err(|_| MALFORMED_TABLE_ANSWER)
}
