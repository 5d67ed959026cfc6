//! The objects of a lane under their keys.

use super::{Cargo, Lie, Shared, World};
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

    pub(super) fn execute(&mut self, cargo: &Cargo<'_>) -> Result<u64, i32> {
        let (op, lie) = (cargo.op, self.shared.lie);
        let key = self.key(op.object);
        let mut world = self.shared.world();
        match op.kind {
            OpKind::Put => {
                let mut contents = cargo.out();
                if let (Lie::KeepsLongerTail, Some(old)) = (lie, world.files.get(&key)) {
                    contents.extend_from_slice(old.get(contents.len()..).unwrap_or_default());
                }
                world.files.insert(key, contents);
                Ok(op.length)
            }
            OpKind::Get => match world.files.get(&key) {
                Some(object) => {
                    let offset = if lie == Lie::IgnoresRanges { 0 } else { op.offset as usize };
                    let end = object.len().min(offset + op.length as usize);
                    Ok(cargo.bring(object.get(offset..end).unwrap_or_default()))
                }
                None if lie == Lie::GetsMissing => Ok(0),
                None => Err(libc::ENOENT),
            },
            OpKind::StartUpload => {
                world.uploads.insert(key, std::collections::BTreeMap::new());
                Ok(0)
            }
            OpKind::PutPart => {
                let part = cargo.out();
                world.uploads.get_mut(&key).ok_or(libc::ENOENT)?.insert(op.offset, part);
                if lie == Lie::ShowsIncomplete && op.object == 0 {
                    world.files.insert(key, Vec::new());
                }
                Ok(op.length)
            }
            OpKind::CompleteUpload => {
                let parts = world.uploads.remove(&key).ok_or(libc::ENOENT)?;
                let mut parts: Vec<Vec<u8>> = parts.into_values().collect();
                if lie == Lie::MixesParts {
                    parts.swap(0, 1);
                }
                world.files.insert(key, parts.concat());
                Ok(op.length)
            }
            OpKind::Sync => Ok(0),
            OpKind::List => Ok(self.list(&world, op.object)),
            OpKind::MultiDelete => {
                let all = op.object..op.object + u64::from(op.count) - u64::from(lie == Lie::LeavesOneOfMany);
                all.for_each(|number| drop(world.files.remove(&self.key(number))));
                Ok(0)
            }
            kind => by_key(&mut world, lie, kind, &key),
        }
    }

    fn list(&self, world: &World, page: u64) -> u64 {
        let start = self.key(0);
        let start = start.trim_end_matches('0');
        let there = world.files.keys().filter(|key| key.starts_with(start)).count() as u64;
        let all = if self.shared.lies(Lie::ListsOnePage) { there.min(LIST_PAGE) } else { there };
        all.saturating_sub(page * LIST_PAGE).min(LIST_PAGE)
    }
}

fn by_key(world: &mut World, lie: Lie, kind: OpKind, key: &str) -> Result<u64, i32> {
    match kind {
        OpKind::Head => {
            let size = world.files.get(key).map(|object| object.len() as u64).ok_or(libc::ENOENT)?;
            Ok(size + u64::from(lie == Lie::TellsOtherSizes))
        }
        OpKind::Delete => {
            if lie != Lie::KeepsDeleted {
                world.files.remove(key);
            }
            Ok(0)
        }
        OpKind::Copy => {
            if let (Lie::EmptiesOnCopy, Some(object)) = (lie, world.files.get_mut(key)) {
                object.clear();
            }
            Ok(0)
        }
        _ => Err(libc::EINVAL),
    }
}
