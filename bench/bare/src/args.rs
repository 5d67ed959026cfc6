//! The words of the command line: positional ones, `--name value` and `--flag`.

use std::str::FromStr;

pub(crate) struct Args {
    words: Vec<String>,
}

impl Args {
    pub(crate) fn new(words: Vec<String>) -> Self {
        Args { words }
    }

    /// The first word that is left, unless it is an option.
    pub(crate) fn positional(&mut self) -> Option<String> {
        let first = self.words.first()?;
        (!first.starts_with("--")).then(|| self.words.remove(0))
    }

    /// The first word that is left; `what` names it in the error.
    pub(crate) fn needed(&mut self, what: &str) -> Result<String, String> {
        self.positional().ok_or_else(|| format!("{what} is missing"))
    }

    /// Whether `name` is there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let at = self.words.iter().position(|word| word == name);
        at.map(|at| self.words.remove(at)).is_some()
    }

    /// The value of `name`, or `default`.
    pub(crate) fn value<T: FromStr>(&mut self, name: &str, default: T) -> Result<T, String> {
        let Some(at) = self.words.iter().position(|word| word == name) else {
            return Ok(default);
        };
        self.words.remove(at);
        if at == self.words.len() {
            return Err(format!("{name} needs a value"));
        }
        let text = self.words.remove(at);
        text.parse().map_err(|_| format!("{name}: {text} is not a number that fits"))
    }

    /// A value that is at least 1.
    pub(crate) fn positive(&mut self, name: &str, default: u64) -> Result<u64, String> {
        match self.value(name, default)? {
            0 => Err(format!("{name} must be at least 1")),
            value => Ok(value),
        }
    }

    /// How long the loop runs.
    pub(crate) fn seconds(&mut self) -> Result<f64, String> {
        let seconds = self.value("--seconds", 1.0)?;
        if seconds > 0.0 && seconds <= 86_400.0 {
            Ok(seconds)
        } else {
            Err("--seconds must be above 0 and at most 86400".to_owned())
        }
    }

    /// Fails if a word is left that nobody asked for.
    pub(crate) fn finish(self) -> Result<(), String> {
        match self.words.first() {
            Some(word) => Err(format!("not understood: {word}")),
            None => Ok(()),
        }
    }
}
