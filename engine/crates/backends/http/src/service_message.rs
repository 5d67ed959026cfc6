//! The message in a service's refusal, made fit to be shown.

use crate::secrets::signature_in;
use crate::sign::Signer;

/// Most characters that are shown.
const MAX_CHARACTERS: usize = 200;
/// A message with one of these is not shown: some services repeat what a request was signed with.
const SIGNATURE_WORDS: [&str; 5] =
    ["signature=", "credential=", "x-amz-security-token", "aws4-hmac-sha256", "authorization:"];

/// The first line of a service's text, as `first_line` returns it; none if it contains a secret or a part of one. Every
/// text of a service that is shown goes through here.
pub(crate) fn safe_line(text: &str, signer: &Signer) -> Option<String> {
    if signer.finds_secret_in(text) {
        return None;
    }
    // A secret can appear only once the invisible characters are gone.
    first_line(text).filter(|shown| !signer.finds_secret_in(shown))
}

/// The first line, without control characters and cut off where it is long; none if nothing is left. The lines after it
/// may be the string to sign, with all headers (DynamoDB, InvalidSignatureException).
fn first_line(text: &str) -> Option<String> {
    let first = text.trim().split(['\n', '\r']).next().unwrap_or_default();
    let shown: String = first.chars().filter(|letter| !is_invisible(*letter)).collect();
    let small = shown.to_lowercase();
    if signature_in(&shown) || SIGNATURE_WORDS.iter().any(|mark| small.contains(mark)) {
        return None;
    }
    let shown = shown.trim().trim_end_matches('.');
    let mut cut: String = shown.chars().take(MAX_CHARACTERS).collect();
    if cut.len() < shown.len() {
        cut.pop();
        cut.push('…');
    }
    (!cut.is_empty()).then_some(cut)
}

/// Whether a character is invisible, or changes the direction of others.
fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::Credentials;
    use proptest::prelude::*;

    #[test]
    fn a_message_is_one_short_line_without_control_characters() {
        assert_eq!(first_line(" The bucket is not there.\r\n").as_deref(), Some("The bucket is not there"));
        assert_eq!(first_line("a\u{1b}[31mb\u{202e}c\u{0}").as_deref(), Some("a[31mbc"));
        assert_eq!(first_line("\n.\n"), None);
        let long = first_line(&"ä".repeat(300)).unwrap();
        assert_eq!((long.chars().count(), long.ends_with('…')), (200, true));
        assert_eq!(first_line(&"z".repeat(200)).unwrap(), "z".repeat(200));
        assert_eq!(first_line(&"b".repeat(64)), None, "it may be a signature");
    }

    #[test]
    fn no_credentials_or_signatures_are_repeated() {
        let dynamodb = "The signature does not match.\n\nThe Canonical String should have been\n'POST\n/\n\nhost:x";
        assert_eq!(first_line(dynamodb).as_deref(), Some("The signature does not match"));
        assert_eq!(first_line("not valid: 'AWS4-HMAC-SHA256 Credential=A/2026, Signature=ab'"), None);
        let known = Credentials::known("KEY", "hush", Some("token"));
        let signer = Signer::new(Some(&known), "us-east-1", "s3");
        assert_eq!(safe_line("the secret hush is wrong", &signer), None);
        assert_eq!(safe_line("token is wrong", &signer), None);
        assert_eq!(safe_line("KEY is wrong", &signer).as_deref(), Some("KEY is wrong"));
        assert_eq!(safe_line("no", &Signer::new(None, "us-east-1", "s3")).as_deref(), Some("no"));
    }

    #[test]
    fn secrets_are_found_between_invisible_characters() {
        let known = Credentials::known("KEY", "hush", Some("token"));
        let signer = Signer::new(Some(&known), "us-east-1", "s3");
        for text in ["hu\u{200b}sh is wrong", "tok\u{0}en is wrong", "Signa\u{202e}ture=ab", "x: Credential\u{1b}=A"] {
            assert_eq!(safe_line(text, &signer), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_message_becomes_a_line_that_is_fit_to_be_shown(text in "([ -~]|[\u{0}-\u{1f}\u{200b}-\u{2069}\u{7f}-\u{9f}\u{feff}. ]){0,300}") {
            if let Some(shown) = first_line(&text) {
                prop_assert!(!shown.is_empty() && shown.chars().count() <= MAX_CHARACTERS);
                let unseen = "\u{200b}\u{200f}\u{2028}\u{202e}\u{2060}\u{2069}\u{feff}\u{1b}\u{7f}\u{9b}";
                prop_assert!(!shown.contains(|letter| unseen.contains(letter)), "{shown:?}");
                prop_assert!(!shown.ends_with('.') && !shown.starts_with(' '));
            }
        }
    }
}
