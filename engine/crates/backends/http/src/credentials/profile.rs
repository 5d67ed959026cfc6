//! The shared files: `~/.aws/credentials` and `~/.aws/config` (AWS SDKs and Tools reference, shared files).

use super::{error, remote, text, Credentials, Environment};
use assay_core::SetupError;
use std::collections::HashMap;

/// Names and values of one profile.
type Profile = HashMap<String, String>;

/// The profiles of a file; in the `config` file those headed `profile NAME`, and `default`.
fn profiles(contents: &str, config: bool) -> HashMap<String, Profile> {
    let mut all: HashMap<String, Profile> = HashMap::new();
    let mut current: Option<String> = None;
    for line in contents.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        if let Some(head) = bare.strip_prefix('[') {
            let head = head.split(']').next().unwrap_or_default().trim();
            let named = head.strip_prefix("profile").filter(|rest| rest.starts_with([' ', '\t'])).map(str::trim);
            current = match (config, named) {
                (true, Some(name)) => Some(name.trim_matches('"').to_owned()),
                (true, None) if head == "default" => Some(head.to_owned()),
                // Sections for sessions and services, which are no profiles.
                (true, None) => None,
                (false, _) => Some(head.to_owned()),
            };
            continue;
        }
        // Indented lines are the values of a group, under the name before them.
        let nested = line.starts_with([' ', '\t']);
        let (Some(profile), Some((name, value))) = (&current, bare.split_once('=')) else { continue };
        if !nested {
            let profile = all.entry(profile.clone()).or_default();
            profile.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    all
}

fn read(environment: &Environment, variable: &str, name: &str) -> Result<String, SetupError> {
    let path = match (text(environment, variable), text(environment, "HOME")) {
        (Some(path), _) => path.to_owned(),
        (None, Some(home)) => format!("{home}/.aws/{name}"),
        (None, None) => return Ok(String::new()),
    };
    match std::fs::read_to_string(&path) {
        Ok(contents) => Ok(contents),
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(fault) => Err(error(format!("{path}: {fault}"))),
    }
}

/// Credentials of the requested profile, or of `default`; none if `default` has none.
///
/// # Errors
/// If the requested profile is missing, or gives credentials in a way that is not supported.
pub(super) fn find(environment: &Environment, requested: Option<&str>) -> Result<Option<Credentials>, SetupError> {
    let name = requested.unwrap_or("default");
    let config = profiles(&read(environment, "AWS_CONFIG_FILE", "config")?, true).remove(name);
    let shared = profiles(&read(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials")?, false).remove(name);
    if config.is_none() && shared.is_none() {
        let missing = format!("there is no profile {name} in ~/.aws/credentials or ~/.aws/config");
        return if requested.is_some() { Err(error(missing)) } else { Ok(None) };
    }
    let mut profile = config.unwrap_or_default();
    profile.extend(shared.unwrap_or_default());
    let value = |name: &str| profile.get(name).map(String::as_str).filter(|value| !value.is_empty());
    if let (Some(key), Some(secret)) = (value("aws_access_key_id"), value("aws_secret_access_key")) {
        return Ok(Some(Credentials {
            key: key.to_owned(),
            secret: secret.to_owned(),
            token: value("aws_session_token").map(str::to_owned),
            expires: None,
            source: "a profile",
        }));
    }
    if let (Some(role), Some(file)) = (value("role_arn"), value("web_identity_token_file")) {
        let session = value("role_session_name");
        return remote::assume(environment, value("region"), role, file, session).map(Some);
    }
    let other = ["sso_session", "sso_start_url", "credential_process", "source_profile", "credential_source"];
    if let Some(way) = other.into_iter().find(|way| value(way).is_some()) {
        return Err(error(format!(
            "profile {name} has {way}, which is not supported: run `aws configure export-credentials --profile {name} \
             --format env` and set what it prints"
        )));
    }
    if requested.is_some() {
        return Err(error(format!("profile {name} has no aws_access_key_id and aws_secret_access_key")));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn files_are_read_as_the_command_line_reads_them() {
        let config = "# mine\n[default]\nregion = eu-west-1\n[profile dev]\nregion=us-east-2\ns3 =\n  max_queue = 1\n\
                      ; old\n[sso-session dev]\nsso_start_url = x\n[profile  \"two words\"]\nrole_arn = a\n";
        let found = profiles(config, true);
        assert_eq!(found.len(), 3);
        assert_eq!(found["dev"]["region"], "us-east-2");
        assert!(!found["dev"].contains_key("max_queue"));
        assert_eq!(found["two words"]["role_arn"], "a");
        let shared = "[dev]\nAWS_Access_Key_Id = A\naws_secret_access_key = s=/+\n";
        let found = profiles(shared, false);
        assert_eq!(
            (found["dev"]["aws_access_key_id"].as_str(), found["dev"]["aws_secret_access_key"].as_str()),
            ("A", "s=/+")
        );
    }

    proptest! {
        #[test]
        fn what_is_written_into_a_profile_is_read(
            name in "[a-z][a-z0-9-]{0,9}",
            values in proptest::collection::hash_map("[a-z_]{1,9}", "[!-~]{1,20}", 0..5),
            config: bool,
        ) {
            let head = if config && name != "default" { format!("[profile {name}]") } else { format!("[{name}]") };
            let lines = values.iter().map(|(name, value)| format!("{name} = {value}\n"));
            let text = format!("[other]\nx = 1\n\n{head}\n{}[services {name}]\ny = 2\n", lines.collect::<String>());
            prop_assert_eq!(profiles(&text, config).remove(&name).unwrap_or_default(), values);
        }

        #[test]
        fn any_file_is_read(text in "([\\[\\]=#; \\n\t\"a-z]|profile|\\PC){0,80}", config: bool) {
            for (name, profile) in profiles(&text, config) {
                prop_assert!(text.contains(&name));
                prop_assert!(profile.values().all(|value| text.contains(value.as_str()) && value.trim() == value));
            }
        }
    }
}
