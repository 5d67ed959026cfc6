//! Reading a target without a job.

use crate::backends;
use anyhow::{bail, Context};
use assay_spec::{Group, Layout, Operation, Target, SPEC_VERSION};
use serde_json::{json, Value};
use std::io::Read;

/// A longer text is refused rather than read into memory.
const MAX_TEXT_BYTES: u64 = 32 << 20;

/// The text of a file; - is standard input.
pub(crate) fn text(file: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    if file == "-" {
        std::io::stdin().lock().take(MAX_TEXT_BYTES).read_to_string(&mut text).context("standard input")?;
    } else {
        let input = std::fs::File::open(file).with_context(|| file.to_owned())?;
        input.take(MAX_TEXT_BYTES).read_to_string(&mut text).with_context(|| file.to_owned())?;
    }
    Ok(text)
}

/// Parse a target and check every rule of a job. If `directory` is given, a target that needs one may leave it out.
pub(crate) fn read(text: &str, directory: Option<&str>) -> anyhow::Result<Target> {
    let mut target: Value = serde_json::from_str(text).context("the target cannot be read")?;
    let Some(fields) = target.as_object_mut() else { bail!("the target must be a JSON object") };
    if let (Some(directory), true) = (directory, fields.contains_key("root")) {
        fields.entry("directory").or_insert_with(|| json!(directory));
    }
    let known: Target = serde_json::from_value(target).context("the target cannot be read")?;
    // The rules are those of a job: this one does nothing.
    Ok(crate::job::parse(&min_job(&known, 1)?.to_string())?.target)
}

/// A job that does as little as the target's kind allows.
pub(crate) fn min_job(target: &Target, file_size_bytes: u64) -> anyhow::Result<Value> {
    let able = backends::kind(target).general();
    let only_reads = target.rules().only_reads();
    // None of these needs existing data, unless the target only has such.
    let makes = [Operation::Read, Operation::Create, Operation::Put, Operation::Run, Operation::Replay];
    let least = if only_reads { &[Operation::Head][..] } else { &makes };
    let least = least.iter().copied().find(|one| able.operations.contains(one));
    let Some(operation) = least else { bail!("a {} target can neither read nor make anything: a defect", able.kind) };
    // All lanes share a device.
    let separate = able.layouts.contains(&Layout::Separate);
    let layout = if separate { Layout::Separate } else { Layout::Shared };
    let unit = target.rules().unit_bytes();
    let size = file_size_bytes.next_multiple_of(unit) + target.rules().key_bytes();
    let mut job = json!({
        "spec_version": SPEC_VERSION, "id": "target", "target": target,
        "file_size_bytes": if only_reads { 0 } else { size },
        "record_size_bytes": unit, "phases": [{"operation": operation}], "layout": layout,
    });
    match operation.group() {
        Some(Group::Data) | None => {}
        Some(Group::Names) => job["tree"] = json!({"files": 1}),
        Some(Group::Objects) => job["objects"] = json!({"count": 1}),
        Some(Group::Programs) => job["tree"] = json!({"files": tasks(target)}),
    }
    Ok(job)
}

/// Number of tasks of a command; 1 for all other kinds.
fn tasks(target: &Target) -> usize {
    match target {
        Target::Command(command) => command.tasks.len(),
        _ => 1,
    }
}

/// Check a parsed target.
pub(crate) fn checked(target: &Target) -> anyhow::Result<Target> {
    read(&serde_json::to_string(target)?, None)
}

/// Parse a target of any kind. The directory may be left out, and for an export, share, bucket or table the root;
/// without a kind it is a directory.
pub(crate) fn any(text: &str, root: &str, directory: &str) -> anyhow::Result<Target> {
    let mut target: Value = serde_json::from_str(text).context("the target cannot be read")?;
    let Some(fields) = target.as_object_mut() else { bail!("the target must be a JSON object") };
    if ["export", "shares", "bucket", "table"].iter().any(|word| fields.contains_key(*word)) {
        fields.entry("root").or_insert_with(|| json!(root));
    }
    fields.entry("kind").or_insert_with(|| json!("file"));
    read(&target.to_string(), Some(directory))
}
