//! Splits one job among several engines of a host: each gets the same number of its lanes.

use anyhow::{bail, Context};
use assay_spec::Job;
use serde_json::Value;

/// A job in parts.
#[derive(Debug)]
pub(crate) struct Parts {
    /// One job for each engine, each a line.
    pub(crate) jobs: Vec<String>,
    /// The engines are to be started together by this process, because the job itself does not wait for the controller.
    pub(crate) starts: bool,
}

/// Split a job among `engines` engines of host `node`.
///
/// Lanes are numbered across all processes, so that lane i of the whole job is lane i of those of its parts. `node`, if
/// given, replaces the job's own rank.
///
/// # Errors
/// If it is no job, or its lanes cannot be divided evenly.
pub(crate) fn split(text: &str, engines: u32, node: Option<u32>) -> anyhow::Result<Parts> {
    let mut job: Value = serde_json::from_str(text).context("the job cannot be read")?;
    let number = |name: &str, default: u64| job[name].as_u64().unwrap_or(default);
    let (lanes, ranks, rank) = (number("lanes", 1), number("ranks", 1), node.map_or(number("rank", 0), u64::from));
    let engines = u64::from(engines);
    let starts = engines > 1 && job["wait_for_go"] != true;
    if lanes % engines != 0 {
        bail!("lanes: {lanes} lanes cannot be shared out evenly among {engines} engines");
    }
    let Value::Object(fields) = &mut job else { bail!("the job cannot be read: it is no object") };
    let mut parts = Vec::new();
    for engine in 0..engines {
        fields.insert("lanes".to_owned(), (lanes / engines).into());
        fields.insert("ranks".to_owned(), (ranks * engines).into());
        fields.insert("rank".to_owned(), (rank * engines + engine).into());
        if starts {
            fields.insert("wait_for_go".to_owned(), true.into());
        }
        parts.push(serde_json::to_string(fields)?);
    }
    Ok(Parts { jobs: parts, starts })
}

/// The job of the first of `engines` engines as it was before it was split.
pub(crate) fn join(job: &mut Job, engines: u32) {
    job.lanes *= engines;
    job.ranks /= engines;
    job.rank /= engines;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_keep_their_numbers() {
        let whole = r#"{"lanes":6,"ranks":4,"rank":2,"id":"x"}"#;
        let parts: Vec<Value> =
            split(whole, 3, None).unwrap().jobs.iter().map(|part| serde_json::from_str(part).unwrap()).collect();
        let first_lanes: Vec<u64> =
            parts.iter().map(|part| part["rank"].as_u64().unwrap() * part["lanes"].as_u64().unwrap()).collect();
        assert_eq!(first_lanes, [12, 14, 16], "lane i of rank r is lane r x lanes + i");
        assert!(parts.iter().all(|part| part["ranks"] == 12 && part["id"] == "x"));
        let at_five = split(whole, 1, Some(5)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&at_five.jobs[0]).unwrap()["rank"], 5);
    }

    #[test]
    fn what_cannot_be_shared_is_refused() {
        assert!(split(r#"{"lanes":5}"#, 2, None).unwrap_err().to_string().contains("5 lanes"));
        assert!(split("[]", 1, None).is_err() && split("x", 1, None).is_err());
    }
}
