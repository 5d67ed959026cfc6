//! What a service says of a refusal in its own words, made fit to be shown.

use crate::secrets::signature_in;
use crate::sign::Signer;

/// Letters that are kept.
const MOST: usize = 200;
/// What a sentence is left out for: some services repeat what a request was signed with.
const OF_SIGNATURES: [&str; 5] =
    ["signature=", "credential=", "x-amz-security-token", "aws4-hmac-sha256", "authorization:"];

/// The first line of what a service says, as `line`; none if it holds what the request was signed with, or some of it. All
/// that a service says, and that is shown, goes through here.
pub(crate) fn sentence(text: &str, signer: &Signer) -> Option<String> {
    if signer.is_told_in(text) {
        return None;
    }
    // Without the letters that are not seen it may be there for the first time.
    line(text).filter(|shown| !signer.is_told_in(shown))
}

/// The first line, without letters that steer a terminal and cut off where it is long; none if nothing is left. What
/// comes after it may be the string to sign, with all headers (DynamoDB, InvalidSignatureException).
fn line(text: &str) -> Option<String> {
    let first = text.trim().split(['\n', '\r']).next().unwrap_or_default();
    let shown: String = first.chars().filter(|letter| !steers(*letter)).collect();
    let small = shown.to_lowercase();
    if signature_in(&shown) || OF_SIGNATURES.iter().any(|mark| small.contains(mark)) {
        return None;
    }
    let shown = shown.trim().trim_end_matches('.');
    let mut kept: String = shown.chars().take(MOST).collect();
    if kept.len() < shown.len() {
        kept.pop();
        kept.push('…');
    }
    (!kept.is_empty()).then_some(kept)
}

/// A letter that is not seen, or turns the direction of others.
fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::Credentials;
    use proptest::prelude::*;

    #[test]
    fn a_sentence_is_one_short_line_without_what_steers_terminals() {
        assert_eq!(line(" The bucket is not there.\r\n").as_deref(), Some("The bucket is not there"));
        assert_eq!(line("a\u{1b}[31mb\u{202e}c\u{0}").as_deref(), Some("a[31mbc"));
        assert_eq!(line("\n.\n"), None);
        let long = line(&"ä".repeat(300)).unwrap();
        assert_eq!((long.chars().count(), long.ends_with('…')), (200, true));
        assert_eq!(line(&"z".repeat(200)).unwrap(), "z".repeat(200));
        assert_eq!(line(&"b".repeat(64)), None, "it may be a signature");
    }

    #[test]
    fn nothing_that_signs_is_repeated() {
        let dynamodb = "The signature does not match.\n\nThe Canonical String should have been\n'POST\n/\n\nhost:x";
        assert_eq!(line(dynamodb).as_deref(), Some("The signature does not match"));
        assert_eq!(line("not valid: 'AWS4-HMAC-SHA256 Credential=A/2026, Signature=ab'"), None);
        let known = Credentials::known("KEY", "hush", Some("token"));
        let signer = Signer::new(Some(&known), "us-east-1", "s3");
        assert_eq!(sentence("the secret hush is wrong", &signer), None);
        assert_eq!(sentence("token is wrong", &signer), None);
        assert_eq!(sentence("KEY is wrong", &signer).as_deref(), Some("KEY is wrong"));
        assert_eq!(sentence("no", &Signer::new(None, "us-east-1", "s3")).as_deref(), Some("no"));
    }

    #[test]
    fn what_signs_is_found_behind_letters_that_are_not_seen() {
        let known = Credentials::known("KEY", "hush", Some("token"));
        let signer = Signer::new(Some(&known), "us-east-1", "s3");
        for told in ["hu\u{200b}sh is wrong", "tok\u{0}en is wrong", "Signa\u{202e}ture=ab", "x: Credential\u{1b}=A"] {
            assert_eq!(sentence(told, &signer), None, "{told:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_a_service_says_is_a_line_that_is_fit_to_be_shown(text in "([ -~]|[\u{0}-\u{1f}\u{200b}-\u{2069}\u{7f}-\u{9f}\u{feff}. ]){0,300}") {
            if let Some(shown) = line(&text) {
                prop_assert!(!shown.is_empty() && shown.chars().count() <= MOST);
                let unseen = "\u{200b}\u{200f}\u{2028}\u{202e}\u{2060}\u{2069}\u{feff}\u{1b}\u{7f}\u{9b}";
                prop_assert!(!shown.contains(|letter| unseen.contains(letter)), "{shown:?}");
                prop_assert!(!shown.ends_with('.') && !shown.starts_with(' '));
            }
        }
    }
}
