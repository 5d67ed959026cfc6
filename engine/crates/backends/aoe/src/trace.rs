//! Frames on the wire, decoded into lines that people read.

use crate::discover::cannot;
use crate::frame::{command_name, decode, Address, Body, Config, Frame, Mac};
use crate::status::{of_registers, refused};
use crate::wire::{self, Socket, Wanted, Wire};
use assay_core::{clock, fault_name, SetupError};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

/// The end is noticed this late at most.
const LOOK_NS: u64 = 20_000_000;
/// Questions without an answer that are kept, to know what later answers are about.
const MOST_ASKED: usize = 4096;

/// Prints what goes over interfaces until it is dropped; frames that were there by then are still printed.
pub struct Trace {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Trace {
    /// Begins to watch. Every frame of AoE that leaves or reaches one of the interfaces is a line.
    ///
    /// # Errors
    /// If an interface cannot be listened to.
    pub fn start(interfaces: &[String], print: fn(&str)) -> Result<Self, SetupError> {
        let mut trace = Trace { over: Arc::default(), threads: Vec::new() };
        for interface in interfaces {
            let socket = Socket::open(interface, Wanted::Everything).map_err(|errno| cannot(interface, errno))?;
            let (over, name) = (Arc::clone(&trace.over), interface.clone());
            trace.threads.push(std::thread::spawn(move || watch(socket, &name, &over, print)));
        }
        Ok(trace)
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn watch(mut socket: Socket, interface: &str, over: &AtomicBool, print: fn(&str)) {
    let (mac, begin, mut asked) = (socket.mac(), clock::now(), Asked::default());
    loop {
        let last = over.load(Ordering::Relaxed);
        let got = socket.receive(|bytes| {
            let Some(frame) = decode(bytes) else { return };
            let way = if frame.address.from == mac { '>' } else { '<' };
            let seconds = (clock::now() - begin) as f64 / 1e9;
            print(&format!("{seconds:11.6} {interface} {way} {}", asked.line(&frame)));
        });
        match got {
            // An interface that has gone down, or away, has no frames.
            Ok(0) | Err(_) if last => return,
            Ok(0) => {
                let mut entry = [libc::pollfd { fd: socket.descriptor(), events: libc::POLLIN, revents: 0 }];
                wire::wait(&mut entry, LOOK_NS);
            }
            Ok(_) => {}
            Err(_) => wire::wait(&mut [], LOOK_NS),
        }
    }
}

/// Commands of questions: answers have the disk's status in that place.
#[derive(Default)]
struct Asked(HashMap<(Mac, u32), u8>);

impl Asked {
    /// A frame in words.
    fn line(&mut self, frame: &Frame<'_>) -> String {
        let Address { shelf, slot, to, from } = frame.address;
        let asker = if frame.response { to } else { from };
        let disk = match (shelf, slot) {
            (crate::frame::EVERY_SHELF, crate::frame::EVERY_SLOT) => "all".to_owned(),
            _ => format!("e{shelf}.{slot}"),
        };
        let what = match &frame.body {
            Some(Body::Config(config)) => config_words(config, frame.response),
            Some(Body::Ata { .. }) => self.ata_words(frame, asker),
            Some(Body::Other(number)) => format!("command {number}"),
            None => "cut off".to_owned(),
        };
        let kind = if frame.response { "answer" } else { "question" };
        let error = frame.error.map_or(String::new(), |error| {
            let name = fault_name(refused(error)).map_or(String::new(), |name| format!(" ({name})"));
            format!(", refused: error {error}{name}")
        });
        format!("{disk} {kind} tag {:08x} {what}{error}", frame.tag)
    }

    fn ata_words(&mut self, frame: &Frame<'_>, asker: Mac) -> String {
        let Some(Body::Ata { status, error, sectors, lba, data }) = frame.body else { return String::new() };
        if !frame.response {
            if self.0.len() >= MOST_ASKED {
                self.0.clear();
            }
            self.0.insert((asker, frame.tag), status);
            return format!("{} ({status:#04x}) lba {lba} sectors {sectors}", command_name(status));
        }
        let name = match self.0.remove(&(asker, frame.tag)) {
            Some(code) => format!("{} ({code:#04x})", command_name(code)),
            // Asked before the watch began, or answered twice.
            None => "ATA".to_owned(),
        };
        let failed =
            of_registers(status, error).err().and_then(fault_name).map_or(String::new(), |name| format!(" ({name})"));
        format!("{name} lba {lba} status {status:#04x} error {error:#04x}{failed} bytes {}", data.len())
    }
}

fn config_words(config: &Config, response: bool) -> String {
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

    fn line(asked: &mut Asked, bytes: &[u8]) -> String {
        asked.line(&decode(bytes).unwrap())
    }

    #[test]
    fn lines_tell_what_was_asked_and_how_it_was_answered() {
        let mut asked = Asked::default();
        let address = Address { to: [2; 6], from: [4; 6], shelf: 1, slot: 2 };
        let question = ata(&address, 0x8012_3401, Command::Read, 6, 2);
        let mut reply = answer(&question, None);
        (reply[HEADER + 3], reply[HEADER + 1]) = (0x41, 0x10);
        reply.resize(ATA_HEADER + 1024, 0);
        assert_eq!(line(&mut asked, &question), "e1.2 question tag 80123401 READ SECTORS EXT (0x24) lba 6 sectors 2");
        let told = "lba 6 status 0x41 error 0x10 (ATA IDNF (no such sector)) bytes 1024";
        assert_eq!(line(&mut asked, &reply), format!("e1.2 answer tag 80123401 READ SECTORS EXT (0x24) {told}"));
        assert_eq!(line(&mut asked, &reply), format!("e1.2 answer tag 80123401 ATA {told}"));
        let refused = answer(&question, Some(3));
        assert!(line(&mut asked, &refused).ends_with("refused: error 3 (device unavailable)"));
    }

    #[test]
    fn a_query_of_all_disks_and_what_one_says() {
        let mut asked = Asked::default();
        let all = Address { to: BROADCAST, from: [4; 6], shelf: EVERY_SHELF, slot: EVERY_SLOT };
        assert_eq!(line(&mut asked, &query(&all, 1)), "all question tag 00000001 CONFIG QUERY");
        let mut reply = answer(&query(&Address { to: [2; 6], shelf: 1, slot: 0, ..all }, 1), None);
        reply.splice(HEADER.., [0, 16, 0x40, 0x17, 2, 0x10, 0, 1, b'x']);
        let expected = "e1.0 answer tag 00000001 CONFIG buffers 16 firmware 4017 sectors 2 AoE 1 text \"x\"";
        assert_eq!(line(&mut asked, &reply), expected);
        assert_eq!(line(&mut asked, &reply[..HEADER + 2]), "e1.0 answer tag 00000001 cut off");
    }
}
