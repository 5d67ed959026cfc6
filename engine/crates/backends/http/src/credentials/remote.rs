//! Credentials from a service: for a web identity, of a container, of an instance.

use super::{error, text, Credentials, Environment};
use crate::net::{block_on, tls_config, Client, Endpoint, RequestBody};
use assay_core::{fault_message, SetupError};
use hyper::Request;
use percent_encoding::{utf8_percent_encode, NON_ALPHANUMERIC};
use serde::Deserialize;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Longest wait for an answer: these services answer at once or not at all.
const TIMEOUT_NS: u64 = 2_000_000_000;
/// Where an instance gets its metadata (EC2 user guide, instance metadata).
const INSTANCE_URL: &str = "http://169.254.169.254";
/// Where a container of ECS gets its credentials.
const CONTAINER_URL: &str = "http://169.254.170.2";
/// How long a token for an instance's metadata is valid, in seconds.
const TOKEN_TTL_SECONDS: &str = "21600";

/// The credentials of a container or an instance.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CredentialsAnswer {
    access_key_id: String,
    secret_access_key: String,
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    expiration: Option<String>,
}

/// The moment that a text such as `2026-11-24T17:00:00Z` names, the only form that these services write.
fn parse_time(text: &str) -> Option<SystemTime> {
    let number = |from: usize, to: usize| text.get(from..to).and_then(|digits| digits.parse::<i64>().ok());
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // Days since 1970 in the Gregorian calendar, with years that begin in March (Howard Hinnant, chrono-compatible
    // dates).
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let days = of_era * 365 + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 + day - 1;
    let days = era * 146_097 + days - 719_468;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
    u64::try_from(seconds).ok().map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds))
}

impl CredentialsAnswer {
    fn credentials(self, source: &'static str) -> Credentials {
        let expires = self.expiration.as_deref().and_then(parse_time);
        Credentials { key: self.access_key_id, secret: self.secret_access_key, token: self.token, expires, source }
    }
}

/// Sends a request, and returns the answer's text.
fn request_text(method: &str, url: &str, headers: &[(&str, &str)]) -> Result<String, SetupError> {
    let scheme = url.find("://").map_or(0, |at| at + 3);
    let slash = url[scheme..].find('/').map_or(url.len(), |at| scheme + at);
    let (place, path) = (&url[..slash], if slash < url.len() { &url[slash..] } else { "/" });
    let endpoint = Arc::new(Endpoint::find(place, None)?);
    let tls = if endpoint.tls { Some(tls_config(None)?) } else { None };
    let mut request = Request::builder().method(method).uri(path).header("host", endpoint.authority.clone());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(RequestBody::Nothing).map_err(|fault| error(format!("{place}: {fault}")))?;
    let client = Client::new(&[endpoint], tls, TIMEOUT_NS);
    let answer = block_on(client.send(|_| Ok(request)))?;
    let answer = answer.map_err(|fault| error(format!("{place}: {}", fault_message(fault))).because(fault))?;
    if !answer.is_success() {
        return Err(error(format!("{place} answered {}", answer.status)));
    }
    String::from_utf8(answer.body).map_err(|_| error(format!("{place} answered what is no text")))
}

fn parse_credentials(answer: &str, source: &'static str) -> Result<Credentials, SetupError> {
    let answer: CredentialsAnswer =
        serde_json::from_str(answer).map_err(|_| error(format!("{source} gave what cannot be understood")))?;
    Ok(answer.credentials(source))
}

