//! One line of a trace.

use assay_core::fault_name;
use assay_spec::Fault;
use std::borrow::Cow;
use std::str::FromStr;
use std::sync::OnceLock;

/// The most that one call moves on Linux, in bytes (read(2)).
const MAX_LENGTH: u64 = 0x7fff_f000;
/// Longest path of a file, in bytes: with the job's directory it must stay below the kernel's limit.
const MAX_NAME_BYTES: usize = 3072;
/// Longest name in a directory (NAME_MAX).
const MAX_PART_BYTES: usize = 255;
/// Greatest errno that has a name.
const MAX_ERRNO: i32 = 133;

macro_rules! actions {
    ($($(#[$doc:meta])* $action:ident $name:literal;)*) => {
        /// What an operation does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub(crate) enum Action {
            $($(#[$doc])* $action,)*
        }

        impl Action {
            /// All actions; an action's number is its index.
            pub(crate) const ALL: &[Action] = &[$(Action::$action),*];

            /// Its word in traces.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Action::$action => $name),* }
            }
        }
    };
}

actions! {
    Open "open";
    Close "close";
    Read "read";
    Write "write";
    Fsync "fsync";
    Fdatasync "fdatasync";
    Truncate "truncate";
    Stat "stat";
    List "list";
    Mkdir "mkdir";
    Rmdir "rmdir";
    Unlink "unlink";
    Rename "rename";
    Link "link";
    Symlink "symlink";
}

/// Operations on objects, which no directory has.
const OF_OBJECTS: [&str; 4] = ["put", "get", "delete", "head"];

impl Action {
    /// True if it works on an open file.
    pub(crate) fn on_open_file(self) -> bool {
        matches!(self, Action::Close | Action::Read | Action::Write | Action::Fsync | Action::Fdatasync)
    }

    /// True if it moves bytes of a file.
    pub(crate) fn moves_bytes(self) -> bool {
        matches!(self, Action::Read | Action::Write)
    }

    /// True if it names a second file.
    pub(crate) fn has_other(self) -> bool {
        matches!(self, Action::Rename | Action::Link)
    }
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OpenFlags {
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) create: bool,
    pub(crate) truncate: bool,
    pub(crate) exclusive: bool,
    pub(crate) append: bool,
    pub(crate) direct: bool,
    pub(crate) sync: bool,
}

impl OpenFlags {
    /// True if it may change which files there are, or what is in one.
    pub(crate) fn changes(self) -> bool {
        self.create || self.truncate
    }
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) start: u64,
    pub(crate) duration: u64,
    pub(crate) task: u64,
    pub(crate) action: Action,
    pub(crate) file: u64,
    /// Byte of the file; 0 where it has no meaning.
    pub(crate) offset: u64,
    /// Bytes to ask for, or the new size.
    pub(crate) length: u64,
    /// Bytes done, 0, or a negative errno.
    pub(crate) result: i64,
    pub(crate) flags: OpenFlags,
    /// The new name of a rename or link.
    pub(crate) other: Option<u64>,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// A regular file, or a block device, which is replayed as one.
    File,
    /// A directory, whose size says nothing.
    Directory,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    /// `size` is None for a file that did not exist when the trace began.
    File {
        id: u64,
        kind: FileKind,
        size: Option<u64>,
        name: Cow<'a, [u8]>,
    },
    Task {
        id: u64,
        parent: Option<u64>,
        start: u64,
    },
    End {
        id: u64,
    },
    Operation(Operation),
    Wait {
        task: u64,
        on: u64,
    },
}

/// Why a line is no record, in words.
type Wrong = String;

/// The fields of a line.
struct Fields<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    fn next(&mut self, what: &str) -> Result<&'a [u8], Wrong> {
        let rest = self.rest.ok_or_else(|| format!("has no {what}"))?;
        let end = rest.iter().position(|byte| *byte == b'\t');
        let (field, rest) = end.map_or((rest, None), |end| (&rest[..end], Some(&rest[end + 1..])));
        self.rest = rest;
        Ok(field)
    }

    fn number(&mut self, what: &str) -> Result<u64, Wrong> {
        let field = self.next(what)?;
        number(field).ok_or_else(|| format!("its {what} {} is no number", shown(field)))
    }

    fn optional(&mut self, what: &str) -> Result<Option<u64>, Wrong> {
        let field = self.next(what)?;
        if field == b"-" {
            return Ok(None);
        }
        number(field).map(Some).ok_or_else(|| format!("its {what} {} is neither a number nor -", shown(field)))
    }

    fn end(&self) -> Result<(), Wrong> {
        match self.rest {
            None => Ok(()),
            Some(_) => Err("has too many fields".to_owned()),
        }
    }
}

