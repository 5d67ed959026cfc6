//! Storage without a defect passes every check. Storage with one defect fails the checks for it and no others.

use crate::fake::{Defect, Fake};
use crate::{run, Report, Symptom, Verdict};
use assay_drive::StopFlag;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::Mutex;

/// Matches the checks with only one way: those on manual lanes.
const SINGLE_WAY: &str = "()";
/// Size of the device, small so that it is read quickly.
const DEVICE: usize = 1 << 20;

fn checked(fake: &Fake, only: &str) -> Report {
    run(fake, only, &StopFlag::default(), &Mutex::default())
}

/// The checks that do not hold, with their symptoms.
fn found_symptoms(fake: &Fake, only: &str) -> BTreeSet<(String, Symptom)> {
    let report = checked(fake, only);
    assert!(report.rows.len() > 1, "no check is called {only}");
    let rows = report.rows.iter().filter(|row| row.verdict == Verdict::DoesNotHold);
    rows.flat_map(|row| row.findings.iter().map(|finding| (row.check.clone(), finding.symptom))).collect()
}

/// Asserts that exactly these checks find the defect.
fn assert_found(fake: &Fake, only: &str, expected: &[(&str, Symptom)]) {
    let expected: BTreeSet<(String, Symptom)> = expected.iter().map(|(name, it)| ((*name).to_owned(), *it)).collect();
    assert_eq!(found_symptoms(fake, only), expected, "{:?}", fake.defect);
}

#[test]
fn what_does_as_it_should_passes_and_is_left_empty() {
    let checks = |fake: Fake, only| {
        let report = checked(&fake, only);
        assert_eq!(report.count(Verdict::Holds), report.rows.len(), "{report}");
        (report.rows.len(), fake.left())
    };
    assert_eq!(checks(Fake::files(Defect::None), SINGLE_WAY), (15, vec![]));
    assert_eq!(checks(Fake::files(Defect::None), "flush"), (6, vec![]));
    assert_eq!(checks(Fake::device(Defect::None, DEVICE), "ends"), (2, vec!["f0".to_owned()]));
    assert_eq!(checks(Fake::objects(Defect::None), SINGLE_WAY), (8, vec![]));
}

#[test]
fn visibility_of_writes() {
    use Symptom::{Length, Refused, Stale, Torn, Unstable};
    let [own, before, flushed, anew, closed] = [
        "own writes",
        "writes seen by others",
        "flushed, seen by others",
        "flushed, opened anew",
        "flushed and closed",
    ];
    let each =
        |symptom, last| [own, before, flushed, anew].map(|name| (name, symptom)).into_iter().chain([(closed, last)]);
    let all = |symptom, last| each(symptom, last).collect::<Vec<_>>();
    for (defect, expected) in [
        (Defect::HidesUntilFlush, vec![(before, Stale)]),
        (Defect::RemembersReads, vec![(before, Stale), (flushed, Stale)]),
        (Defect::ForgetsAtClose, vec![(closed, Unstable)]),
        (Defect::LosesOverwrites, all(Stale, Unstable)),
        (Defect::TearsOverwrites, all(Torn, Torn)),
        (Defect::FailsFlushes, all(Refused, Refused)),
        (Defect::ReadsShort, all(Length, Length)),
        // A file that is opened before it is closed is empty.
        (Defect::HidesUntilClose, all(Length, Length)),
    ] {
        assert_found(&Fake::files(defect), "flush", &expected);
    }
}

#[test]
fn where_files_end_and_what_names_mean() {
    use Symptom::{Contents, Corrupt, Length, Listing, Name, Refused, Size};
    let (given_up, not_there) = ("a name that is given up", "a name that is not there");
    for (defect, expected) in [
        (Defect::PadsTheEnd, vec![("the end", Length)]),
        (Defect::FailsBeyondTheEnd, vec![("beyond the end", Refused)]),
        (Defect::FillsHoles, vec![("holes", Corrupt)]),
        (Defect::LosesAppends, vec![("growth", Length)]),
        (Defect::KeepsWhatItWas, vec![("emptied files", Length)]),
        (Defect::MakesWhatIsOpened, vec![("a file that is not there", Name)]),
        (Defect::FailsToReserve, vec![("reserved space", Refused)]),
        (Defect::CutsContents, vec![("sizes", Contents)]),
        (Defect::ReplacesTaken, vec![("a name that is taken", Name)]),
        (Defect::FindsMissing, vec![(not_there, Name), (given_up, Name), ("renaming", Name)]),
        (Defect::KeepsUnlinked, vec![(given_up, Name), ("listing", Listing)]),
        (Defect::RevivesContents, vec![(given_up, Contents)]),
        (Defect::CopiesOnRename, vec![("renaming", Name)]),
        (Defect::RefusesToReplace, vec![("renaming", Name)]),
        (Defect::MakesDirectoriesTwice, vec![("directories", Name)]),
        (Defect::ListsRemoved, vec![("listing", Listing)]),
        (Defect::ListsOnePage, vec![("listing", Listing)]),
        (Defect::FailsRemoval, vec![("removal", Symptom::Remains)]),
        (
            Defect::ReportsOtherSizes,
            ["sizes", "a name that is taken", not_there, given_up, "renaming"].map(|name| (name, Size)).to_vec(),
        ),
    ] {
        assert_found(&Fake::files(defect), SINGLE_WAY, &expected);
    }
}

