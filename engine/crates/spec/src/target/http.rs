//! What targets reached over HTTP have in common.

use crate::validate::{absolute_without_dots, ensure, plain_name, ABSOLUTE};
use crate::JobError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How requests are distributed over several endpoints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "Balance")]
pub enum Balance {
    /// Each in turn.
    #[default]
    RoundRobin,
    /// The one with the fewest requests of the lane in flight.
    LeastLoaded,
}

pub(super) fn us_east_1() -> String {
    "us-east-1".to_owned()
}

/// A connection's memory for what it sends and receives.
pub(super) const CONNECTION_BYTES: u64 = 512 << 10;

/// Used instead of endpoints: a service inside the engine's process, which responds at once and stores no contents of
/// objects. It measures the engine itself.
pub const NULL_SERVICE: &str = "null:";

/// True for `http://host`, `https://host:port`, without a path.
fn is_endpoint(text: &str) -> bool {
    let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    host.is_some_and(|host| {
        (1..=255).contains(&host.len())
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-:[]".contains(&b))
            && host.bytes().any(|b| b.is_ascii_alphanumeric())
    })
}

/// True for letters, digits and `. _ -`.
pub(super) fn is_word(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// The message for an invalid prefix of keys.
pub(super) const PREFIX: &str =
    "must be plain names with / between them: each 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot; 256 in all";

/// True for plain names with slashes between them, which no key can be above or next to.
pub(super) fn is_prefix(text: &str) -> bool {
    text.len() <= 256 && text.split('/').all(plain_name)
}

/// Check the endpoints of a service.
pub(super) fn endpoints(texts: &[String]) -> Result<(), JobError> {
    let own = matches!(texts, [one] if one == NULL_SERVICE);
    ensure(
        own || (1..=1024).contains(&texts.len()) && texts.iter().all(|text| is_endpoint(text)),
        "target.endpoints",
        "must be 1 to 1024 such as http://HOST:PORT or https://HOST, without a path",
    )
}

/// Check what requests are signed with: a region, and the name of a profile.
pub(super) fn signing(region: &str, profile: Option<&str>) -> Result<(), JobError> {
    ensure(is_word(region, 128), "target.region", "must be a name such as eu-central-1")?;
    let right = profile.is_none_or(|name| {
        (1..=128).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_graphic() && !b"[]#;".contains(&b))
    });
    ensure(right, "target.profile", "must be the name of a profile")
}

/// Check the path of certificates.
pub(super) fn ca_file(path: Option<&str>) -> Result<(), JobError> {
    ensure(path.is_none_or(absolute_without_dots), "target.ca_file", ABSOLUTE)
}