/// A field in a message.
fn shown(field: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(field).chars().take(60).collect();
    format!("{text:?}")
}

/// A number up to 2^63 - 1, of digits only.
fn number(digits: &[u8]) -> Option<u64> {
    if !(1..=19).contains(&digits.len()) {
        return None;
    }
    let mut value = 0_u64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    // 19 digits fit into 64 bits.
    i64::try_from(value).is_ok().then_some(value)
}

/// Read a line.
///
/// # Errors
/// Why it is no record.
pub(crate) fn parse(line: &[u8]) -> Result<Record<'_>, Wrong> {
    let mut fields = Fields { rest: Some(line) };
    let record = match fields.next("kind")? {
        b"O" => Record::Operation(operation(&mut fields)?),
        b"F" => file(&mut fields)?,
        b"T" => Record::Task {
            id: fields.number("number")?,
            parent: fields.optional("parent")?,
            start: fields.number("start")?,
        },
        b"E" => {
            let id = fields.number("number")?;
            fields.number("end")?;
            Record::End { id }
        }
        b"W" => Record::Wait { task: fields.number("task")?, on: fields.number("task that it waits for")? },
        other => return Err(format!("begins with {}, not with F, T, E, O or W", shown(other))),
    };
    fields.end()?;
    Ok(record)
}

fn file<'a>(fields: &mut Fields<'a>) -> Result<Record<'a>, Wrong> {
    let id = fields.number("number")?;
    let kind = match fields.next("kind of file")? {
        b"f" | b"b" => FileKind::File,
        b"d" => FileKind::Directory,
        b"o" => return Err("is an object: a directory has none".to_owned()),
        other => return Err(format!("has a kind of file {}, not f, d, b or o", shown(other))),
    };
    let size = fields.optional("size")?;
    let field = fields.next("name")?;
    let name = unescaped(field).filter(|name| stays_below(name));
    let name = name.ok_or_else(|| format!("its name {} is no path below a directory", shown(field)))?;
    Ok(Record::File { id, kind, size, name })
}

