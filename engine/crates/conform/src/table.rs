//! Prints the report as a table.

use crate::finding::{Finding, Symptom};
use crate::report::{Report, Row, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How many failing ways of a check are shown.
const MAX_WAYS: usize = 3;
/// How many findings of one way are shown.
const MAX_FINDINGS: usize = 3;

/// All ways of one check.
struct Line<'a> {
    group: &'a str,
    check: &'a str,
    expects: &'a str,
    rows: Vec<&'a Row>,
}

impl Line<'_> {
    fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    fn failing(&self) -> impl Iterator<Item = &&Row> {
        self.rows.iter().filter(|row| row.verdict == Verdict::DoesNotHold)
    }

    fn result(&self) -> String {
        let ways = self.rows.len();
        let of = |count: usize| if ways == 1 { String::new() } else { format!(" in {count} of {ways} ways") };
        match (self.count(Verdict::DoesNotHold), self.count(Verdict::NotDone)) {
            (0, 0) if ways == 1 => "holds".to_owned(),
            (0, 0) => format!("holds in {ways} ways"),
            (0, undone) if undone == ways => "not done".to_owned(),
            (0, undone) => format!("holds in {} of {ways} ways, the others were not done", ways - undone),
            (wrong, _) => format!("DOES NOT HOLD{}", of(wrong)),
        }
    }
}

fn lines(report: &Report) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for row in &report.rows {
        match lines.iter_mut().find(|line| (line.group, line.check) == (&row.group, &row.check)) {
            Some(line) => line.rows.push(row),
            None => lines.push(Line { group: &row.group, check: &row.check, expects: &row.expects, rows: vec![row] }),
        }
    }
    lines
}

impl std::fmt::Display for Report {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.elapsed_ns as f64 / 1e9;
        let (all, done) = (self.rows.len(), self.rows.len() - self.count(Verdict::NotDone));
        let checks = if done == all { format!("{all} checks") } else { format!("{done} of {all} checks") };
        writeln!(out, "{} ({}), {checks} in {seconds:.1} s", self.place, self.filesystem)?;
        let lines = lines(self);
        let width = |text: fn(&Line<'_>) -> usize| lines.iter().map(text).max().unwrap_or(0);
        let (name, expects) = (width(|line| line.check.len()), width(|line| line.expects.len()));
        let mut group = "";
        for line in &lines {
            if line.group != group {
                group = line.group;
                writeln!(out, "\n{group}")?;
            }
            writeln!(out, "  {:name$}  {:expects$}  {}", line.check, line.expects, line.result())?;
        }
        out.write_str(&wrong(self, &lines))?;
        for (title, texts) in [
            ("Not offered, so not checked:", &self.not_offered),
            ("Offered, but there is no check of it:", &self.unchecked),
            ("Known of this target:", &self.remarks),
        ] {
            if !texts.is_empty() {
                writeln!(out, "\n{title}")?;
            }
            texts.iter().try_for_each(|text| writeln!(out, "  {text}"))?;
        }
        let count = |verdict| self.count(verdict);
        let (holds, wrong, undone) = (count(Verdict::Holds), count(Verdict::DoesNotHold), count(Verdict::NotDone));
        write!(out, "\n{holds} hold, {wrong} do not")?;
        if undone > 0 {
            write!(out, ", {undone} were not done")?;
        }
        out.write_str(".")
    }
}

