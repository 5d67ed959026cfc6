//! What shall fail, and when: the words of `set`, and which calls they mean.

use crate::Outcome;
use rustix::io::Errno;
use std::str::FromStr;

/// Every operation a rule can name.
pub(crate) const OPERATIONS: [&str; 23] = [
    "lookup",
    "getattr",
    "setattr",
    "readlink",
    "mknod",
    "mkdir",
    "unlink",
    "rmdir",
    "symlink",
    "rename",
    "link",
    "open",
    "create",
    "read",
    "write",
    "flush",
    "fsync",
    "release",
    "opendir",
    "readdir",
    "fsyncdir",
    "statfs",
    "fallocate",
];

const ERRNOS: [(&str, Errno); 14] = [
    ("eacces", Errno::ACCESS),
    ("edquot", Errno::DQUOT),
    ("efbig", Errno::FBIG),
    ("eintr", Errno::INTR),
    ("eagain", Errno::AGAIN),
    ("eio", Errno::IO),
    ("emfile", Errno::MFILE),
    ("enodev", Errno::NODEV),
    ("enoent", Errno::NOENT),
    ("enospc", Errno::NOSPC),
    ("eperm", Errno::PERM),
    ("erofs", Errno::ROFS),
    ("estale", Errno::STALE),
    ("etimedout", Errno::TIMEDOUT),
];

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It fails with this errno and does nothing.
    Errno(&'static str, Errno),
    /// Half of the bytes are read or written, and the answer says so.
    Short,
    /// The first half is stored, the answer says all is.
    Torn,
    /// Nothing is stored, removed or renamed, the answer says it is.
    Lost,
    /// All is stored, but only until the file is closed: a flush changes nothing about that.
    Vanish,
    /// A file is told to be one byte longer than it is.
    Size,
    /// The last name of a directory is left out.
    Forget,
    /// One byte is changed on the way.
    Corrupt,
    /// A read gets what the last write of these bytes has replaced.
    Stale,
    /// Names are not there, directories empty, open files stale.
    Disappear,
    /// It is done later.
    Latency,
    /// It is done when the test says so.
    Hang,
}

impl Fault {
    fn parse(word: &str) -> Outcome<Self> {
        Ok(match word {
            "short" => Self::Short,
            "torn" => Self::Torn,
            "lost" => Self::Lost,
            "vanish" => Self::Vanish,
            "size" => Self::Size,
            "forget" => Self::Forget,
            "corrupt" => Self::Corrupt,
            "stale" => Self::Stale,
            "disappear" => Self::Disappear,
            "latency" => Self::Latency,
            "hang" => Self::Hang,
            _ => {
                let found = ERRNOS.iter().find(|(name, _)| *name == word);
                found.map(|(name, errno)| Self::Errno(name, *errno)).ok_or(format!("no such fault: {word}"))?
            }
        })
    }

    /// As `set` has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Errno(name, _) => name,
            Self::Short => "short",
            Self::Torn => "torn",
            Self::Lost => "lost",
            Self::Vanish => "vanish",
            Self::Size => "size",
            Self::Forget => "forget",
            Self::Corrupt => "corrupt",
            Self::Stale => "stale",
            Self::Disappear => "disappear",
            Self::Latency => "latency",
            Self::Hang => "hang",
        }
    }

    /// Whether the operation can fail in this way.
    fn fits(self, operation: &str) -> bool {
        match self {
            Self::Short | Self::Corrupt => matches!(operation, "read" | "write"),
            Self::Torn | Self::Vanish => operation == "write",
            Self::Lost => matches!(operation, "write" | "unlink" | "rmdir" | "rename"),
            Self::Size => matches!(operation, "getattr" | "lookup"),
            Self::Forget => operation == "readdir",
            Self::Stale => operation == "read",
            _ => true,
        }
    }
}

/// One line of `set`, and how often it has been met.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) fault: Fault,
    /// Empty for any.
    operations: Vec<String>,
    path: String,
    after: u64,
    count: u64,
    chance: f64,
    random: u64,
    pub(crate) delay_ms: u64,
    met: u64,
    injected: u64,
}

