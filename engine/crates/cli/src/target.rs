//! Reading a target on its own.

use anyhow::{bail, Context};
use assay_spec::{Target, SPEC_VERSION};
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

/// A target, with every rule of a job's checked. Where `directory` is given, a target that wants one may leave it out.
pub(crate) fn read(text: &str, directory: Option<&str>) -> anyhow::Result<Target> {
    let mut target: Value = serde_json::from_str(text).context("the target cannot be read")?;
    let Some(fields) = target.as_object_mut() else { bail!("the target must be a JSON object") };
    if let (Some(directory), true) = (directory, fields.contains_key("root")) {
        fields.entry("directory").or_insert_with(|| json!(directory));
    }
    serde_json::from_value::<Target>(target.clone()).context("the target cannot be read")?;
    // The rules are a job's: this one does nothing.
    let job = json!({
        "spec_version": SPEC_VERSION, "id": "target", "target": target, "file_size_bytes": 1, "record_size_bytes": 1,
        "phases": [{"operation": "read"}], "layout": "shared",
    });
    Ok(crate::job::parse(&job.to_string())?.target)
}

/// The same of one that has been read.
pub(crate) fn checked(target: &Target) -> anyhow::Result<Target> {
    read(&serde_json::to_string(target)?, None)
}

/// A target of any kind. The directory may be left out, and of an export its root; without a kind it is a directory.
pub(crate) fn any(text: &str, root: &str, directory: &str) -> anyhow::Result<Target> {
    let mut target: Value = serde_json::from_str(text).context("the target cannot be read")?;
    let Some(fields) = target.as_object_mut() else { bail!("the target must be a JSON object") };
    if fields.contains_key("export") {
        fields.entry("root").or_insert_with(|| json!(root));
    }
    fields.entry("kind").or_insert_with(|| json!("file"));
    read(&target.to_string(), Some(directory))
}
