//! `assay-engine methods`: which method `auto` selects.

use crate::places::Patience;
use crate::run::print_line;
use crate::{backends, target};
use anyhow::{bail, Context};
use assay_spec::{MethodAnswer, MethodQuestion};
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    patience: Patience,
    /// JSON with a target, and what kinds of case; - is standard input.
    #[arg(default_value = "-")]
    file: String,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let text = target::text(&arguments.file)?;
    let question: MethodQuestion = serde_json::from_str(&text).context("the question cannot be read")?;
    for (number, shape) in question.shapes.iter().enumerate() {
        shape.validate().with_context(|| format!("shapes[{number}]"))?;
    }
    let place = target::checked(&question.target)?;
    let silent = |error| MethodAnswer { error, silent: true, ..MethodAnswer::default() };
    arguments.patience.watch("trying how operations reach the kernel".to_owned(), silent);
    let answer = match backends::kind(&place).methods(&place, &question.shapes) {
        Ok(found) => MethodAnswer { found, ..MethodAnswer::default() },
        Err(error) => MethodAnswer { error: error.to_string(), ..MethodAnswer::default() },
    };
    print_line(&serde_json::to_string(&answer)?)?;
    if answer.error.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    bail!("{}", answer.error)
}