#[test]
fn a_device_with_wrapped_addresses() {
    let report = checked(&Fake::device(Defect::WrapsAddresses, DEVICE), "ends");
    let findings = &report.rows[0].findings;
    assert_eq!(findings.len(), 3, "{report}");
    for finding in findings {
        assert_eq!((finding.symptom, finding.action.as_str()), (Symptom::Corrupt, "read"), "{report}");
        // The data found there was written half a device further on.
        let instead = finding.offset.unwrap() / 4096 * 4096 + DEVICE as u64 / 2;
        assert_eq!(finding.remark, format!("it is what was written at {instead}"));
    }
}

#[test]
fn what_keys_mean() {
    use Symptom::{Length, Listing, Name, Size};
    let (taken, not_there, given_up) = ("a key that is taken", "a key that is not there", "a key that is given up");
    for (defect, only, expected) in [
        (Defect::IgnoresRanges, "s ()", vec![("ranges", Symptom::Corrupt)]),
        (Defect::KeepsLongerTail, "n ()", vec![(taken, Length)]),
        (Defect::GetsMissing, "e ()", vec![(not_there, Name)]),
        (Defect::KeepsDeleted, "p ()", vec![(given_up, Name)]),
        (Defect::LeavesOneOfMany, "g ()", vec![("listing", Listing)]),
        (Defect::ListsOnePage, "g ()", vec![("listing", Listing)]),
        (Defect::ReportsOtherSizes, "sizes ()", vec![("sizes", Size)]),
        (Defect::ShowsIncomplete, "parts ()", vec![("parts", Name)]),
        (Defect::MixesParts, "parts ()", vec![("parts", Symptom::Corrupt)]),
    ] {
        assert_found(&Fake::objects(defect), only, &expected);
    }
}

/// Wrong data found by a job is read again to classify it.
#[test]
fn jobs_find_wrong_data() {
    use Symptom::{Corrupt, Fleeting, Length, Stale, Zeros};
    for (defect, only, expected) in [
        (Defect::FlipsBits, "data: read", vec![("read", Corrupt)]),
        (Defect::FlipsBitsOnce, "data: read", vec![("read", Fleeting)]),
        (Defect::ReadsShort, "data: read", vec![("read", Length)]),
        (Defect::LosesOverwrites, "data: re", vec![("rewrite", Stale)]),
        (Defect::EvictsUnwritten, "data: emptied cache", vec![("emptied cache", Zeros)]),
        (Defect::EmptiesOnOpen, "file sets: read of", vec![("read of a set", Length)]),
    ] {
        assert_found(&Fake::files(defect), only, &expected);
    }
}

#[test]
fn jobs_find_wrong_names_and_objects() {
    use Symptom::{Length, Name, Size};
    for (defect, only, expected) in [
        (Defect::ReportsOtherSizes, "names: stat", vec![("stat", Size)]),
        (Defect::KeepsUnlinked, "names: unlink", vec![("unlink", Name)]),
        (Defect::KeepsUnlinked, "file sets: file_mix", vec![("file_mix", Name)]),
    ] {
        assert_found(&Fake::files(defect), only, &expected);
    }
    for (defect, only, expected) in [
        (Defect::ReportsOtherSizes, "objects: head (7", vec![("head", Size)]),
        (Defect::EmptiesOnCopy, "objects: copy (7", vec![("copy", Length)]),
    ] {
        assert_found(&Fake::objects(defect), only, &expected);
    }
}

#[test]
fn a_stopped_suite_has_done_nothing() {
    let (stop, so_far) = (StopFlag::default(), Mutex::default());
    stop.store(true, Ordering::Relaxed);
    let report = run(&Fake::files(Defect::FailsFlushes), "flush", &stop, &so_far);
    assert!(report.stopped);
    assert_eq!(report.count(Verdict::NotDone), 5, "{report}");
    assert!(report.rows.iter().all(|row| row.findings.is_empty()));
    assert_eq!(so_far.into_inner().unwrap().map(|known| known.rows.len()), Some(5));
}

/// If nothing can be removed, a group ends before it has filled the storage. The next group starts fresh.
#[test]
fn a_littered_group_is_given_up() {
    let mut fake = Fake::files(Defect::FailsRemoval);
    fake.able.sync = vec![assay_spec::SyncPolicy::Fsync, assay_spec::SyncPolicy::Fdatasync];
    fake.able.direct = true;
    let report = checked(&fake, "flush: ");
    let done =
        |group: &str, verdict| report.rows.iter().filter(|row| row.group == group && row.verdict == verdict).count();
    assert_eq!((done("flush", Verdict::Holds), done("flush", Verdict::NotDone)), (16, 2), "{report}");
    assert_eq!(report.rows.last().map(|row| row.findings.len()), Some(16));
}
