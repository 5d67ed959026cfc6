//! The words of a program, and the variables that stand in them.

use assay_spec::Program;
use std::collections::BTreeMap;

/// Values of the variables, by name.
pub(crate) type Variables = BTreeMap<&'static str, String>;

/// The word with its variables replaced; an unknown name stays as it is.
fn filled(word: &str, variables: &Variables) -> String {
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        let braced = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, after) = braced.unwrap_or((&rest[..end], &rest[end..]));
        match variables.get(name) {
            Some(value) => {
                out.push_str(value);
                rest = after;
            }
            None => out.push('$'),
        }
    }
    out.push_str(rest);
    out
}

/// The words to execute.
pub(crate) fn words(program: &Program, variables: &Variables) -> Vec<String> {
    if program.shell {
        return ["/bin/sh", "-c", &program.words[0]].map(str::to_owned).to_vec();
    }
    program.words.iter().map(|word| filled(word, variables)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        Variables::from([("task", "7".to_owned()), ("path", "/mnt/a $task".to_owned())])
    }

    #[test]
    fn variables_are_replaced_once() {
        for (written, expected) in [
            ("$task", "7"),
            ("frame-${task}.png", "frame-7.png"),
            ("$path/$task", "/mnt/a $task/7"),
            ("$$task", "$task"),
            ("$tasks", "$tasks"),
            ("${none}x", "${none}x"),
            ("cost: 5$", "cost: 5$"),
            ("${task", "${task"),
            ("", ""),
            ("ä$taskä", "ä7ä"),
        ] {
            assert_eq!(filled(written, &variables()), expected, "{written}");
        }
    }

    #[test]
    fn the_shell_gets_its_text_as_it_is() {
        let program = Program { words: vec!["echo $task $$".to_owned()], shell: true };
        assert_eq!(words(&program, &variables()), ["/bin/sh", "-c", "echo $task $$"]);
        let plain = Program { words: vec!["echo".to_owned(), "$task".to_owned()], shell: false };
        assert_eq!(words(&plain, &variables()), ["echo", "7"]);
    }
}
