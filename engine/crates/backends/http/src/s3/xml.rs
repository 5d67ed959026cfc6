//! Answers in XML: shallow, with names in one namespace.

use quick_xml::events::Event;
use quick_xml::Reader;
use std::collections::HashMap;

/// Deepest nesting that is followed; answers have five levels.
const MAX_LEVELS: usize = 32;
/// Most parser events of one answer: it has up to a thousand entries of some ten texts.
const MAX_EVENTS: usize = 1_000_000;

/// Texts by the names of their elements.
pub(crate) type Texts = HashMap<String, String>;

/// An answer: the texts directly below its root, and those of each element there.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// Name of the root.
    pub(crate) root: String,
    /// Texts directly below the root.
    pub(crate) texts: Texts,
    /// Elements below the root that have child elements: name, and texts of the children.
    pub(crate) entries: Vec<(String, Texts)>,
}

impl Document {
    /// A text below the root; none if it is empty or missing.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// Elements with this name below the root.
    pub(crate) fn entries(&self, name: &str) -> impl Iterator<Item = &Texts> {
        let name = name.to_owned();
        self.entries.iter().filter(move |(known, _)| *known == name).map(|(_, texts)| texts)
    }
}

/// The character that a reference such as `&amp;` stands for.
fn character(reference: &str) -> Option<char> {
    match reference {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        number => {
            let number = number.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

/// Calls `found` for each element at its end, with its path of names from the root and its text.
fn walk(bytes: &[u8], mut found: impl FnMut(&[String], &str)) -> Option<()> {
    let mut reader = Reader::from_reader(bytes);
    let (mut path, mut text) = (Vec::<String>::new(), String::new());
    for _ in 0..MAX_EVENTS {
        if path.len() > MAX_LEVELS {
            return None;
        }
        match reader.read_event().ok()? {
            Event::Start(start) => {
                path.push(start.local_name().as_ref().to_owned());
                text.clear();
            }
            Event::Empty(start) => {
                path.push(start.local_name().as_ref().to_owned());
                found(&path, "");
                path.pop();
            }
            Event::Text(piece) => text.push_str(&piece),
            Event::CData(piece) => text.push_str(&piece),
            Event::GeneralRef(name) => text.extend(character(&name)),
            Event::End(_) => {
                found(&path, &text);
                path.pop()?;
                text.clear();
            }
            Event::Eof => return path.is_empty().then_some(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    None
}

/// Parses an answer; none if it is malformed or cut off.
pub(crate) fn parse(bytes: &[u8]) -> Option<Document> {
    let mut document = Document::default();
    let mut below = Texts::new();
    walk(bytes, |path, text| match path {
        [root] => root.clone_into(&mut document.root),
        [_, name] if below.is_empty() => drop(document.texts.insert(name.clone(), text.to_owned())),
        [_, name] => document.entries.push((name.clone(), std::mem::take(&mut below))),
        [_, _, name] => drop(below.insert(name.clone(), text.to_owned())),
        _ => {}
    })?;
    (!document.root.is_empty()).then_some(document)
}

/// Counts the elements with one name directly below the root, and finds the text of another; none if the answer is
/// malformed.
pub(crate) fn count(bytes: &[u8], name: &str, text: &str) -> Option<(u64, Option<String>)> {
    let (mut count, mut found) = (0, None);
    walk(bytes, |path, value| match path {
        [_, known] if known == name => count += 1,
        [_, known] if known == text && !value.is_empty() => found = Some(value.to_owned()),
        _ => {}
    })?;
    Some((count, found))
}

/// The text of the first element with this name, at any depth.
pub(crate) fn text_of(bytes: &[u8], name: &str) -> Option<String> {
    let mut first = None;
    let _ = walk(bytes, |path, text| {
        if first.is_none() && path.last().is_some_and(|last| last == name) {
            first = Some(text.to_owned());
        }
    });
    first
}

/// A text escaped for XML.
pub(crate) fn escaped(text: &str) -> String {
    quick_xml::escape::escape(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIST: &[u8] = br#"<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix/><IsTruncated>true</IsTruncated>
<Contents><Key>a&amp;b&#x2F;&lt;</Key><Size>3</Size><Owner><ID>me</ID></Owner></Contents>
<Contents><Key>c</Key><Size>0</Size></Contents><NextContinuationToken>t==</NextContinuationToken></ListBucketResult>"#;

    #[test]
    fn a_list_is_read() {
        let found = parse(LIST).unwrap();
        assert_eq!((found.root.as_str(), found.text("IsTruncated")), ("ListBucketResult", Some("true")));
        assert_eq!(found.text("Prefix"), None);
        let keys: Vec<&str> = found.entries("Contents").map(|one| one["Key"].as_str()).collect();
        assert_eq!(keys, ["a&b/<", "c"]);
        assert_eq!(count(LIST, "Contents", "NextContinuationToken"), Some((2, Some("t==".to_owned()))));
        assert_eq!(text_of(LIST, "ID").as_deref(), Some("me"));
    }

    #[test]
    fn malformed_or_truncated_xml_is_no_answer() {
        for bad in [&LIST[..LIST.len() - 5], &LIST[..200], b"", b"hello", b"<a></b>", b"<a>"] {
            assert!(parse(bad).is_none(), "{}", String::from_utf8_lossy(bad));
            assert!(bad.len() < 10 || count(bad, "Contents", "x").is_none());
        }
    }

    #[test]
    fn what_is_deeper_or_longer_than_any_answer_is_none() {
        let deep = |levels: usize| "<a>".repeat(levels) + &"</a>".repeat(levels);
        assert!(parse(deep(MAX_LEVELS).as_bytes()).is_some() && parse(deep(MAX_LEVELS + 1).as_bytes()).is_none());
        let long = format!("<a>{}</a>", "<b/>".repeat(MAX_EVENTS));
        assert!(parse(long.as_bytes()).is_none());
    }

    #[test]
    fn no_beginning_of_an_answer_is_an_answer() {
        for length in 0..LIST.len() {
            assert!(parse(&LIST[..length]).is_none(), "{length} bytes");
            assert!(
                count(&LIST[..length], "Contents", "NextContinuationToken").is_none() || length < 60,
                "{length} bytes"
            );
        }
    }

    #[test]
    fn references_are_characters_or_nothing() {
        let known = [("amp", '&'), ("lt", '<'), ("#65", 'A'), ("#x41", 'A'), ("#X1F600", '😀')];
        assert!(known.into_iter().all(|(name, letter)| character(name) == Some(letter)));
        for wrong in ["", "#", "#x", "nbsp", "#xD800", "#x110000", "#99999999999", "#-1", "65"] {
            assert_eq!(character(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_text_comes_out_as_it_was_put_in(key in "[^\\pC]{0,30}", etag in "[^\\pC]{1,30}") {
            let [key_text, etag_text] = [&key, &etag].map(|text| escaped(text));
            let bytes = format!("<R><Tag>{etag_text}</Tag><One><Key>{key_text}</Key></One></R>");
            let found = parse(bytes.as_bytes()).unwrap();
            prop_assert_eq!(found.text("Tag"), Some(etag.as_str()));
            prop_assert_eq!(&found.entries("One").next().unwrap()["Key"], &key);
            prop_assert_eq!(text_of(bytes.as_bytes(), "Key"), Some(key));
        }

        #[test]
        fn any_answer_is_parsed_or_refused(
            spoilt in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        ) {
            let mut bytes = LIST.to_vec();
            for (at, byte) in spoilt {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let found = parse(&bytes);
            prop_assert!(found.is_none_or(|found| found.entries.len() <= 3 && !found.root.is_empty()));
            let _ = (count(&bytes, "Contents", "NextContinuationToken"), text_of(&bytes, "ID"));
        }
    }
}
