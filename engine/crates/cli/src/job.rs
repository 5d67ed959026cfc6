//! Reading a job.

use anyhow::{bail, Context};
use assay_spec::{Job, SPEC_VERSION};
use serde_json::Value;
use std::io::{BufRead, Read};

/// A longer job is refused rather than read into memory.
const MAX_JOB_BYTES: u64 = 4 << 20;

/// The text of a job from a file, or from the first line of standard input with `-`.
pub(crate) fn read(file: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    if file == "-" {
        let mut input = std::io::stdin().lock().take(MAX_JOB_BYTES);
        input.read_line(&mut text).context("standard input")?;
    } else {
        let input = std::fs::File::open(file).with_context(|| file.to_owned())?;
        input.take(MAX_JOB_BYTES).read_to_string(&mut text).with_context(|| file.to_owned())?;
    }
    if text.len() as u64 == MAX_JOB_BYTES {
        bail!("the job is longer than {MAX_JOB_BYTES} bytes");
    }
    Ok(text)
}

/// Parse a job and check every rule that can be checked without looking at the host.
pub(crate) fn parse(text: &str) -> anyhow::Result<Job> {
    // The version comes first, because a job of another version has other fields.
    let version = serde_json::from_str::<Value>(text).ok().and_then(|job| job["spec_version"].as_u64());
    if let Some(version) = version.filter(|version| *version != u64::from(SPEC_VERSION)) {
        bail!("spec_version: this engine speaks version {SPEC_VERSION}, the job version {version}");
    }
    let job: Job = serde_json::from_str(text).context("the job cannot be read")?;
    job.validate()?;
    crate::backends::check_general(&job)?;
    Ok(job)
}