/// Describes the checks that do not hold: in which ways, and with which symptoms.
fn wrong(report: &Report, lines: &[Line<'_>]) -> String {
    let mut text = String::new();
    let mut symptoms: BTreeMap<Symptom, usize> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.count(Verdict::DoesNotHold) > 0) {
        let _ = writeln!(text, "  {}: {}: {}", line.group, line.check, line.expects);
        for row in line.failing().take(MAX_WAYS) {
            for finding in row.findings.iter().take(MAX_FINDINGS) {
                let way = if row.way.is_empty() { String::new() } else { format!("{}: ", row.way) };
                let _ = writeln!(text, "    {way}{finding}");
            }
        }
        let more = line.count(Verdict::DoesNotHold).saturating_sub(MAX_WAYS);
        if more > 0 {
            let _ = writeln!(text, "    and in {more} more {}", if more == 1 { "way" } else { "ways" });
        }
    }
    for row in &report.rows {
        let mut symptoms_of_row: Vec<Symptom> = row.findings.iter().map(|finding: &Finding| finding.symptom).collect();
        symptoms_of_row.sort_unstable();
        symptoms_of_row.dedup();
        let counted = row.verdict == Verdict::DoesNotHold;
        symptoms_of_row.into_iter().filter(|_| counted).for_each(|symptom| *symptoms.entry(symptom).or_default() += 1);
    }
    if text.is_empty() {
        return text;
    }
    let mut whole = format!("\nWhat does not hold:\n{text}\nWhat it looks like:\n");
    for (symptom, checks) in symptoms {
        let plural = if checks == 1 { "check" } else { "checks" };
        let _ = writeln!(whole, "  {} ({checks} {plural})", symptom.description());
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(check: &str, way: &str, symptoms: &[Symptom]) -> Row {
        let finding = |symptom: &Symptom| Finding::new(*symptom, "read", "f0").at(512).values("0x01", "0x00");
        Row {
            group: "data".to_owned(),
            check: check.to_owned(),
            way: way.to_owned(),
            expects: "is there".to_owned(),
            verdict: if symptoms.is_empty() { Verdict::Holds } else { Verdict::DoesNotHold },
            findings: symptoms.iter().map(finding).collect(),
        }
    }

    fn undone(check: &str) -> Row {
        Row { verdict: Verdict::NotDone, ..row(check, "", &[]) }
    }

    fn report(rows: Vec<Row>) -> Report {
        Report {
            kind: "file".to_owned(),
            place: "/x".to_owned(),
            filesystem: "ext4".to_owned(),
            rows,
            not_offered: Vec::new(),
            unchecked: Vec::new(),
            remarks: Vec::new(),
            elapsed_ns: 1_250_000_000,
            stopped: false,
        }
    }

    #[test]
    fn a_line_is_all_ways_of_a_check() {
        use Symptom::Zeros;
        for (rows, expected) in [
            (vec![row("a", "", &[])], "holds"),
            (vec![row("a", "1", &[]), row("a", "2", &[])], "holds in 2 ways"),
            (vec![row("a", "1", &[Zeros])], "DOES NOT HOLD"),
            (vec![row("a", "1", &[Zeros]), row("a", "2", &[]), undone("a")], "DOES NOT HOLD in 1 of 3 ways"),
            (vec![undone("a"), undone("a")], "not done"),
            (vec![row("a", "1", &[]), undone("a")], "holds in 1 of 2 ways, the others were not done"),
        ] {
            let report = report(rows);
            let lines = lines(&report);
            assert_eq!((lines.len(), lines[0].result().as_str()), (1, expected));
        }
    }

    #[test]
    fn a_report_that_holds_is_one_table() {
        let mut all = report(vec![row("a", "", &[]), row("long", "", &[])]);
        all.remarks = vec!["is slow".to_owned()];
        let text = "/x (ext4), 2 checks in 1.2 s\n\ndata\n  a     is there  holds\n  long  is there  holds\n\
                    \nKnown of this target:\n  is slow\n\n2 hold, 0 do not.";
        assert_eq!(all.to_string(), text);
    }

    /// Only three of many ways are named, and three of many findings. Symptoms are counted by checks.
    #[test]
    fn failed_checks_are_summarised() {
        use Symptom::{Stale, Zeros};
        let mut rows: Vec<Row> = (0..5).map(|way| row("a", &way.to_string(), &[Zeros])).collect();
        rows.push(row("b", "", &[Zeros, Zeros, Zeros, Stale]));
        rows.push(undone("c"));
        let text = report(rows).to_string();
        assert!(text.starts_with("/x (ext4), 6 of 7 checks in"), "{text}");
        for (word, count) in [
            ("    0: read f0 at 512: expected 0x01, found 0x00\n", 1),
            ("    3: read", 0),
            ("    and in 2 more ways\n", 1),
            ("    read f0 at 512", 3),
            ("  zeros are read where data was written (6 checks)\n", 1),
            ("  old data is read where new data was written (1 check)\n", 1),
            ("0 hold, 6 do not, 1 were not done.", 1),
        ] {
            assert_eq!(text.matches(word).count(), count, "{word:?} in {text}");
        }
    }
}
