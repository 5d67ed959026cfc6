//! Keys of objects. All letters of them stand in URLs as they are.

use assay_core::names::MARKER;
use assay_core::random::mix2;
use assay_spec::{KeyLayout, S3Target};

/// Tells the digits of random keys from everything else that is drawn.
const SALT: u64 = 0x0B1E_C75A;

/// First letter of the keys of a lane's objects, and of those that the service makes of them.
pub(crate) const LETTERS: [char; 2] = ['o', 'c'];

/// The second of them.
pub(crate) const COPIES: char = LETTERS[1];

/// That of the keys that say that a job works in a bucket.
pub(crate) const USE: char = 'u';

/// Key of the mark of a bucket that Assay has made.
pub(crate) const MARK: &str = MARKER;

/// What all keys of a job begin with.
pub(crate) fn folder(target: &S3Target) -> String {
    format!("{}/{}/", target.root, target.directory)
}

/// Key of an object that was there before, as it stands in URLs.
pub(crate) fn coded(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, PATH).to_string()
}

/// All but what RFC 3986 calls unreserved, and slashes.
const PATH: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// What the keys of a lane begin with.
pub(crate) fn of_lane(target: &S3Target, letter: char, lane: u32) -> String {
    format!("{}{letter}{lane}.", folder(target))
}

/// Key of a lane's object.
pub(crate) fn key(target: &S3Target, letter: char, lane: u32, number: u64) -> String {
    let start = of_lane(target, letter, lane);
    match target.keys {
        KeyLayout::Flat => format!("{start}{number}"),
        KeyLayout::Prefixes { count } => format!("{start}p{}/{number}", number % u64::from(count.max(1))),
        KeyLayout::Random => format!("{start}{}/{number}", random_digits(number)),
    }
}

/// Four digits in hex that look random.
fn random_digits(number: u64) -> String {
    format!("{:04x}", mix2(SALT, number) & 0xFFFF)
}

/// Key of an object that is nothing but a sign that a run works in the bucket, from its first job to its end; of a job that
/// belongs to no run, that of a process, by its first lane.
pub(crate) fn of_use(target: &S3Target, lane: u32) -> String {
    match &target.run {
        Some(run) => format!("{}/{run}/{USE}", target.root),
        None => format!("{}{USE}{lane}", folder(target)),
    }
}

/// A number as keys have it: no sign, and no zero before it.
fn number(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|number: &u64| number.to_string() == digits)
}

/// Letter, lane and number of an object of this job, by its key; none of a key that no job of this name gives.
pub(crate) fn owner(target: &S3Target, key: &str) -> Option<(char, u32, u64)> {
    let (letter, lane, number) = parts(target, key)?;
    let same =
        if letter == USE { format!("{}{USE}{lane}", folder(target)) } else { self::key(target, letter, lane, number) };
    (same == key).then_some((letter, lane, number))
}

/// The same of a key in any of the layouts.
fn parts(target: &S3Target, key: &str) -> Option<(char, u32, u64)> {
    let rest = key.strip_prefix(folder(target).as_str())?;
    if let Some(lane) = rest.strip_prefix(USE).and_then(number) {
        return Some((USE, u32::try_from(lane).ok()?, 0));
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
        assert_eq!(coded("a b/ü+?%/~-._"), "a%20b/%C3%BC%2B%3F%25/~-._");
    }

    #[test]
    fn keys_are_below_those_of_their_lane() {
        let of = |keys| {
            let target: S3Target = serde_json::from_value(json!({
                "endpoints": ["http://h"], "bucket": "abc", "root": "assay", "directory": "c1-r1", "keys": keys,
            }))
            .unwrap();
            let key = key(&target, 'o', 3, 17);
            assert!(key.starts_with(&of_lane(&target, 'o', 3)));
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
            let coded = coded(&name);
            prop_assert!(coded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte)), "{}", coded);
            let back = percent_encoding::percent_decode_str(&coded).decode_utf8().unwrap();
            prop_assert_eq!(back.as_ref(), name.as_str());
            prop_assert_eq!(coded.matches('/').count(), name.matches('/').count());
        }

        #[test]
        fn objects_of_different_lanes_and_numbers_have_different_keys(one in (0_u32..30, 0_u64..300), other in (0_u32..30, 0_u64..300), count in 0_u32..9) {
            for keys in [json!({"layout": "flat"}), json!({"layout": "prefixes", "count": count}), json!({"layout": "random"})] {
                let target: S3Target = serde_json::from_value(json!({
                    "endpoints": ["http://h"], "bucket": "abc", "root": "assay", "directory": "c1-r1", "keys": keys,
                })).unwrap();
                let [first, second] = [one, other].map(|(lane, number)| key(&target, 'o', lane, number));
                prop_assert_eq!(first == second, one == other);
                prop_assert_eq!(&coded(&first), &first);
                prop_assert_eq!(owner(&target, &first), Some(('o', one.0, one.1)));
                prop_assert_eq!(second.starts_with(&of_lane(&target, 'o', one.0)), one.0 == other.0);
            }
        }
    }
}
