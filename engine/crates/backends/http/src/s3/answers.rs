//! What answers say: how an operation went.

use super::xml::{self, Document};
use crate::net::Answer;
use assay_core::{fault_name, named_fault, status_of, Fault, MALFORMED_ANSWER};
use assay_spec::FaultDomain;

/// Why a request was refused. A name that services have for another status (GCS: 400 NotImplemented) means what it says.
pub(crate) fn refusal(answer: &Answer) -> Fault {
    let name = xml::text_of(&answer.kept, "Code").unwrap_or_default();
    let fault = named_fault(FaultDomain::S3, answer.status, &name);
    let usual = status_of(FaultDomain::S3, &name).filter(|_| fault_name(fault) != Some(name.as_str()));
    usual.map_or(fault, |status| named_fault(FaultDomain::S3, status, &name))
}

/// What a refusal says in words; nothing else of it may be shown, as some repeat the string that was to be signed.
pub(crate) fn words(answer: &Answer) -> Option<String> {
    xml::text_of(&answer.kept, "Message")
}

/// The answer, if it went well.
///
/// # Errors
/// Why not.
pub(crate) fn well(answer: Answer) -> Result<Answer, Fault> {
    answer.well(refusal)
}

/// The same of an answer that may be a refusal although its status is good, since the service had begun to answer before
/// it knew (CompleteMultipartUpload, CopyObject).
///
/// # Errors
/// Why not.
pub(crate) fn well_in_the_end(answer: Answer) -> Result<Answer, Fault> {
    let answer = well(answer)?;
    let document = xml::parse(&answer.kept).ok_or(MALFORMED_ANSWER)?;
    if document.root == "Error" {
        return Err(of_name(document.text("Code").unwrap_or_default()));
    }
    Ok(answer)
}

/// A refusal that has only a name.
fn of_name(name: &str) -> Fault {
    named_fault(FaultDomain::S3, status_of(FaultDomain::S3, name).unwrap_or(500), name)
}

/// An answer of this form, or of such as services have for it whose words are not those of the reference.
///
/// # Errors
/// If it is of another one, or a refusal although its status is good.
pub(crate) fn document(answer: &Answer, root: &str) -> Result<Document, Fault> {
    let document = xml::parse(&answer.kept).ok_or(MALFORMED_ANSWER)?;
    match document.root.as_str() {
        "Error" => Err(of_name(document.text("Code").unwrap_or_default())),
        found if found == root || found.ends_with("Result") || found.ends_with("Response") => Ok(document),
        _ => Err(MALFORMED_ANSWER),
    }
}

/// What could not be removed, of a list of removals.
///
/// # Errors
/// Why the first could not.
pub(crate) fn errors_of(document: &Document) -> Result<(), Fault> {
    let error = document.entries("Error").next().map(|error| of_name(error.get("Code").map_or("", String::as_str)));
    error.map_or(Ok(()), Err)
}
