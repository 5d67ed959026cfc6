//! Which credentials are used where several sources have some.

use super::*;

fn environment(pairs: &[(&str, &str)]) -> Environment {
    let usual = [("AWS_EC2_METADATA_DISABLED", "true"), ("HOME", "/nonexistent")];
    usual.iter().chain(pairs).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn the_environment_comes_first_and_must_be_whole() {
    let both = [("AWS_ACCESS_KEY_ID", "A"), ("AWS_SECRET_ACCESS_KEY", "S"), ("AWS_SESSION_TOKEN", "T")];
    let found = find_in(&environment(&both), None).unwrap();
    assert_eq!((found.key.as_str(), found.secret.as_str(), found.token.as_deref()), ("A", "S", Some("T")));
    assert_eq!(format!("{found:?}"), "Credentials from the environment");
    for (one, word) in [(both[0], "AWS_SECRET_ACCESS_KEY is not"), (both[1], "AWS_ACCESS_KEY_ID is not")] {
        let message = find_in(&environment(&[one]), None).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
    let message = find_in(&environment(&[]), None).unwrap_err().to_string();
    assert!(message.contains("there are none on this host: set AWS_ACCESS_KEY_ID"), "{message}");
}

#[test]
fn a_profile_is_found_in_either_file() {
    let folder = std::env::temp_dir().join(format!("assay-credentials-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, contents: &str| {
        let path = folder.join(name);
        std::fs::write(&path, contents).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let shared = write("credentials", "[default]\naws_access_key_id=D\naws_secret_access_key=S\n");
    let config = write(
        "config",
        "[profile dev]\naws_access_key_id=P\naws_secret_access_key=Q\n[profile sso]\nsso_session=x\n[profile e]\nregion=x\n",
    );
    let files = [("AWS_SHARED_CREDENTIALS_FILE", shared.as_str()), ("AWS_CONFIG_FILE", config.as_str())];
    let key = |extra: &[(&str, &str)], profile| {
        let all: Vec<_> = files.iter().chain(extra).copied().collect();
        find_in(&environment(&all), profile).map(|found| found.key).map_err(|error| error.to_string())
    };
    assert_eq!(key(&[], None), Ok("D".to_owned()));
    assert_eq!(key(&[("AWS_PROFILE", "dev")], None), Ok("P".to_owned()));
    // A profile named in the job goes before the environment, which goes before a profile named in the environment.
    let own = [("AWS_ACCESS_KEY_ID", "A"), ("AWS_SECRET_ACCESS_KEY", "S"), ("AWS_PROFILE", "dev")];
    assert_eq!(key(&own, None), Ok("A".to_owned()));
    assert_eq!(key(&own, Some("dev")), Ok("P".to_owned()));
    for (profile, word) in
        [("none", "there is no profile none"), ("sso", "sso_session"), ("e", "has no aws_access_key_id")]
    {
        let message = key(&[], Some(profile)).unwrap_err();
        assert!(message.contains(word), "{message}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
