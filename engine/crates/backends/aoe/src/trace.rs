//! Frames on the wire, decoded into lines for people.

use crate::discover::interface_error;
use crate::frame::{command_name, decode, Address, Body, Config, Frame, Mac};
use crate::status::{check_registers, refusal};
use crate::wire::{self, FrameFilter, Socket, Wire};
use assay_core::{clock, fault_name, SetupError};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

/// How often a watching thread checks whether it must end, in nanoseconds.
const STOP_CHECK_NS: u64 = 20_000_000;
/// Most questions that are remembered for later answers.
const MAX_PENDING: usize = 4096;

/// Prints the frames on interfaces until it is dropped; frames that have come by then are still printed.
pub struct Trace {
    stopped: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Trace {
    /// Begins to watch. Every frame of AoE that leaves or reaches one of the interfaces is a line.
    ///
    /// # Errors
    /// If an interface cannot be watched.
    pub fn start(interfaces: &[String], print: fn(&str)) -> Result<Self, SetupError> {
        let mut trace = Trace { stopped: Arc::default(), threads: Vec::new() };
        for interface in interfaces {
            let socket = Socket::open(interface, FrameFilter::IncomingAndOutgoing)
                .map_err(|errno| interface_error(interface, errno))?;
            let (stopped, name) = (Arc::clone(&trace.stopped), interface.clone());
            trace.threads.push(std::thread::spawn(move || watch(socket, &name, &stopped, print)));
        }
        Ok(trace)
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn watch(mut socket: Socket, interface: &str, stopped: &AtomicBool, print: fn(&str)) {
    let (mac, begin, mut pending) = (socket.mac(), clock::now(), PendingQuestions::default());
    loop {
        let last = stopped.load(Ordering::Relaxed);
        let got = socket.receive(|bytes| {
            let Some(frame) = decode(bytes) else { return };
            let way = if frame.address.from == mac { '>' } else { '<' };
            let seconds = (clock::now() - begin) as f64 / 1e9;
            print(&format!("{seconds:11.6} {interface} {way} {}", pending.line(&frame)));
        });
        match got {
            // An interface that is down or gone has no frames.
            Ok(0) | Err(_) if last => return,
            Ok(0) => {
                let mut entry = [libc::pollfd { fd: socket.descriptor(), events: libc::POLLIN, revents: 0 }];
                wire::wait(&mut entry, STOP_CHECK_NS);
            }
            Ok(_) => {}
            Err(_) => wire::wait(&mut [], STOP_CHECK_NS),
        }
    }
}

/// Commands of questions: answers have the disk's status in their place.
#[derive(Default)]
struct PendingQuestions(HashMap<(Mac, u32), u8>);

impl PendingQuestions {
    /// A frame as text.
    fn line(&mut self, frame: &Frame<'_>) -> String {
        let Address { shelf, slot, to, from } = frame.address;
        let initiator = if frame.response { to } else { from };
        let disk = match (shelf, slot) {
            (crate::frame::EVERY_SHELF, crate::frame::EVERY_SLOT) => "all".to_owned(),
            _ => format!("e{shelf}.{slot}"),
        };
        let what = match &frame.body {
            Some(Body::Config(config)) => config_text(config, frame.response),
            Some(Body::Ata { .. }) => self.ata_text(frame, initiator),
            Some(Body::Other(number)) => format!("command {number}"),
            None => "cut off".to_owned(),
        };
        let kind = if frame.response { "answer" } else { "question" };
        let error = frame.error.map_or(String::new(), |error| {
            let name = fault_name(refusal(error)).map_or(String::new(), |name| format!(" ({name})"));
            format!(", refused: error {error}{name}")
        });
        format!("{disk} {kind} tag {:08x} {what}{error}", frame.tag)
    }

    fn ata_text(&mut self, frame: &Frame<'_>, initiator: Mac) -> String {
        let Some(Body::Ata { status, error, sectors, lba, data }) = frame.body else { return String::new() };
        if !frame.response {
            if self.0.len() >= MAX_PENDING {
                self.0.clear();
            }
            self.0.insert((initiator, frame.tag), status);
            return format!("{} ({status:#04x}) lba {lba} sectors {sectors}", command_name(status));
        }
        let name = match self.0.remove(&(initiator, frame.tag)) {
            Some(code) => format!("{} ({code:#04x})", command_name(code)),
            // The question came before the watch began, or was answered twice.
            None => "ATA".to_owned(),
        };
        let failed = check_registers(status, error)
            .err()
            .and_then(fault_name)
            .map_or(String::new(), |name| format!(" ({name})"));
        format!("{name} lba {lba} status {status:#04x} error {error:#04x}{failed} bytes {}", data.len())
    }
}

fn config_text(config: &Config, response: bool) -> String {
    if !response {
        return "CONFIG QUERY".to_owned();
    }
    let Config { buffers, firmware, sectors, version, text } = config;
    let text = String::from_utf8_lossy(text);
    format!("CONFIG buffers {buffers} firmware {firmware:04x} sectors {sectors} AoE {version} text {text:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{answer, ata, query, Command, ATA_HEADER, BROADCAST, EVERY_SHELF, EVERY_SLOT, HEADER};

    fn line(pending: &mut PendingQuestions, bytes: &[u8]) -> String {
        pending.line(&decode(bytes).unwrap())
    }

    #[test]
    fn lines_show_questions_and_answers() {
        let mut pending = PendingQuestions::default();
        let address = Address { to: [2; 6], from: [4; 6], shelf: 1, slot: 2 };
        let question = ata(&address, 0x8012_3401, Command::Read, 6, 2);
        let mut reply = answer(&question, None);
        (reply[HEADER + 3], reply[HEADER + 1]) = (0x41, 0x10);
        reply.resize(ATA_HEADER + 1024, 0);
        assert_eq!(line(&mut pending, &question), "e1.2 question tag 80123401 READ SECTORS EXT (0x24) lba 6 sectors 2");
        let expected = "lba 6 status 0x41 error 0x10 (ATA IDNF (no such sector)) bytes 1024";
        assert_eq!(line(&mut pending, &reply), format!("e1.2 answer tag 80123401 READ SECTORS EXT (0x24) {expected}"));
        assert_eq!(line(&mut pending, &reply), format!("e1.2 answer tag 80123401 ATA {expected}"));
        let refusal = answer(&question, Some(3));
        assert!(line(&mut pending, &refusal).ends_with("refused: error 3 (device unavailable)"));
    }

    #[test]
    fn a_query_of_all_disks_and_the_answer_of_one() {
        let mut pending = PendingQuestions::default();
        let all = Address { to: BROADCAST, from: [4; 6], shelf: EVERY_SHELF, slot: EVERY_SLOT };
        assert_eq!(line(&mut pending, &query(&all, 1)), "all question tag 00000001 CONFIG QUERY");
        let mut reply = answer(&query(&Address { to: [2; 6], shelf: 1, slot: 0, ..all }, 1), None);
        reply.splice(HEADER.., [0, 16, 0x40, 0x17, 2, 0x10, 0, 1, b'x']);
        let expected = "e1.0 answer tag 00000001 CONFIG buffers 16 firmware 4017 sectors 2 AoE 1 text \"x\"";
        assert_eq!(line(&mut pending, &reply), expected);
        assert_eq!(line(&mut pending, &reply[..HEADER + 2]), "e1.0 answer tag 00000001 cut off");
    }
}
