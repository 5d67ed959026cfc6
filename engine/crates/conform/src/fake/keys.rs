//! Work on objects and their keys.

use super::{Defect, OpData, Shared, World};
use assay_core::LIST_PAGE;
use assay_spec::OpKind;
use std::sync::Arc;

/// The objects of a lane.
pub(super) struct KeyWork {
    shared: Arc<Shared>,
    lane: u32,
}

impl KeyWork {
    pub(super) fn new(shared: Arc<Shared>, lane: u32) -> Self {
        KeyWork { shared, lane }
    }

    fn key(&self, number: u64) -> String {
        format!("o{}.{number}", self.lane)
    }

    pub(super) fn execute(&mut self, op_data: &OpData<'_>) -> Result<u64, i32> {
        let (op, defect) = (op_data.op, self.shared.defect);
        let key = self.key(op.object);
        let mut world = self.shared.world();
        match op.kind {
            OpKind::Put => {
                let mut contents = op_data.data_to_store();
                if let (Defect::KeepsLongerTail, Some(old)) = (defect, world.files.get(&key)) {
                    contents.extend_from_slice(old.get(contents.len()..).unwrap_or_default());
                }
                world.files.insert(key, contents);
                Ok(op.length)
            }
            OpKind::Get => match world.files.get(&key) {
                Some(object) => {
                    let offset = if defect == Defect::IgnoresRanges { 0 } else { op.offset as usize };
                    let end = object.len().min(offset + op.length as usize);
                    Ok(op_data.deliver(object.get(offset..end).unwrap_or_default()))
                }
                None if defect == Defect::GetsMissing => Ok(0),
                None => Err(libc::ENOENT),
            },
            OpKind::StartUpload => {
                world.uploads.insert(key, std::collections::BTreeMap::new());
                Ok(0)
            }
            OpKind::PutPart => {
                let part = op_data.data_to_store();
                world.uploads.get_mut(&key).ok_or(libc::ENOENT)?.insert(op.offset, part);
                if defect == Defect::ShowsIncomplete && op.object == 0 {
                    world.files.insert(key, Vec::new());
                }
                Ok(op.length)
            }
            OpKind::CompleteUpload => {
                let parts = world.uploads.remove(&key).ok_or(libc::ENOENT)?;
                let mut parts: Vec<Vec<u8>> = parts.into_values().collect();
                if defect == Defect::MixesParts {
                    parts.swap(0, 1);
                }
                world.files.insert(key, parts.concat());
                Ok(op.length)
            }
            OpKind::Sync => Ok(0),
            OpKind::List => Ok(self.list(&world, op.object)),
            OpKind::MultiDelete => {
                let all = op.object..op.object + u64::from(op.count) - u64::from(defect == Defect::LeavesOneOfMany);
                all.for_each(|number| drop(world.files.remove(&self.key(number))));
                Ok(0)
            }
            kind => by_key(&mut world, defect, kind, &key),
        }
    }

    fn list(&self, world: &World, page: u64) -> u64 {
        let start = self.key(0);
        let start = start.trim_end_matches('0');
        let there = world.files.keys().filter(|key| key.starts_with(start)).count() as u64;
        let all = if self.shared.has_defect(Defect::ListsOnePage) { there.min(LIST_PAGE) } else { there };
        all.saturating_sub(page * LIST_PAGE).min(LIST_PAGE)
    }
}

fn by_key(world: &mut World, defect: Defect, kind: OpKind, key: &str) -> Result<u64, i32> {
    match kind {
        OpKind::Head => {
            let size = world.files.get(key).map(|object| object.len() as u64).ok_or(libc::ENOENT)?;
            Ok(size + u64::from(defect == Defect::ReportsOtherSizes))
        }
        OpKind::Delete => {
            if defect != Defect::KeepsDeleted {
                world.files.remove(key);
            }
            Ok(0)
        }
        OpKind::Copy => {
            if let (Defect::EmptiesOnCopy, Some(object)) = (defect, world.files.get_mut(key)) {
                object.clear();
            }
            Ok(0)
        }
        _ => Err(libc::EINVAL),
    }
}