/// Credentials of the container, if the environment names one.
pub(super) fn of_container(environment: &Environment) -> Result<Option<Credentials>, SetupError> {
    let relative = text(environment, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    let full = text(environment, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
    let url = match (relative, full) {
        (Some(path), _) => format!("{CONTAINER_URL}{path}"),
        (None, Some(url)) => url.to_owned(),
        (None, None) => return Ok(None),
    };
    let read = |path: &str| std::fs::read_to_string(path).map_err(|fault| error(format!("{path}: {fault}")));
    let file = text(environment, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE").map(read).transpose()?;
    let token = file.or_else(|| text(environment, "AWS_CONTAINER_AUTHORIZATION_TOKEN").map(str::to_owned));
    let token = token.map(|token| token.trim().to_owned());
    let headers: Vec<(&str, &str)> = token.iter().map(|token| ("authorization", token.as_str())).collect();
    parse_credentials(&request_text("GET", &url, &headers)?, "the container").map(Some)
}

/// Credentials of the instance's role; none where there is no answer, as this is no instance then.
pub(super) fn of_instance(environment: &Environment) -> Result<Option<Credentials>, SetupError> {
    if text(environment, "AWS_EC2_METADATA_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    let base = text(environment, "AWS_EC2_METADATA_SERVICE_ENDPOINT").unwrap_or(INSTANCE_URL).trim_end_matches('/');
    let lifetime = [("x-aws-ec2-metadata-token-ttl-seconds", TOKEN_TTL_SECONDS), ("content-length", "0")];
    let Ok(token) = request_text("PUT", &format!("{base}/latest/api/token"), &lifetime) else { return Ok(None) };
    let headers = [("x-aws-ec2-metadata-token", token.trim())];
    let roles = format!("{base}/latest/meta-data/iam/security-credentials/");
    let Ok(role) = request_text("GET", &roles, &headers) else { return Ok(None) };
    let role = role.lines().next().unwrap_or_default().trim().to_owned();
    parse_credentials(&request_text("GET", &format!("{roles}{role}"), &headers)?, "the instance").map(Some)
}

/// Credentials for the web identity in the environment (Kubernetes, CI services).
pub(super) fn of_web_identity(environment: &Environment) -> Result<Option<Credentials>, SetupError> {
    let (role, file) = (text(environment, "AWS_ROLE_ARN"), text(environment, "AWS_WEB_IDENTITY_TOKEN_FILE"));
    let (Some(role), Some(file)) = (role, file) else { return Ok(None) };
    assume(environment, None, role, file, text(environment, "AWS_ROLE_SESSION_NAME")).map(Some)
}

/// Assumes a role with the token of a file (AWS STS API reference, AssumeRoleWithWebIdentity).
pub(super) fn assume(
    environment: &Environment,
    region: Option<&str>,
    role: &str,
    file: &str,
    session: Option<&str>,
) -> Result<Credentials, SetupError> {
    let token = std::fs::read_to_string(file).map_err(|fault| error(format!("{file}: {fault}")))?;
    let region = text(environment, "AWS_REGION").or(text(environment, "AWS_DEFAULT_REGION")).or(region);
    let service = match (text(environment, "AWS_ENDPOINT_URL_STS"), region) {
        (Some(url), _) => url.trim_end_matches('/').to_owned(),
        (None, Some(region)) => format!("https://sts.{region}.amazonaws.com"),
        (None, None) => "https://sts.amazonaws.com".to_owned(),
    };
    let encoded = |value: &str| utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
    let url = format!(
        "{service}/?Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn={}&RoleSessionName={}&WebIdentityToken={}",
        encoded(role),
        encoded(session.unwrap_or("assay")),
        encoded(token.trim()),
    );
    let answer = request_text("GET", &url, &[("accept", "application/xml")])?;
    let value = |name: &str| crate::s3::xml::text_of(answer.as_bytes(), name);
    let (key, secret) = (value("AccessKeyId"), value("SecretAccessKey"));
    let (Some(key), Some(secret)) = (key, secret) else {
        return Err(error("the security token service gave what cannot be understood"));
    };
    let expires = value("Expiration").as_deref().and_then(parse_time);
    Ok(Credentials { key, secret, token: value("SessionToken"), expires, source: "a web identity" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        let seconds = |text: &str| parse_time(text).map(|at| at.duration_since(UNIX_EPOCH).unwrap().as_secs());
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2000-02-29T12:34:56Z"), Some(951_827_696));
        assert_eq!(seconds("2026-11-24T17:00:00Z"), Some(1_795_539_600));
        assert_eq!(seconds("2026-12-31T23:59:59.123Z"), Some(1_798_761_599));
        assert_eq!(seconds("tomorrow"), None);
    }
}