impl Rule {
    /// From the words after `set`.
    pub(crate) fn parse(words: &[&str]) -> Outcome<Self> {
        let [fault, "on", operations, rest @ ..] = words else {
            return Err("set FAULT on OPERATION ...".to_string());
        };
        let mut rule = Self {
            fault: Fault::parse(fault)?,
            operations: if *operations == "any" { vec![] } else { operations.split(',').map(String::from).collect() },
            path: "*".to_string(),
            after: 0,
            count: u64::MAX,
            chance: 1.0,
            random: 1,
            delay_ms: 0,
            met: 0,
            injected: 0,
        };
        for operation in &rule.operations {
            if !OPERATIONS.contains(&operation.as_str()) {
                return Err(format!("no such operation: {operation}"));
            }
            if !rule.fault.fits(operation) {
                return Err(format!("{operation} cannot be {}", rule.fault.name()));
            }
        }
        for pair in rest.chunks(2) {
            let [key, value] = pair else { return Err(format!("{} needs a value", pair[0])) };
            match *key {
                "path" => rule.path = (*value).to_string(),
                "after" => rule.after = number(key, value)?,
                "count" => rule.count = number(key, value)?,
                "chance" => rule.chance = number(key, value)?,
                "seed" => rule.random = number(key, value)?,
                "delay" => rule.delay_ms = number(key, value)?,
                _ => return Err(format!("no such word: {key}")),
            }
        }
        Ok(rule)
    }

    /// Whether this call is to fail; counts it.
    pub(crate) fn strikes(&mut self, operation: &str, path: &str) -> bool {
        let named = self.operations.is_empty() || self.operations.iter().any(|name| name == operation);
        if !named || !self.fault.fits(operation) || !matches(&self.path, path) {
            return false;
        }
        self.met += 1;
        if self.met <= self.after || self.injected >= self.count || self.draw() >= self.chance {
            return false;
        }
        self.injected += 1;
        true
    }

    /// A number from 0 to 1, the next of the seed's (splitmix64, Steele et al., OOPSLA 2014).
    fn draw(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn number<T: FromStr>(key: &str, value: &str) -> Outcome<T> {
    value.parse().map_err(|_| format!("{key} {value}: not a number"))
}

/// Whether a path is what a pattern means: `*` is any text, slashes too, `?` one character.
fn matches(pattern: &str, path: &str) -> bool {
    let mut tail = pattern.chars();
    match tail.next() {
        None => path.is_empty(),
        Some('*') => {
            let rest = tail.as_str();
            path.char_indices().map(|(at, _)| at).chain([path.len()]).any(|at| matches(rest, &path[at..]))
        }
        Some(wanted) => {
            let mut left = path.chars();
            left.next().is_some_and(|found| (wanted == '?' || wanted == found) && matches(tail.as_str(), left.as_str()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(line: &str) -> Outcome<Rule> {
        Rule::parse(&line.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn patterns_match_whole_paths() {
        for (pattern, path, expected) in [
            ("*", "", true),
            ("*", "a/b", true),
            ("*/b", "a/b", true),
            ("a?b", "a/b", true),
            ("a", "a/b", false),
            ("*b*d", "abcd", true),
            ("*b*d", "abc", false),
            ("ä?", "äö", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_rule_strikes_after_and_as_often_as_it_says() {
        let mut one = rule("eio on read,write path *f0 after 2 count 3").unwrap();
        assert!(!one.strikes("open", "f0"));
        assert!(!one.strikes("read", "f1"));
        let struck: Vec<bool> = (0..7).map(|_| one.strikes("read", "d/f0")).collect();
        assert_eq!(struck, [false, false, true, true, true, false, false]);
    }

    #[test]
    fn a_chance_is_the_same_for_the_same_seed() {
        let struck = |seed: u64| {
            let mut one = rule(&format!("eio on read chance 0.25 seed {seed}")).unwrap();
            (0..4000).map(|_| one.strikes("read", "f")).collect::<Vec<_>>()
        };
        assert_eq!(struck(7), struck(7));
        assert_ne!(struck(7), struck(8));
        let share = struck(7).iter().filter(|hit| **hit).count() as f64 / 4000.0;
        assert!((0.2..0.3).contains(&share), "{share}");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in ["eio", "what on read", "eio on what", "torn on read", "stale on write", "eio on read after x"] {
            assert!(rule(line).is_err(), "{line}");
        }
        assert!(!rule("torn on any").unwrap().strikes("read", "f"));
    }
}
