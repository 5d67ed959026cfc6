//! What the engine does with input that nobody meant. Each function takes any bytes and must neither panic, overflow,
//! nor take much time or memory. The fuzz targets and the tests both call them.

mod run;

use assay_backend_null::NullBackend;
use assay_core::{Backend, Buffers, LaneSetup, Op, OpKind, PhasePlan};
use assay_drive::arrivals::Schedule;
use assay_drive::control::{next_line, parse_command, Command, MAX_LINE_BYTES};
use assay_drive::objects::{Lengths, ObjectSteps, PresentObjects};
use assay_drive::pattern::{Contents, Pattern, Share};
use assay_spec::{Group, Job, NullTarget, Operation, Phase, Target};
use std::sync::Arc;

/// What came of the text of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is not one.
    Unread,
    /// A rule refuses it.
    Refused,
    /// It passes; too large to be run here.
    Passed,
    /// It passes and was run on the null backend.
    Ran,
}

/// Steps of a pattern that are looked at.
const STEPS: u64 = 4;

/// Reads a job, checks it, plans it, and runs it on the null backend if it takes a few milliseconds.
pub fn job(text: &[u8]) -> Fate {
    let Ok(job) = serde_json::from_slice::<Job>(text) else { return Fate::Unread };
    if let Err(error) = job.validate() {
        let line = error.to_string();
        assert!(!line.contains('\n') && line.len() < 300 && !error.field.is_empty(), "a refusal is one line: {line}");
        return Fate::Refused;
    }
    check_totals(&job);
    for (number, phase) in job.phases.iter().enumerate() {
        for lane in [0, job.lanes - 1] {
            plan(&job, number as u32, phase, job.first_lane() + lane);
        }
    }
    if let Target::Null(target) = &job.target {
        serve(&job, target);
    }
    if run::is_small(&job) {
        run::run(&job);
        return Fate::Ran;
    }
    Fate::Passed
}

/// Checks the totals of a valid job, and that it stays the same after writing and reading.
fn check_totals(job: &Job) {
    let text = serde_json::to_string(job).expect("a job can be written");
    assert_eq!(&serde_json::from_str::<Job>(&text).expect("what was written can be read"), job);
    assert_eq!(u64::from(job.all_lanes()), u64::from(job.lanes) * u64::from(job.ranks));
    assert!(u64::from(job.first_lane()) + u64::from(job.lanes) <= u64::from(job.all_lanes()));
    assert!(i64::try_from(job.data_bytes()).is_ok(), "{} bytes of data", job.data_bytes());
    assert!(job.memory_bytes() <= 64 << 30, "{} bytes of memory", job.memory_bytes());
}

/// The steps and starts of a lane.
fn plan(job: &Job, number: u32, phase: &Phase, lane: u32) {
    let share = Share::new(job.layout, lane, job.all_lanes(), job.file_size_bytes, job.record_size_bytes);
    let share = share.in_blocks(job.block_records());
    let mut pattern = match (&job.tree, &job.objects) {
        (Some(_), _) if phase.operation.group() == Some(Group::Data) => {
            let contents = Contents::Fixed(job.largest_size());
            Pattern::files(phase, job.record_size_bytes, STEPS, contents, true, job.seed)
        }
        (Some(tree), _) => Pattern::names(phase.operation, tree, 0, tree.files, Contents::Fixed(job.largest_size())),
        (None, Some(objects)) => {
            // How many there are may take long to add up.
            let count = objects.count.min(STEPS);
            Pattern::objects(ObjectSteps::new(
                job,
                phase,
                count,
                PresentObjects::first(count),
                Lengths::new(job, 0),
                job.seed,
            ))
        }
        (None, None) if phase.operation == Operation::Prepare => Pattern::fill(share, 0),
        (None, None) => Pattern::new(phase, share, job.seed),
    };
    assert!(i64::try_from(pattern.bytes()).is_ok());
    for _ in 0..pattern.count().min(STEPS) {
        let Some(step) = pattern.next_step() else { break };
        let end = step.offset.checked_add(step.length).expect("an offset in the file");
        let most = job.file_size_bytes.max(job.largest_size()).saturating_mul(u64::from(step.count.max(1)));
        assert!(end <= most, "{step:?}");
        pattern.on_end(&step, true);
    }
    if let Some(rate) = phase.rate_per_s {
        let mut schedule = Schedule::new(phase.arrivals, rate, lane, job.all_lanes(), u64::from(number));
        for _ in 0..STEPS {
            let before = schedule.next_ns();
            schedule.advance();
            assert!(schedule.next_ns() >= before, "starts follow each other");
        }
        // With random arrivals each is counted: within a stretch in which there are few.
        let _ = schedule.due_before(phase.runtime_ns.unwrap_or(1_000_000).min(1_000_000));
    }
}

/// A few operations of one lane, whose scripted ends are not waited for.
fn serve(job: &Job, target: &NullTarget) {
    if target.memory_copy_bytes > 1 << 20 {
        return;
    }
    let Ok(buffers) = Buffers::new(1, 1, false) else { return };
    let setup = LaneSetup::of(job.first_lane(), job.queue_depth, Arc::new(buffers));
    let setup = LaneSetup { tuning: job.tuning.clone(), direct: job.direct, ..setup };
    let backend = NullBackend::new(target.clone(), job.seed);
    let Ok(mut lane) = backend.open_lane(setup) else { return };
    let plan = PhasePlan { needs_data: false, ..PhasePlan::of_job(job, Operation::Read) };
    lane.begin(&plan).expect("the null device always begins");
    let length = job.record_size_bytes.min(1 << 20);
    let ops: Vec<Op> = (0..job.queue_depth.min(8))
        .map(|slot| Op { kind: OpKind::Read, count: 1, slot, object: 0, offset: 0, length })
        .collect();
    let (mut done, most) = (Vec::new(), ops.len());
    lane.exchange(&ops, &mut done, 0);
    assert!(done.len() <= most, "one completion for each operation");
}

/// Reads lines as the control channel does. Returns how many were understood.
pub fn control(text: &[u8]) -> usize {
    const NOW: u64 = 1_000_000_000;
    let (mut input, mut line, mut understood, mut read) = (text, Vec::new(), 0, 0);
    while let Some(whole) = next_line(&mut input, &mut line).expect("memory can be read") {
        assert!(line.len() <= MAX_LINE_BYTES && !line.contains(&b'\n'));
        read += line.len();
        let told = parse_command(&line, NOW).filter(|_| whole);
        if let Some(Command::Go(go)) = told {
            assert!(go.at_ns <= NOW + 3_600_000_000_000, "a start within the hour");
        }
        understood += usize::from(told.is_some());
    }
    assert!(read <= text.len());
    understood
}

/// Reads what a server sends: the first byte says in what pieces it comes.
pub fn nfs_reply(bytes: &[u8]) {
    let Some((piece, rest)) = bytes.split_first() else { return };
    assay_backend_nfs::fuzzing::results(rest);
    assay_backend_nfs::fuzzing::stream(rest, usize::from(*piece));
}

/// What an SMB server sends, at once and in pieces: nothing reads behind its end, writes where it has no room, or asks for
/// memory that was not sent.
pub fn smb_answer(bytes: &[u8]) {
    let Some((piece, rest)) = bytes.split_first() else { return };
    assay_backend_smb::fuzzing::answers(rest);
    assay_backend_smb::fuzzing::stream(rest, usize::from(*piece));
}
