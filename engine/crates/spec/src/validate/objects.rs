//! Rules of jobs that work on objects, of sizes and of mixes.

use super::{ensure, JobError};
use crate::{Access, CacheAction, Job, Layout, Method, Objects, OpKind, Operation, Phase, Sizes};

/// Most objects of one lane.
const MAX_OBJECTS: u64 = 1_000_000_000;
/// Most existing objects of all lanes together: the engine stores their names.
const MAX_EXISTING: u64 = 10_000_000;
/// Most sizes that a job lists.
const MAX_SIZES: usize = 1000;
/// Greatest weight of a size.
const MAX_WEIGHT: u32 = 1_000_000;

impl Sizes {
    pub(super) fn validate(&self) -> Result<(), JobError> {
        let size = |bytes: u64| i64::try_from(bytes).is_ok();
        match self {
            Sizes::Listed { sizes } => {
                ensure((1..=MAX_SIZES).contains(&sizes.len()), "sizes.sizes", "must be 1 to 1000")?;
                for (index, one) in sizes.iter().enumerate() {
                    let at = |name: &str| format!("sizes.sizes[{index}].{name}");
                    ensure(size(one.bytes), &at("bytes"), "must be at most 2^63 - 1")?;
                    ensure((1..=MAX_WEIGHT).contains(&one.weight), &at("weight"), "must be 1 to 1,000,000")?;
                }
                Ok(())
            }
            Sizes::Range { min_bytes, max_bytes } | Sizes::Log2 { min_bytes, max_bytes } => {
                let least = u64::from(matches!(self, Sizes::Log2 { .. }));
                ensure(*min_bytes >= least, "sizes.min_bytes", "must be at least 1")?;
                let above = format!("is above max_bytes, which is {max_bytes}");
                ensure(min_bytes <= max_bytes, "sizes.min_bytes", above)?;
                ensure(size(*max_bytes), "sizes.max_bytes", "must be at most 2^63 - 1")
            }
        }
    }
}

impl Job {
    /// The largest file of a tree or object, in bytes.
    pub fn largest_size(&self) -> u64 {
        self.sizes.as_ref().map_or(self.file_size_bytes, Sizes::largest)
    }

    pub(super) fn validate_contents(&self) -> Result<(), JobError> {
        if let Some(sizes) = &self.sizes {
            let many = self.tree.is_some() || self.objects.is_some();
            ensure(many, "sizes", "is for the files of a tree or for objects: say file_size_bytes instead")?;
            sizes.validate()?;
        }
        self.objects.as_ref().map_or(Ok(()), |objects| self.validate_objects(objects))
    }

    fn validate_objects(&self, objects: &Objects) -> Result<(), JobError> {
        ensure((1..=MAX_OBJECTS).contains(&objects.count), "objects.count", "must be 1 to 1,000,000,000")?;
        let part = objects.part_size_bytes.is_none_or(|bytes| bytes >= 1 && i64::try_from(bytes).is_ok());
        ensure(part, "objects.part_size_bytes", "must be 1 to 2^63 - 1")?;
        ensure((1..=1000).contains(&objects.batch), "objects.batch", "must be 1 to 1000")?;
        ensure(self.tree.is_none(), "objects", "a job works on a tree or on objects: leave one out")?;
        ensure(self.layout == Layout::Separate, "layout", "each lane has objects of its own: set it to separate")?;
        ensure(!self.direct, "direct", "objects have no O_DIRECT: set direct to false")?;
        ensure(!self.preallocate, "preallocate", "nothing is preallocated for objects: set it to false")?;
        let known = matches!(self.method, Method::Auto | Method::Protocol);
        ensure(
            known || self.target.rules().accepts_any_method(),
            "method",
            "objects have no methods: use auto or protocol",
        )?;
        if self.target.rules().only_reads() {
            return self.validate_existing(objects);
        }
        self.validate_object_order()
    }

    /// Check a job on existing objects, which are only read and unknown before they are listed.
    fn validate_existing(&self, objects: &Objects) -> Result<(), JobError> {
        let listed = "the sizes of existing objects come from their list";
        ensure(self.file_size_bytes == 0, "file_size_bytes", format!("{listed}: set it to 0"))?;
        ensure(self.sizes.is_none(), "sizes", format!("{listed}: leave it out"))?;
        ensure(objects.part_size_bytes.is_none(), "objects.part_size_bytes", "nothing is put: leave it out")?;
        ensure(!self.reuse_files, "reuse_files", "the objects are those of the target's list: set it to false")?;
        let unknown = "the contents of existing objects are unknown: set it to false";
        ensure(!self.data.verify, "data.verify", unknown)?;
        let all = objects.count.saturating_mul(u64::from(self.all_lanes()));
        let most = format!("all lanes together have {all}, at most {MAX_EXISTING} existing objects");
        ensure(all <= MAX_EXISTING, "objects.count", most)?;
        for (index, phase) in self.phases.iter().enumerate() {
            let reads = |kind: &OpKind| matches!(kind, OpKind::Get | OpKind::Head);
            let plain = matches!(phase.operation, Operation::Get | Operation::Head | Operation::List);
            let mixed = phase.operation == Operation::ObjectMix;
            let only = plain || (mixed && phase.mix.as_ref().is_none_or(|mix| mix.keys().all(reads)));
            let message = "existing objects are only read: use get, head, list, or object_mix of get and head";
            ensure(only, &format!("phases[{index}].operation"), message)?;
        }
        Ok(())
    }

