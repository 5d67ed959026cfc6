//! Storage that does what it should passes every check; storage that lies in one way fails those that look for it, and no
//! other.

use crate::fake::{Fake, Lie};
use crate::{run, Report, Symptom, Verdict};
use assay_drive::StopFlag;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::Mutex;

/// Checks in only one way: those by hand.
const BY_HAND: &str = "()";
/// For a device: little, so that it is quickly read.
const DEVICE: usize = 1 << 20;

fn checked(fake: &Fake, only: &str) -> Report {
    run(fake, only, &StopFlag::default(), &Mutex::default())
}

/// What does not hold, and what it looks like.
fn seen(fake: &Fake, only: &str) -> BTreeSet<(String, Symptom)> {
    let report = checked(fake, only);
    assert!(report.rows.len() > 1, "no check is called {only}");
    let rows = report.rows.iter().filter(|row| row.verdict == Verdict::DoesNotHold);
    rows.flat_map(|row| row.findings.iter().map(|finding| (row.check.clone(), finding.symptom))).collect()
}

/// A lie is seen by just these checks.
fn sees(fake: &Fake, only: &str, expected: &[(&str, Symptom)]) {
    let expected: BTreeSet<(String, Symptom)> = expected.iter().map(|(name, it)| ((*name).to_owned(), *it)).collect();
    assert_eq!(seen(fake, only), expected, "{:?}", fake.lie);
}

#[test]
fn what_does_as_it_should_passes_and_is_left_empty() {
    let checks = |fake: Fake, only| {
        let report = checked(&fake, only);
        assert_eq!(report.count(Verdict::Holds), report.rows.len(), "{report}");
        (report.rows.len(), fake.left())
    };
    assert_eq!(checks(Fake::files(Lie::None), BY_HAND), (15, vec![]));
    assert_eq!(checks(Fake::files(Lie::None), "flush"), (6, vec![]));
    assert_eq!(checks(Fake::device(Lie::None, DEVICE), "ends"), (2, vec!["f0".to_owned()]));
    assert_eq!(checks(Fake::objects(Lie::None), BY_HAND), (8, vec![]));
}

#[test]
fn who_sees_what_was_written_and_when() {
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
    for (lie, expected) in [
        (Lie::HidesUntilFlush, vec![(before, Stale)]),
        (Lie::RemembersReads, vec![(before, Stale), (flushed, Stale)]),
        (Lie::ForgetsAtClose, vec![(closed, Unstable)]),
        (Lie::LosesOverwrites, all(Stale, Unstable)),
        (Lie::TearsOverwrites, all(Torn, Torn)),
        (Lie::FailsFlushes, all(Refused, Refused)),
        (Lie::ReadsShort, all(Length, Length)),
        // A file that is opened before it is closed is empty.
        (Lie::HidesUntilClose, all(Length, Length)),
    ] {
        sees(&Fake::files(lie), "flush", &expected);
    }
}

#[test]
fn where_files_end_and_what_names_mean() {
    use Symptom::{Contents, Corrupt, Length, Listing, Name, Refused, Size};
    let (given_up, not_there) = ("a name that is given up", "a name that is not there");
    for (lie, expected) in [
        (Lie::PadsTheEnd, vec![("the end", Length)]),
        (Lie::FailsBeyondTheEnd, vec![("beyond the end", Refused)]),
        (Lie::FillsHoles, vec![("holes", Corrupt)]),
        (Lie::LosesAppends, vec![("growth", Length)]),
        (Lie::KeepsWhatItWas, vec![("emptied files", Length)]),
        (Lie::MakesWhatIsOpened, vec![("a file that is not there", Name)]),
        (Lie::FailsToReserve, vec![("reserved space", Refused)]),
        (Lie::CutsContents, vec![("sizes", Contents)]),
        (Lie::ReplacesTaken, vec![("a name that is taken", Name)]),
        (Lie::FindsMissing, vec![(not_there, Name), (given_up, Name), ("renaming", Name)]),
        (Lie::KeepsUnlinked, vec![(given_up, Name), ("listing", Listing)]),
        (Lie::RevivesContents, vec![(given_up, Contents)]),
        (Lie::CopiesOnRename, vec![("renaming", Name)]),
        (Lie::RefusesToReplace, vec![("renaming", Name)]),
        (Lie::MakesDirectoriesTwice, vec![("directories", Name)]),
        (Lie::ListsRemoved, vec![("listing", Listing)]),
        (Lie::ListsOnePage, vec![("listing", Listing)]),
        (Lie::FailsRemoval, vec![("removal", Symptom::Remains)]),
        (
            Lie::TellsOtherSizes,
            ["sizes", "a name that is taken", not_there, given_up, "renaming"].map(|name| (name, Size)).to_vec(),
        ),
    ] {
        sees(&Fake::files(lie), BY_HAND, &expected);
    }
}