/// A name without its escapes; None if one is unknown.
fn unescaped(field: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !field.contains(&b'\\') {
        return Some(Cow::Borrowed(field));
    }
    let mut name = Vec::with_capacity(field.len());
    let mut rest = field.iter();
    while let Some(byte) = rest.next() {
        if *byte != b'\\' {
            name.push(*byte);
            continue;
        }
        name.push(match rest.next()? {
            b'\\' => b'\\',
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'x' => {
                let digits = [*rest.next()?, *rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            _ => return None,
        });
    }
    Some(Cow::Owned(name))
}

/// True for a relative path that stays below its directory: `.` is that directory itself.
fn stays_below(name: &[u8]) -> bool {
    let plain = |part: &[u8]| !matches!(part, b"" | b"." | b"..") && part.len() <= MAX_PART_BYTES;
    let short = name.len() <= MAX_NAME_BYTES && !name.contains(&0);
    short && (name == b"." || name.split(|byte| *byte == b'/').all(plain))
}

fn operation(fields: &mut Fields<'_>) -> Result<Operation, Wrong> {
    let start = fields.number("start")?;
    let duration = fields.number("duration")?;
    let task = fields.number("task")?;
    let action = action(fields.next("operation")?)?;
    let file = fields.number("file")?;
    let offset = fields.optional("offset")?;
    let length = fields.optional("length")?;
    let result = result(fields.next("result")?)?;
    let (flags, other) = flags(fields.next("flags")?)?;
    let wrong = |why: &str| Err(format!("{} {why}", action.name()));
    if action == Action::Truncate && length.is_none() {
        return wrong("has no length");
    }
    if action.moves_bytes() && (length.is_none() || offset.is_none()) {
        return wrong("has no offset or no length");
    }
    if action.moves_bytes() && result > length.unwrap_or(0).min(MAX_LENGTH) as i64 {
        return wrong("has moved more bytes than its length, or than one call can");
    }
    if offset.is_some_and(|offset| offset > i64::MAX as u64 - MAX_LENGTH) {
        return wrong("has an offset that no file has");
    }
    if action.has_other() != other.is_some() {
        return wrong("has no second file, or one that it cannot have");
    }
    let length = match action {
        // What one call has written only in part is not written in full now.
        Action::Write if result >= 0 => result as u64,
        Action::Read | Action::Write => length.unwrap_or(0).min(MAX_LENGTH),
        _ => length.unwrap_or(0),
    };
    let offset = offset.unwrap_or(0);
    Ok(Operation { start, duration, task, action, file, offset, length, result, flags, other })
}

fn action(word: &[u8]) -> Result<Action, Wrong> {
    let found = Action::ALL.iter().find(|action| action.name().as_bytes() == word);
    found.copied().ok_or_else(|| {
        if OF_OBJECTS.iter().any(|name| name.as_bytes() == word) {
            format!("{} works on objects: a directory has none", String::from_utf8_lossy(word))
        } else {
            format!("has an unknown operation {}", shown(word))
        }
    })
}

/// The number of an error's name, or the number that stands there instead.
fn errno(word: &str) -> Option<i32> {
    static NAMES: OnceLock<Vec<(&str, i32)>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let known = (1..=MAX_ERRNO).filter_map(|code| Some((fault_name(Fault::os(code))?, code)));
        let mut names: Vec<_> = known.collect();
        names.sort_unstable();
        names
    });
    let place = names.binary_search_by_key(&word, |(name, _)| *name);
    place.map(|place| names[place].1).ok().or_else(|| i32::from_str(word).ok().filter(|code| (1..=4095).contains(code)))
}

fn result(field: &[u8]) -> Result<i64, Wrong> {
    let Some(name) = field.strip_prefix(b"-") else {
        return number(field).map(|bytes| bytes as i64).ok_or_else(|| format!("has a result {}", shown(field)));
    };
    if name.is_empty() {
        return Ok(0);
    }
    let code = std::str::from_utf8(name).ok().and_then(errno);
    code.map(|code| -i64::from(code)).ok_or_else(|| format!("has an unknown error {}", shown(field)))
}