    /// Check that the objects of each phase exist.
    fn validate_object_order(&self) -> Result<(), JobError> {
        let mut there = self.reuse_files;
        for (index, phase) in self.phases.iter().enumerate() {
            let puts = matches!(phase.operation, Operation::Put | Operation::BatchPut | Operation::Prepare);
            let makes = puts || phase.operation.checks_visibility();
            let message = format!("{}: there are no objects: put put or prepare before it", phase.operation.name());
            ensure(there || makes, &format!("phases[{index}].operation"), message)?;
            there = !phase.operation.removes_objects();
        }
        Ok(())
    }

    pub(super) fn validate_object_phase(&self, phase: &Phase, at: &dyn Fn(&str) -> String) -> Result<(), JobError> {
        let operation = phase.operation;
        validate_mix(phase, at)?;
        validate_access(phase, at)?;
        let ranged = phase.range_bytes.is_none() || operation == Operation::Get;
        ensure(ranged, &at("range_bytes"), "is for get: leave it out")?;
        let range = phase.range_bytes.is_none_or(|bytes| bytes >= 1 && i64::try_from(bytes).is_ok());
        ensure(range, &at("range_bytes"), "must be 1 to 2^63 - 1")?;
        if operation != Operation::Prepare {
            let message = if operation.objects() {
                "needs objects: say how many"
            } else {
                "does not work on objects: leave objects out"
            };
            ensure(operation.objects() == self.objects.is_some(), &at("operation"), message)?;
        }
        let parts = self.objects.as_ref().is_some_and(|objects| objects.part_size_bytes.is_some());
        let message = format!("{} puts objects whole: leave it out", operation.name());
        ensure(!(parts && operation.checks_visibility()), "objects.part_size_bytes", message)?;
        let again = phase.runtime_ns.is_none() || !operation.removes_objects();
        ensure(again, &at("runtime_ns"), "each object can be deleted only once: leave it out")?;
        let bounded = phase.time_limit_ns.is_none() || !operation.removes_objects();
        ensure(bounded, &at("time_limit_ns"), "deletes are done whole: leave it out")?;
        let cached = self.objects.is_none() || phase.cache_before != CacheAction::Evict;
        ensure(cached, &at("cache_before"), "objects are in no page cache of a host: use drop or keep")
    }
}

fn validate_access(phase: &Phase, at: &dyn Fn(&str) -> String) -> Result<(), JobError> {
    let name = phase.operation.name();
    let right = match phase.access {
        None | Some(Access::Uniform) => return Ok(()),
        Some(Access::Zipfian { exponent }) => (0.01..=10.0).contains(&exponent),
        Some(Access::Hotspot { operations_percent, objects_percent }) => {
            (1..=99).contains(&operations_percent) && (0.001..=99.0).contains(&objects_percent)
        }
    };
    ensure(
        phase.operation.accesses_any_object(),
        &at("access"),
        format!("{name} goes over the objects: leave it out"),
    )?;
    ensure(right, &at("access"), "must be an exponent of 0.01 to 10, or shares of 1 to 99 percent")
}

fn validate_mix(phase: &Phase, at: &dyn Fn(&str) -> String) -> Result<(), JobError> {
    let (name, can) = (phase.operation.name(), phase.operation.mixable());
    let Some(mix) = &phase.mix else {
        let words: Vec<&str> = can.iter().map(|kind| kind.name()).collect();
        let message = format!("{name} needs the shares in percent of {}", words.join(", "));
        return ensure(can.is_empty(), &at("mix"), message);
    };
    ensure(!can.is_empty(), &at("mix"), format!("{name} is no mixture: leave it out"))?;
    if let Some(kind) = mix.keys().find(|kind| !can.contains(kind)) {
        return ensure(false, &at("mix"), format!("{} cannot be a part of {name}", kind.name()));
    }
    let sum: u32 = mix.values().map(|percent| u32::from(*percent)).sum();
    ensure(sum == 100, &at("mix"), format!("the shares must make 100 percent, not {sum}"))?;
    let share = |kind| mix.get(&kind).copied().unwrap_or(0);
    let lasts = share(OpKind::Delete) <= share(OpKind::Put);
    ensure(lasts, &at("mix"), "more would be deleted than put, until nothing is left: make delete at most put")?;
    let stays = share(OpKind::Unlink) == share(OpKind::Create);
    ensure(stays, &at("mix"), "what is removed is made again: give create and unlink the same share")?;
    let moves = phase.operation != Operation::FileMix || share(OpKind::Read) + share(OpKind::Write) > 0;
    ensure(moves, &at("mix"), "file_mix is measured by what it reads and writes: give read or write a share")
}
