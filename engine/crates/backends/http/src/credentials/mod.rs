//! Credentials, found where the AWS command line finds them and in its order. They are in no job, and nothing here
//! prints them.

mod profile;
mod provider;
mod remote;

pub(crate) use provider::CredentialProvider;

use assay_core::SetupError;
use aws_smithy_runtime_api::client::identity::Identity;
use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, SystemTime};

/// Credentials are renewed this long before they expire.
const RENEW_BEFORE: Duration = Duration::from_mins(5);

/// An access key and its secret.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    key: String,
    secret: String,
    token: Option<String>,
    /// When they expire; none: never.
    pub(crate) expires: Option<SystemTime>,
    /// Where they were found, for people.
    pub(crate) source: &'static str,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Credentials from {}", self.source)
    }
}

impl Credentials {
    /// Made-up credentials, for a service that does not check them.
    pub(crate) fn made_up() -> Self {
        let (key, secret) = ("nobody".to_owned(), "nothing".to_owned());
        Credentials { key, secret, token: None, expires: None, source: "the engine itself" }
    }

    /// Given credentials, for tests.
    #[cfg(test)]
    pub(crate) fn known(key: &str, secret: &str, token: Option<&str>) -> Self {
        let token = token.map(str::to_owned);
        Credentials { key: key.to_owned(), secret: secret.to_owned(), token, expires: None, source: "a test" }
    }

    /// The parts that must never be shown.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.secret.as_str()).chain(self.token.as_deref())
    }

    /// The credentials in the form that signing needs.
    pub(crate) fn identity(&self) -> Identity {
        let (key, secret, token) = (self.key.clone(), self.secret.clone(), self.token.clone());
        aws_credential_types::Credentials::new(key, secret, token, self.expires, "assay").into()
    }

    /// When new ones must be fetched; none: never.
    pub(crate) fn due(&self) -> Option<SystemTime> {
        self.expires.map(|end| end.checked_sub(RENEW_BEFORE).unwrap_or(SystemTime::UNIX_EPOCH))
    }
}

/// The environment variables of the process.
pub(crate) type Environment = HashMap<String, String>;

fn text<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment.get(name).map(String::as_str).filter(|text| !text.is_empty())
}

/// An error on the way to credentials.
fn error(message: impl Into<String>) -> SetupError {
    SetupError::no_credentials(message)
}

/// The first credentials found: of the environment, unless a profile is named; for a web identity in the environment;
/// of the profile; of the container; of the instance (AWS SDKs and Tools reference, credential providers).
///
/// # Errors
/// If there are none, or a source is configured and does not give them.
pub(crate) fn find(profile: Option<&str>) -> Result<Credentials, SetupError> {
    let environment: Environment = std::env::vars().collect();
    find_in(&environment, profile)
}

fn find_in(environment: &Environment, profile: Option<&str>) -> Result<Credentials, SetupError> {
    let named = profile.or_else(|| text(environment, "AWS_PROFILE"));
    // A profile that the job names goes before the environment.
    if profile.is_none() {
        if let Some(found) = of_environment(environment)? {
            return Ok(found);
        }
        if let Some(found) = remote::of_web_identity(environment)? {
            return Ok(found);
        }
    }
    if let Some(found) = profile::find(environment, named)? {
        return Ok(found);
    }
    if profile.is_none() {
        if let Some(found) = remote::of_container(environment)? {
            return Ok(found);
        }
        if let Some(found) = remote::of_instance(environment)? {
            return Ok(found);
        }
    }
    Err(error(
        "there are none on this host: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile of \
         ~/.aws/credentials",
    ))
}

fn of_environment(environment: &Environment) -> Result<Option<Credentials>, SetupError> {
    let (key, secret) = (text(environment, "AWS_ACCESS_KEY_ID"), text(environment, "AWS_SECRET_ACCESS_KEY"));
    match (key, secret) {
        (None, None) => Ok(None),
        (Some(key), Some(secret)) => Ok(Some(Credentials {
            key: key.to_owned(),
            secret: secret.to_owned(),
            token: text(environment, "AWS_SESSION_TOKEN").map(str::to_owned),
            expires: None,
            source: "the environment",
        })),
        (Some(_), None) => Err(error("AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not: set both")),
        (None, Some(_)) => Err(error("AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not: set both")),
    }
}

#[cfg(test)]
mod tests;