fn flags(field: &[u8]) -> Result<(OpenFlags, Option<u64>), Wrong> {
    let mut found = OpenFlags::default();
    let wrong = || format!("has flags {}", shown(field));
    if field == b"-" {
        return Ok((found, None));
    }
    if let Some(other) = field.strip_prefix(b">") {
        return number(other).map(|other| (found, Some(other))).ok_or_else(wrong);
    }
    for letter in field {
        let flag = match letter {
            b'r' => &mut found.read,
            b'w' => &mut found.write,
            b'c' => &mut found.create,
            b't' => &mut found.truncate,
            b'x' => &mut found.exclusive,
            b'a' => &mut found.append,
            b'd' => &mut found.direct,
            b's' => &mut found.sync,
            _ => return Err(wrong()),
        };
        *flag = true;
    }
    Ok((found, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_operation_has_all_that_is_in_its_line() {
        let found = parse(b"O\t5\t6\t7\tread\t8\t4096\t512\t100\t-").unwrap();
        let flags = OpenFlags::default();
        let (action, offset) = (Action::Read, 4096);
        let wanted = Operation {
            start: 5,
            duration: 6,
            task: 7,
            action,
            file: 8,
            offset,
            length: 512,
            result: 100,
            flags,
            other: None,
        };
        assert_eq!(found, Record::Operation(wanted));
        let Ok(Record::Operation(open)) = parse(b"O\t5\t6\t7\topen\t8\t-\t-\t-ENOENT\trwct") else { panic!() };
        assert_eq!((open.result, open.offset, open.length), (-2, 0, 0));
        let OpenFlags { read, write, create, truncate, exclusive, .. } = open.flags;
        assert!(read && write && create && truncate && !exclusive);
        let Ok(Record::Operation(rename)) = parse(b"O\t5\t6\t7\trename\t8\t-\t-\t0\t>9") else { panic!() };
        assert_eq!(rename.other, Some(9));
        assert_eq!(
            parse(b"F\t3\td\t-\ta/b"),
            Ok(Record::File { id: 3, kind: FileKind::Directory, size: None, name: Cow::Borrowed(b"a/b") })
        );
        assert_eq!(parse(b"W\t3\t4"), Ok(Record::Wait { task: 3, on: 4 }));
    }

    #[test]
    fn a_name_that_leads_out_is_refused() {
        for name in [
            "",
            "/etc/passwd",
            "..",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            "a\0b",
            "a/.",
            &"n".repeat(256),
            "\\x2e\\x2e/b",
            "a\\x00",
            "a\\q",
            "a\\x2",
            "\\x2fetc",
        ] {
            assert!(parse(format!("F\t1\tf\t5\t{name}").as_bytes()).is_err(), "{name}");
        }
        for name in [".", ".hidden", "a/b.c", "a b", "...", "ä"] {
            assert!(parse(format!("F\t1\tf\t5\t{name}").as_bytes()).is_ok(), "{name}");
        }
        let Ok(Record::File { name, .. }) = parse(b"F\t1\tf\t5\ta\\\\b\\t\\n\\r\\xff") else { panic!() };
        assert_eq!(&*name, b"a\\b\t\n\r\xff");
    }

    #[test]
    fn each_broken_line_is_refused_with_its_reason() {
        let cases = [
            ("", "begins with"),
            ("O\t1", "has no duration"),
            ("O\t1\t1\t1\tread\t1\t0\t4096\t5000\t-", "more bytes"),
            ("O\t1\t1\t1\tread\t1\t0\t-\t0\t-", "or no length"),
            ("O\t1\t1\t1\tread\t1\t-\t5\t0\t-", "no offset"),
            ("O\t1\t1\t1\tread\t1\t0\t9000000000\t8000000000\t-", "one call"),
            ("O\t1\t1\t1\tsymlink\t1\t-\t-\t0\t>5", "second file"),
            ("O\t1\t1\t1\tput\t1\t-\t5\t5\t-", "objects"),
            ("O\t1\t1\t1\tfly\t1\t-\t5\t5\t-", "unknown operation"),
            ("O\t1\t1\t1\topen\t1\t-\t-\t0\tz", "flags"),
            ("O\t1\t1\t1\topen\t1\t-\t-\t0\t>5", "second file"),
            ("O\t1\t1\t1\trename\t1\t-\t-\t0\t-", "second file"),
            ("O\t1\t1\t1\ttruncate\t1\t-\t-\t0\t-", "length"),
            ("O\t1\t1\t1\tstat\t1\t-\t-\t-ENOTHING\t-", "unknown error"),
            ("O\t-1\t1\t1\tstat\t1\t-\t-\t0\t-", "no number"),
            ("O\t99999999999999999999\t1\t1\tstat\t1\t-\t-\t0\t-", "no number"),
            ("F\t1\to\t5\tkey", "object"),
            ("F\t1\tq\t5\tkey", "kind of file"),
            ("E\t1\t5\t6", "too many"),
        ];
        for (line, why) in cases {
            let wrong = parse(line.as_bytes()).expect_err(line);
            assert!(wrong.contains(why), "{line}: {wrong}");
        }
    }

    #[test]
    fn errors_have_names_or_numbers() {
        for (text, code) in [("-ENOENT", -2), ("-EEXIST", -17), ("-39", -39), ("-ENOTEMPTY", -39), ("-", 0), ("17", 17)]
        {
            assert_eq!(result(text.as_bytes()), Ok(code), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in proptest::collection::vec(any::<u8>(), 0..80), letter in "[FTEOW]") {
            let _ = parse(&line);
            let _ = parse(&[letter.as_bytes(), b"\t", &line].concat());
        }

        #[test]
        fn numbers_are_those_of_the_standard_library(value in any::<u64>()) {
            prop_assert_eq!(number(value.to_string().as_bytes()), i64::try_from(value).ok().map(|_| value));
        }
    }
}
