//! Names that the engine gives to files, directories and objects. Anything with another name belongs to others.

mod name;
mod tree;

pub use name::Name;
pub use tree::{branch_name, file_name, put_leaf, top_name, top_of, tops_of, Names};

/// Name of the file that marks a directory as claimed by a run.
pub const MARKER: &str = ".assay-target";

/// Name of the empty file that marks the directory of a job of this run, from its creation to its removal.
pub fn job_mark(run: Option<&str>) -> String {
    run.map_or_else(|| ".assay-job".to_owned(), |run| format!(".assay-job-{run}"))
}

/// Name of the directory, in that of a job, in which programs work and traces are replayed. What is in it was made by
/// them, whatever its name.
pub const PROGRAMS: &str = "programs";

/// True if a job creates files or directories of this name in its directory: files `f3`, trees of files `t3`, in them
/// directories `b7` and `d3.7` and files `f3.7` and `r3.7`, and `deep7` for what is moved up to be removed.
pub fn is_of_job(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b"deep").or(match name {
        [b'f' | b't' | b'b' | b'd' | b'r', rest @ ..] => Some(rest),
        _ => None,
    }) else {
        return false;
    };
    let digits = |text: &[u8]| !text.is_empty() && text.len() <= 20 && text.iter().all(u8::is_ascii_digit);
    match rest.iter().position(|byte| *byte == b'.') {
        Some(dot) => digits(&rest[..dot]) && digits(&rest[dot + 1..]),
        None => digits(rest),
    }
}

/// True if the directory of a job of this run may have this name in a claimed directory: case and repeat, after the
/// run's id if several hosts work in the same place.
pub fn is_job_directory(name: &[u8], run: &str) -> bool {
    let Ok(text) = std::str::from_utf8(name) else { return false };
    let numbered = |text: &str, letter: char| {
        let digits = text.strip_prefix(letter);
        digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut parts = text.rsplitn(3, '-');
    let (repeat, case, before) = (parts.next(), parts.next(), parts.next());
    repeat.is_some_and(|part| numbered(part, 'r'))
        && case.is_some_and(|part| numbered(part, 'c'))
        && before.is_none_or(|before| !before.is_empty() && before == run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_makes_only_such_names() {
        for name in ["f0", "f1023", "t7", "b0", "d3.0", "f3.17", "r3.18446744073709551615", "deep12"] {
            assert!(is_of_job(name.as_bytes()), "{name}");
        }
        for name in ["", "f", "x1", "f1x", "f1.", "f.1", "f1.2.3", "deep", "data", "f-1", ".assay-target", "F1", "f1 "]
        {
            assert!(!is_of_job(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn directories_of_jobs_end_in_case_and_repeat() {
        for name in ["c0001-r1", "c0-r0", "20270115-080000-tiny-c0001-r12"] {
            assert!(is_job_directory(name.as_bytes(), "20270115-080000-tiny"), "{name}");
        }
        for name in ["", "c1", "c1-r", "c-r1", "precious", "c1-r1-old", "-c1-r1", "backup-c1-r1", "c1-r1 "] {
            assert!(!is_job_directory(name.as_bytes(), "20270115-080000-tiny"), "{name}");
        }
        assert!(!is_job_directory(b"-c1-r1", ""));
    }
}