#[test]
fn a_device_whose_addresses_begin_anew() {
    let report = checked(&Fake::device(Lie::WrapsAddresses, DEVICE), "ends");
    let findings = &report.rows[0].findings;
    assert_eq!(findings.len(), 3, "{report}");
    for finding in findings {
        assert_eq!((finding.symptom, finding.action.as_str()), (Symptom::Corrupt, "read"), "{report}");
        // What lies there was written half a device further on.
        let instead = finding.offset.unwrap() / 4096 * 4096 + DEVICE as u64 / 2;
        assert_eq!(finding.remark, format!("it is what was written at {instead}"));
    }
}

#[test]
fn what_keys_mean() {
    use Symptom::{Length, Listing, Name, Size};
    let (taken, not_there, given_up) = ("a key that is taken", "a key that is not there", "a key that is given up");
    for (lie, only, expected) in [
        (Lie::IgnoresRanges, "s ()", vec![("ranges", Symptom::Corrupt)]),
        (Lie::KeepsLongerTail, "n ()", vec![(taken, Length)]),
        (Lie::GetsMissing, "e ()", vec![(not_there, Name)]),
        (Lie::KeepsDeleted, "p ()", vec![(given_up, Name)]),
        (Lie::LeavesOneOfMany, "g ()", vec![("listing", Listing)]),
        (Lie::ListsOnePage, "g ()", vec![("listing", Listing)]),
        (Lie::TellsOtherSizes, "sizes ()", vec![("sizes", Size)]),
        (Lie::ShowsIncomplete, "parts ()", vec![("parts", Name)]),
        (Lie::MixesParts, "parts ()", vec![("parts", Symptom::Corrupt)]),
    ] {
        sees(&Fake::objects(lie), only, &expected);
    }
}

/// What jobs find they read again, to tell what it is.
#[test]
fn jobs_tell_what_is_wrong_with_data() {
    use Symptom::{Corrupt, Fleeting, Length, Stale, Zeros};
    for (lie, only, expected) in [
        (Lie::FlipsBits, "data: read", vec![("read", Corrupt)]),
        (Lie::FlipsBitsOnce, "data: read", vec![("read", Fleeting)]),
        (Lie::ReadsShort, "data: read", vec![("read", Length)]),
        (Lie::LosesOverwrites, "data: re", vec![("rewrite", Stale)]),
        (Lie::EvictsUnwritten, "data: emptied cache", vec![("emptied cache", Zeros)]),
        (Lie::EmptiesOnOpen, "file sets: read of", vec![("read of a set", Length)]),
    ] {
        sees(&Fake::files(lie), only, &expected);
    }
}

#[test]
fn jobs_tell_what_is_wrong_with_names_and_objects() {
    use Symptom::{Length, Name, Size};
    for (lie, only, expected) in [
        (Lie::TellsOtherSizes, "names: stat", vec![("stat", Size)]),
        (Lie::KeepsUnlinked, "names: unlink", vec![("unlink", Name)]),
        (Lie::KeepsUnlinked, "file sets: file_mix", vec![("file_mix", Name)]),
    ] {
        sees(&Fake::files(lie), only, &expected);
    }
    for (lie, only, expected) in [
        (Lie::TellsOtherSizes, "objects: head (7", vec![("head", Size)]),
        (Lie::EmptiesOnCopy, "objects: copy (7", vec![("copy", Length)]),
    ] {
        sees(&Fake::objects(lie), only, &expected);
    }
}

#[test]
fn who_is_stopped_has_done_nothing() {
    let (stop, so_far) = (StopFlag::default(), Mutex::default());
    stop.store(true, Ordering::Relaxed);
    let report = run(&Fake::files(Lie::FailsFlushes), "flush", &stop, &so_far);
    assert!(report.stopped);
    assert_eq!(report.count(Verdict::NotDone), 5, "{report}");
    assert!(report.rows.iter().all(|row| row.findings.is_empty()));
    assert_eq!(so_far.into_inner().unwrap().map(|known| known.rows.len()), Some(5));
}

/// Where nothing can be removed, a group ends before it has filled the storage; the next one begins anew.
#[test]
fn a_littered_group_is_given_up() {
    let mut fake = Fake::files(Lie::FailsRemoval);
    fake.able.sync = vec![assay_spec::SyncPolicy::Fsync, assay_spec::SyncPolicy::Fdatasync];
    fake.able.direct = true;
    let report = checked(&fake, "flush: ");
    let done =
        |group: &str, verdict| report.rows.iter().filter(|row| row.group == group && row.verdict == verdict).count();
    assert_eq!((done("flush", Verdict::Holds), done("flush", Verdict::NotDone)), (16, 2), "{report}");
    assert_eq!(report.rows.last().map(|row| row.findings.len()), Some(16));
}
