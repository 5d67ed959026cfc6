//! Keys of objects. All their characters stand unescaped in URLs.

use assay_core::names::MARKER;
use assay_core::random::mix2;
use assay_spec::{KeyLayout, S3Target};

/// Sets the digits of random keys apart from everything else that is drawn.
const SALT: u64 = 0x0B1E_C75A;

/// First letter of the keys of a lane's objects, and of the copies that the service makes of them.
pub(crate) const LETTERS: [char; 2] = ['o', 'c'];

/// The letter of copies.
pub(crate) const COPY_LETTER: char = LETTERS[1];

/// The letter of keys that mark a bucket as in use.
pub(crate) const USE_LETTER: char = 'u';

/// Key of the mark of a bucket that Assay has made.
pub(crate) const MARK: &str = MARKER;

/// The prefix of all keys of a job.
pub(crate) fn job_prefix(target: &S3Target) -> String {
    format!("{}/{}/", target.root, target.directory)
}

/// The key of an object that exists already, escaped for URLs.
pub(crate) fn encoded(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, PATH).to_string()
}

/// All but slashes and the characters that RFC 3986 calls unreserved.
const PATH: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The prefix of the keys of a lane.
pub(crate) fn lane_prefix(target: &S3Target, letter: char, lane: u32) -> String {
    format!("{}{letter}{lane}.", job_prefix(target))
}

/// The key of a lane's object.
pub(crate) fn key(target: &S3Target, letter: char, lane: u32, number: u64) -> String {
    let start = lane_prefix(target, letter, lane);
    match target.keys {
        KeyLayout::Flat => format!("{start}{number}"),
        KeyLayout::Prefixes { count } => format!("{start}p{}/{number}", number % u64::from(count.max(1))),
        KeyLayout::Random => format!("{start}{}/{number}", random_digits(number)),
    }
}

/// Four hexadecimal digits that look random.
fn random_digits(number: u64) -> String {
    format!("{:04x}", mix2(SALT, number) & 0xFFFF)
}

/// The key of an empty object that marks a bucket as in use by a run, from its first job to its end. A job outside a
/// run has one for each process, by its first lane.
pub(crate) fn use_mark_key(target: &S3Target, lane: u32) -> String {
    match &target.run {
        Some(run) => format!("{}/{run}/{USE_LETTER}", target.root),
        None => format!("{}{USE_LETTER}{lane}", job_prefix(target)),
    }
}

/// A number as keys write it: without a sign or leading zeros.
fn number(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|number: &u64| number.to_string() == digits)
}

/// Letter, lane and number of an object, by its key; none if no job with this target's directory gives that key.
pub(crate) fn owner(target: &S3Target, key: &str) -> Option<(char, u32, u64)> {
    let (letter, lane, number) = parts(target, key)?;
    let same = if letter == USE_LETTER {
        format!("{}{USE_LETTER}{lane}", job_prefix(target))
    } else {
        self::key(target, letter, lane, number)
    };
    (same == key).then_some((letter, lane, number))
}

/// The same for a key of any layout.
fn parts(target: &S3Target, key: &str) -> Option<(char, u32, u64)> {
    let rest = key.strip_prefix(job_prefix(target).as_str())?;
    if let Some(lane) = rest.strip_prefix(USE_LETTER).and_then(number) {
        return Some((USE_LETTER, u32::try_from(lane).ok()?, 0));
    }
    let letter = LETTERS.into_iter().find(|letter| rest.starts_with(*letter))?;
    let (lane, name) = rest[1..].split_once('.')?;
    let lane = u32::try_from(number(lane)?).ok()?;
    Some((letter, lane, number(name.rsplit_once('/').map_or(name, |(_, last)| last))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn names_of_others_are_coded_but_for_their_slashes() {
        assert_eq!(encoded("a b/ü+?%/~-._"), "a%20b/%C3%BC%2B%3F%25/~-._");
    }

    #[test]
    fn keys_are_below_those_of_their_lane() {
        let of = |keys| {
            let target: S3Target = serde_json::from_value(json!({
                "endpoints": ["http://h"], "bucket": "abc", "root": "assay", "directory": "c1-r1", "keys": keys,
            }))
            .unwrap();
            let key = key(&target, 'o', 3, 17);
            assert!(key.starts_with(&lane_prefix(&target, 'o', 3)));
            key
        };
        assert_eq!(of(json!({"layout": "flat"})), "assay/c1-r1/o3.17");
        assert_eq!(of(json!({"layout": "prefixes", "count": 5})), "assay/c1-r1/o3.p2/17");
        let random = of(json!({"layout": "random"}));
        assert!(random.len() == "assay/c1-r1/o3.0000/17".len() && random.ends_with("/17"), "{random}");
    }

    #[test]
    fn keys_that_are_written_otherwise_are_not_ours() {
        let target: S3Target = serde_json::from_value(json!({
            "endpoints": ["http://h"], "bucket": "abc", "root": "team/alice", "directory": "c1-r1",
        }))
        .unwrap();
        for ours in ["o3.17", "c0.0", "u2"] {
            assert!(owner(&target, &format!("team/alice/c1-r1/{ours}")).is_some(), "{ours}");
        }
        for not in [
            "",
            "o",
            "o3",
            "o3.",
            "o3.x",
            "o03.1",
            "o3.01",
            "o+3.1",
            "o3.-1",
            "x3.1",
            "o3.1/",
            "o3.p2/17",
            "o3.p2/",
            "o3.p/2",
            "o3.p3/2",
            "o3.1/../2",
            "../o3.1",
            "o3.\u{661}",
            "O3.1",
            "\u{43e}3.1",
            "o3.1 ",
            "o4294967296.1",
            "o3.99999999999999999999",
            "o3.p1/2/3",
            "o3.0000/17",
            "%6f3.1",
        ] {
            assert_eq!(owner(&target, &format!("team/alice/c1-r1/{not}")), None, "{not}");
        }
        for not in ["team/alice/c1-r10/o3.1", "team/alice/o3.1", "/team/alice/c1-r1/o3.1", "team/alice/c1-r1//o3.1"] {
            assert_eq!(owner(&target, not), None, "{not}");
        }
    }

    proptest! {
        #[test]
        fn a_coded_name_has_only_letters_of_urls_and_is_the_name(name in "(\\PC|[%/ ]){0,40}") {
            let encoded = encoded(&name);
            prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte)), "{}", encoded);
            let back = percent_encoding::percent_decode_str(&encoded).decode_utf8().unwrap();
            prop_assert_eq!(back.as_ref(), name.as_str());
            prop_assert_eq!(encoded.matches('/').count(), name.matches('/').count());
        }

        #[test]
        fn objects_of_different_lanes_and_numbers_have_different_keys(one in (0_u32..30, 0_u64..300), other in (0_u32..30, 0_u64..300), count in 0_u32..9) {
            for keys in [json!({"layout": "flat"}), json!({"layout": "prefixes", "count": count}), json!({"layout": "random"})] {
                let target: S3Target = serde_json::from_value(json!({
                    "endpoints": ["http://h"], "bucket": "abc", "root": "assay", "directory": "c1-r1", "keys": keys,
                })).unwrap();
                let [first, second] = [one, other].map(|(lane, number)| key(&target, 'o', lane, number));
                prop_assert_eq!(first == second, one == other);
                prop_assert_eq!(&encoded(&first), &first);
                prop_assert_eq!(owner(&target, &first), Some(('o', one.0, one.1)));
                prop_assert_eq!(second.starts_with(&lane_prefix(&target, 'o', one.0)), one.0 == other.0);
            }
        }
    }
}
