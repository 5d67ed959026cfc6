//! Faults and documents in answers.

use super::xml::{self, Document};
use crate::net::Answer;
use assay_core::{fault_name, named_fault, status_of, Fault, MALFORMED_ANSWER};
use assay_spec::FaultDomain;

/// The fault of a refused request. An error code that a service sends with an unusual status (GCS: 400 NotImplemented)
/// counts with its usual one.
pub(crate) fn refusal(answer: &Answer) -> Fault {
    let name = xml::text_of(&answer.body, "Code").unwrap_or_default();
    let fault = named_fault(FaultDomain::S3, answer.status, &name);
    let usual = status_of(FaultDomain::S3, &name).filter(|_| fault_name(fault) != Some(name.as_str()));
    usual.map_or(fault, |status| named_fault(FaultDomain::S3, status, &name))
}

/// The message in a refusal. Nothing else of it may be shown, as some services repeat the string to sign.
pub(crate) fn refusal_message(answer: &Answer) -> Option<String> {
    xml::text_of(&answer.body, "Message")
}

/// Returns the answer, if it is a success.
pub(crate) fn success(answer: Answer) -> Result<Answer, Fault> {
    answer.into_success(refusal)
}

/// Like `success`, for requests whose answer may hold an error although its status is good, since the service begins to
/// answer before it knows (CompleteMultipartUpload, CopyObject).
pub(crate) fn success_by_body(answer: Answer) -> Result<Answer, Fault> {
    let answer = success(answer)?;
    let document = xml::parse(&answer.body).ok_or(MALFORMED_ANSWER)?;
    if document.root == "Error" {
        return Err(of_name(document.text("Code").unwrap_or_default()));
    }
    Ok(answer)
}

/// The fault of an error code without a status.
fn of_name(name: &str) -> Fault {
    named_fault(FaultDomain::S3, status_of(FaultDomain::S3, name).unwrap_or(500), name)
}

/// The document in an answer, if its root has this name, or one that services use in its place.
///
/// # Errors
/// If it has another root, or is an error although its status is good.
pub(crate) fn document(answer: &Answer, root: &str) -> Result<Document, Fault> {
    let document = xml::parse(&answer.body).ok_or(MALFORMED_ANSWER)?;
    match document.root.as_str() {
        "Error" => Err(of_name(document.text("Code").unwrap_or_default())),
        found if found == root || found.ends_with("Result") || found.ends_with("Response") => Ok(document),
        _ => Err(MALFORMED_ANSWER),
    }
}

/// Checks the errors in the answer to a list of removals.
///
/// # Errors
/// The fault of the first error.
pub(crate) fn errors_of(document: &Document) -> Result<(), Fault> {
    let error = document.entries("Error").next().map(|error| of_name(error.get("Code").map_or("", String::as_str)));
    error.map_or(Ok(()), Err)
}
