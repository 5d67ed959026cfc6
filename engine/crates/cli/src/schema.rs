//! `assay-engine schema`: the contract as JSON Schema.

use crate::run::print_line;
use assay_spec::{
    Capabilities, Claim, Counters, Event, Job, LeftJob, MethodAnswer, MethodQuestion, PlaceAnswer, TraceContents,
};
use schemars::{generate::SchemaSettings, JsonSchema, SchemaGenerator};
use std::process::ExitCode;

/// The whole contract in one schema, from which the workbench's classes are generated.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Contract {
    job: Job,
    event: Event,
    capabilities: Capabilities,
    claim: Claim,
    place: PlaceAnswer,
    counters: Counters,
    left_job: LeftJob,
    method_question: MethodQuestion,
    method_answer: MethodAnswer,
    trace_contents: TraceContents,
}

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// job, event, capabilities, claim, place (its answer), or contract for all in one.
    what: String,
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let schema = match arguments.what.as_str() {
        "job" => generator().into_root_schema_for::<Job>(),
        "event" => generator().into_root_schema_for::<Event>(),
        "capabilities" => generator().into_root_schema_for::<Capabilities>(),
        "claim" => generator().into_root_schema_for::<Claim>(),
        "place" => generator().into_root_schema_for::<PlaceAnswer>(),
        "contract" => generator().into_root_schema_for::<Contract>(),
        other => {
            anyhow::bail!("there is no schema {other:?}: use job, event, capabilities, claim, place or contract")
        }
    };
    print_line(&serde_json::to_string_pretty(&schema)?)?;
    Ok(ExitCode::SUCCESS)
}
