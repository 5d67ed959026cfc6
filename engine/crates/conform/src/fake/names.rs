//! Work on the names of a tree and the small files under them.

use super::{Defect, OpData, Shared, World};
use assay_core::names::{top_of, Names};
use assay_core::PhasePlan;
use assay_spec::{Group, OpKind};
use std::sync::Arc;

/// Length to which storage that truncates files cuts them.
const CUT_LENGTH: usize = 4096;
/// Number of names that one call returns.
const PAGE: u64 = 100;

/// The names of a lane in a phase.
pub(super) struct NameWork {
    shared: Arc<Shared>,
    folder: String,
    names: Names,
    per_leaf: u64,
    creates: bool,
    on_data: bool,
    /// The open file.
    current: Option<String>,
}

impl NameWork {
    pub(super) fn new(shared: Arc<Shared>, lane: u32, plan: &PhasePlan) -> Self {
        let folder = format!("t{}", top_of(shared.layout, lane));
        let per_leaf = shared.tree.as_ref().map_or(1, assay_spec::Tree::files_per_leaf);
        let (names, creates) = (Names::new(lane, plan), plan.operation.creates());
        let on_data = plan.operation.group() == Some(Group::Data);
        NameWork { shared, folder, names, per_leaf, creates, on_data, current: None }
    }

    /// Paths of the file with this number: under its current and its other name.
    fn paths(&mut self, number: u64) -> [String; 2] {
        self.names.current.set(number);
        self.names.other.set(number);
        let leaf = number / self.per_leaf;
        [self.names.current, self.names.other]
            .map(|name| format!("{}/{leaf}/{}", self.folder, std::str::from_utf8(name.bytes()).unwrap()))
    }

    pub(super) fn execute(&mut self, op_data: &OpData<'_>) -> Result<u64, i32> {
        let op = op_data.op;
        let [path, other] = self.paths(op.object);
        let shared = Arc::clone(&self.shared);
        let mut world = shared.world();
        match (op.kind, &self.current) {
            (OpKind::Create, _) => {
                let made = create(&mut world, shared.defect, path.clone(), op_data.data_to_store())?;
                drop(world);
                self.current = self.on_data.then_some(path);
                Ok(made)
            }
            (OpKind::Read, Some(current)) => Ok(op_data.deliver(part(&world.files[current], op.offset, op.length))),
            (OpKind::Write, Some(current)) => {
                let file = world.files.get_mut(current).ok_or(libc::EBADF)?;
                let end = (op.offset + op.length) as usize;
                file.resize(file.len().max(end), 0);
                file[op.offset as usize..end].copy_from_slice(&op_data.data_to_store());
                Ok(op.length)
            }
            (OpKind::Read, None) => {
                Ok(op_data.deliver(part(world.files.get(&path).ok_or(libc::ENOENT)?, 0, op.length)))
            }
            (OpKind::Open, _) => {
                if self.creates {
                    world.files.insert(path.clone(), Vec::new());
                }
                let Some(file) = world.files.get_mut(&path) else {
                    return if shared.has_defect(Defect::FindsMissing) { Ok(0) } else { Err(libc::ENOENT) };
                };
                if shared.has_defect(Defect::EmptiesOnOpen) {
                    file.clear();
                }
                drop(world);
                self.current = Some(path);
                Ok(0)
            }
            (OpKind::Close, _) => self.current.take().map(|_| 0).ok_or(libc::EBADF),
            (OpKind::Readdir, _) => Ok(self.list(&world, op.object)),
            (OpKind::Sync, _) => Ok(0),
            (kind, _) => by_name(&mut world, shared.defect, kind, [path, other]),
        }
    }

    fn list(&self, world: &World, leaf: u64) -> u64 {
        let folder = format!("{}/{leaf}/", self.folder);
        let inside = |names: &mut dyn Iterator<Item = &String>| names.filter(|name| name.starts_with(&folder)).count();
        let there = inside(&mut world.files.keys()) as u64;
        match self.shared.defect {
            Defect::ListsRemoved => there + inside(&mut world.removed.keys()) as u64,
            Defect::ListsOnePage => there.min(PAGE),
            _ => there,
        }
    }
}

fn part(file: &[u8], offset: u64, length: u64) -> &[u8] {
    let at = |place: u64| file.len().min(place as usize);
    &file[at(offset)..at(offset + length)]
}

fn create(world: &mut World, defect: Defect, path: String, mut contents: Vec<u8>) -> Result<u64, i32> {
    if world.files.contains_key(&path) && defect != Defect::ReplacesTaken {
        return Err(libc::EEXIST);
    }
    let taken = contents.len() as u64;
    if defect == Defect::CutsContents {
        contents.truncate(CUT_LENGTH);
    }
    if let (Defect::RevivesContents, Some(old)) = (defect, world.removed.get(&path)) {
        contents.clone_from(old);
    }
    world.removed.remove(&path);
    world.files.insert(path, contents);
    Ok(taken)
}

fn by_name(world: &mut World, defect: Defect, kind: OpKind, [path, other]: [String; 2]) -> Result<u64, i32> {
    match kind {
        OpKind::Stat => match world.files.get(&path) {
            Some(file) => Ok(file.len() as u64 + u64::from(defect == Defect::ReportsOtherSizes)),
            None if defect == Defect::FindsMissing => Ok(0),
            None => Err(libc::ENOENT),
        },
        OpKind::Rename => {
            if defect == Defect::RefusesToReplace && world.files.contains_key(&other) {
                return Err(libc::EEXIST);
            }
            let file = world.files.get(&path).cloned().ok_or(libc::ENOENT)?;
            if defect != Defect::CopiesOnRename {
                world.files.remove(&path);
            }
            world.files.insert(other, file);
            Ok(0)
        }
        OpKind::Unlink => {
            if defect == Defect::KeepsUnlinked && world.files.contains_key(&path) {
                return Ok(0);
            }
            let file = world.files.remove(&path).ok_or(libc::ENOENT)?;
            world.removed.insert(path, file);
            Ok(0)
        }
        OpKind::Mkdir if world.folders.insert(path.clone()) || defect == Defect::MakesDirectoriesTwice => Ok(0),
        OpKind::Mkdir => Err(libc::EEXIST),
        OpKind::Rmdir if world.folders.remove(&path) => Ok(0),
        OpKind::Rmdir => Err(libc::ENOENT),
        _ => Err(libc::EINVAL),
    }
}
