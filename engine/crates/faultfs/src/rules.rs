//! The rules: which calls fail, when and how, parsed from `set` commands.

use crate::Outcome;
use rustix::io::Errno;
use std::str::FromStr;

/// All operations a rule can name.
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

/// The fault that is injected into a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The call fails with this errno and does nothing.
    Errno(&'static str, Errno),
    /// Half of the bytes are read or written, and the answer reports that.
    Short,
    /// The first half is stored, but the answer reports everything as stored.
    Torn,
    /// Nothing is stored, removed or renamed, but the answer reports success.
    Lost,
    /// Everything is stored, but only until the file is closed, even after a flush.
    Vanish,
    /// The reported size of a file is one byte too large.
    Size,
    /// The last name of a directory is omitted.
    Forget,
    /// One byte is changed.
    Corrupt,
    /// A read returns the data that the last write of these bytes replaced.
    Stale,
    /// Names are missing, directories are empty, and open files are stale.
    Disappear,
    /// The call is delayed.
    Latency,
    /// The call hangs until the test releases it.
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

    /// The name that `set` uses.
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

    /// Whether the fault can happen to the operation.
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

/// A parsed `set` command, with the number of calls it has matched.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) fault: Fault,
    /// Empty for any operation.
    operations: Vec<String>,
    path: String,
    after: u64,
    count: u64,
    chance: f64,
    random: u64,
    pub(crate) delay_ms: u64,
    matched: u64,
    injected: u64,
}

impl Rule {
    /// Parses the words after `set`.
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
            matched: 0,
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

    /// Whether the fault is to be injected into this call. Counts the call if it matches.
    pub(crate) fn applies(&mut self, operation: &str, path: &str) -> bool {
        let named = self.operations.is_empty() || self.operations.iter().any(|name| name == operation);
        if !named || !self.fault.fits(operation) || !matches(&self.path, path) {
            return false;
        }
        self.matched += 1;
        if self.matched <= self.after || self.injected >= self.count || self.draw() >= self.chance {
            return false;
        }
        self.injected += 1;
        true
    }

    /// The next random number in [0, 1) of the seed (splitmix64, Steele et al., OOPSLA 2014).
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

/// Whether a path matches a pattern. `*` matches any text, including slashes, and `?` one character.
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
    fn after_and_count_limit_a_rule() {
        let mut one = rule("eio on read,write path *f0 after 2 count 3").unwrap();
        assert!(!one.applies("open", "f0"));
        assert!(!one.applies("read", "f1"));
        let applied: Vec<bool> = (0..7).map(|_| one.applies("read", "d/f0")).collect();
        assert_eq!(applied, [false, false, true, true, true, false, false]);
    }

    #[test]
    fn chance_is_reproducible_by_seed() {
        let applied = |seed: u64| {
            let mut one = rule(&format!("eio on read chance 0.25 seed {seed}")).unwrap();
            (0..4000).map(|_| one.applies("read", "f")).collect::<Vec<_>>()
        };
        assert_eq!(applied(7), applied(7));
        assert_ne!(applied(7), applied(8));
        let share = applied(7).iter().filter(|hit| **hit).count() as f64 / 4000.0;
        assert!((0.2..0.3).contains(&share), "{share}");
    }

    #[test]
    fn invalid_rules_are_refused() {
        for line in ["eio", "what on read", "eio on what", "torn on read", "stale on write", "eio on read after x"] {
            assert!(rule(line).is_err(), "{line}");
        }
        assert!(!rule("torn on any").unwrap().applies("read", "f"));
    }
}
