//! Finds secrets in what a service sends: whole or in part, in any encoding.

use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use percent_encoding::percent_decode;
use std::collections::HashSet;

/// So many letters and digits of a secret in a row count as the secret.
const PART_LENGTH: usize = 8;
/// A secret with fewer than `PART_LENGTH` letters and digits is looked for as a whole; one with fewer than this is not.
const MIN_LENGTH: usize = 3;
/// Most encodings, one within the other, that are taken off a text.
const MAX_LAYERS: usize = 4;
/// So many hexadecimal digits in a row may be a signature.
const SIGNATURE_DIGITS: usize = 32;

/// Parts of secrets: only letters and digits, in lower case, since other characters can be encoded in many ways.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    parts: HashSet<[u8; PART_LENGTH]>,
    short: Vec<Vec<u8>>,
}

fn letters(text: &[u8]) -> Vec<u8> {
    text.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect()
}

/// All parts of a text.
fn parts(letters: &[u8]) -> impl Iterator<Item = [u8; PART_LENGTH]> + '_ {
    letters.windows(PART_LENGTH).filter_map(|part| part.try_into().ok())
}

/// The character that `&#`, `\u` and the like stand for.
fn character(digits: &[u8], radix: u32) -> Option<char> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok().and_then(char::from_u32)
}

/// The character that a text begins with, if it is escaped as in JSON or XML, and the length of the escape.
fn escaped(text: &[u8]) -> Option<(char, usize)> {
    if let Some(rest) = text.strip_prefix(b"\\u") {
        return Some((character(rest.get(..4)?, 16)?, 6));
    }
    let end = text.iter().take(10).position(|byte| *byte == b';')?;
    let name = text[..end].strip_prefix(b"&")?;
    let found = match name.strip_prefix(b"#") {
        Some(number) => match number.strip_prefix(b"x").or(number.strip_prefix(b"X")) {
            Some(hex) => character(hex, 16)?,
            None => character(number, 10)?,
        },
        None if name == b"amp" => '&',
        // Names of other characters, which are no letters.
        None => ' ',
    };
    Some((found, end + 1))
}

/// A text with one layer of encoding taken off.
fn decoded(text: &[u8]) -> Vec<u8> {
    let text: Vec<u8> = percent_decode(text).collect();
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    while at < text.len() {
        if let Some((letter, length)) = escaped(&text[at..]) {
            out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            at += length;
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

impl Secrets {
    /// The given secrets, also in hexadecimal and in base64 at any alignment.
    pub(crate) fn of<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut found = Secrets::default();
        for secret in secrets {
            found.add(secret.as_bytes());
            let hex = secret.bytes().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
            found.add(&hex.collect::<Vec<_>>());
            for before in 0..3 {
                let encoded = STANDARD.encode([vec![0; before], secret.as_bytes().to_vec()].concat());
                // The first and last characters depend on the bytes around the secret.
                let inner =
                    encoded.as_bytes().get(before.min(1) * 4..encoded.len().saturating_sub(4)).unwrap_or_default();
                found.add(inner);
            }
        }
        found
    }

    fn add(&mut self, secret: &[u8]) {
        let letters = letters(secret);
        self.parts.extend(parts(&letters));
        if (MIN_LENGTH..PART_LENGTH).contains(&letters.len()) {
            self.short.push(letters);
        }
    }

    /// Whether a text contains a secret or a part of one.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        let mut text = text.as_bytes().to_vec();
        for _ in 0..MAX_LAYERS {
            let shown = letters(&text);
            let short = |secret: &Vec<u8>| shown.windows(secret.len()).any(|part| part == secret.as_slice());
            if parts(&shown).any(|part| self.parts.contains(&part)) || self.short.iter().any(short) {
                return true;
            }
            let plain = decoded(&text);
            if plain == text {
                return false;
            }
            text = plain;
        }
        false
    }
}

/// Whether a text contains what may be a signature: many hexadecimal digits in a row.
pub(crate) fn signature_in(text: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_hexdigit()).any(|digits| digits.len() >= SIGNATURE_DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TOKEN: &str = "IQoJb3JpZ2luX2VjEJz//////////wEaCXVzLWVhc3QtMSJHMEUCIQDh+k/Zq7==";

    /// The encodings in which services repeat what they were sent.
    fn encodings(secret: &str) -> Vec<String> {
        let percent = |upper: bool| -> String {
            let code = |byte: u8| if upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") };
            secret
                .bytes()
                .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { code(byte) })
                .collect()
        };
        let each =
            |form: &dyn Fn(u32) -> String| -> String { secret.chars().map(|letter| form(letter as u32)).collect() };
        let base = STANDARD.encode(secret);
        vec![
            secret.to_owned(),
            format!("\"{secret}\""),
            secret.to_lowercase(),
            percent(true),
            percent(false),
            percent(true).replace('%', "%25"),
            each(&|code| format!("%{code:02x}")),
            each(&|code| format!("&#{code};")),
            each(&|code| format!("&amp;#x{code:X};")),
            each(&|code| format!("\\u{code:04x}")),
            secret.replace('/', "\\/"),
            secret.replace('+', "&#43;").replace('=', "&amp;#x3d;"),
            base.clone(),
            STANDARD.encode(format!("a{secret}")),
            STANDARD.encode(format!("{{\"token\":\"{secret}\"}}")),
            base.replace('=', ""),
            secret.chars().flat_map(|letter| [letter, '\u{200b}']).collect(),
            secret.bytes().fold(String::new(), |text, byte| text + &format!("{byte:02X}")),
        ]
    }

    #[test]
    fn a_secret_is_found_in_every_encoding() {
        let secrets = Secrets::of([TOKEN, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"]);
        for text in encodings(TOKEN) {
            assert!(secrets.are_in(&format!("The token {text} is not valid")), "{text}");
        }
        for fine in [
            "The request signature we calculated does not match",
            "The specified bucket does not exist",
            "Rate exceeded",
        ] {
            assert!(!secrets.are_in(fine), "{fine}");
        }
    }

    #[test]
    fn signatures_are_many_digits_in_a_row() {
        assert!(signature_in(&format!("x {} y", "0fA9".repeat(8))) && !signature_in(&"0fA9-".repeat(8)));
    }

    proptest! {
        #[test]
        fn a_part_of_a_secret_is_found(secret in "[A-Za-z0-9/+]{40,80}", from in 0_usize..20, length in 20_usize..40, encoding in 0_usize..12) {
            let secrets = Secrets::of([secret.as_str()]);
            let part: String = secret.chars().skip(from).take(length).collect();
            let whole = letters(part.as_bytes()).len() >= PART_LENGTH * 2;
            let text = format!("no: {}…", encodings(&part)[encoding]);
            prop_assert!(!whole || secrets.are_in(&text), "{}", text);
        }

        #[test]
        fn any_text_can_be_searched(text in "([ -~]|[%&;\\\\u0-9a-f#x]){0,200}") {
            let _ = Secrets::of([TOKEN, "hush"]).are_in(&text);
        }
    }
}
