//! Reading a target on its own.

use anyhow::{bail, Context};
use assay_spec::{FileTarget, NfsTarget, Target, SPEC_VERSION};
use serde_json::{json, Value};
use std::io::Read;

/// A text longer than this is refused rather than read into memory.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// What a file holds; - is standard input.
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

/// A target, with every rule of a job's checked. `kind` may be left out, and where `directory` is given also the
/// directory.
fn read(text: &str, kind: &str, directory: Option<&str>) -> anyhow::Result<Target> {
    let mut target: Value = serde_json::from_str(text).context("the target cannot be read")?;
    let Some(fields) = target.as_object_mut() else { bail!("the target must be a JSON object") };
    fields.entry("kind").or_insert_with(|| json!(kind));
    if let Some(directory) = directory {
        fields.entry("directory").or_insert_with(|| json!(directory));
    }
    // The rules are a job's: this one does nothing.
    let job = json!({
        "spec_version": SPEC_VERSION, "id": "target", "target": target, "file_size_bytes": 1, "record_size_bytes": 1,
        "phases": [{"operation": "read"}], "layout": "shared",
    });
    Ok(crate::job::parse(&job.to_string())?.target)
}

/// The same of one that has been read.
pub(crate) fn checked(target: &Target) -> anyhow::Result<Target> {
    read(&serde_json::to_string(target)?, "file", None)
}

/// A target of any kind. The directory may be left out, and of an export its root.
pub(crate) fn any(text: &str, root: &str, directory: &str) -> anyhow::Result<Target> {
    let mut target: Value = serde_json::from_str(text).context("the target cannot be read")?;
    if target["kind"] == "nfs" {
        target.as_object_mut().map(|fields| fields.entry("root").or_insert_with(|| json!(root)));
    }
    let named = matches!(target["kind"].as_str(), None | Some("file" | "nfs"));
    read(&target.to_string(), "file", named.then_some(directory))
}

/// The same of an NFS target.
pub(crate) fn nfs(text: &str, directory: Option<&str>) -> anyhow::Result<NfsTarget> {
    match read(text, "nfs", directory)? {
        Target::Nfs(target) => Ok(target),
        _ => bail!("the target must be of kind nfs or file"),
    }
}

/// The same of a directory.
pub(crate) fn file(text: &str, directory: Option<&str>) -> anyhow::Result<FileTarget> {
    match read(text, "file", directory)? {
        Target::File(target) => Ok(target),
        _ => bail!("the target must be of kind file"),
    }
}
