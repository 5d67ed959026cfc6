//! `assay-switch ready`: whether servers answer, asked from inside their namespace.

use crate::{value, Outcome};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(5);
const ONE_TRY: Duration = Duration::from_secs(1);
/// Bytes of the least accepted reply: its mark, and six words of RFC 5531.
const REPLY: usize = 28;

/// A port that must answer.
#[derive(Debug, PartialEq)]
struct Service {
    address: SocketAddr,
    /// Program and version of ONC RPC; None if a connection is enough.
    program: Option<(u32, u32)>,
}

pub(crate) fn main(words: &[String]) -> Outcome<ExitCode> {
    let mut words = words.iter();
    let (mut within, mut services) = (Duration::ZERO, vec![]);
    while let Some(word) = words.next() {
        if word == "--within-ms" {
            let time = value(word, &mut words)?;
            within = Duration::from_millis(time.parse().map_err(|error| format!("--within-ms {time}: {error}"))?);
        } else {
            services.push(parse(word)?);
        }
    }
    let end = Instant::now() + within;
    for service in &services {
        while let Err(error) = service.ask() {
            if Instant::now() >= end {
                eprintln!("{}: {error}", service.address);
                return Ok(ExitCode::from(1));
            }
            sleep(PAUSE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(word: &str) -> Outcome<Service> {
    let wrong = || format!("{word}: write ADDRESS:PORT or ADDRESS:PORT/PROGRAM/VERSION");
    let mut parts = word.split('/');
    let address = parts.next().and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
    let numbers: Vec<u32> = parts.map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    match numbers[..] {
        [] => Ok(Service { address, program: None }),
        [program, version] => Ok(Service { address, program: Some((program, version)) }),
        _ => Err(wrong()),
    }
}

impl Service {
    fn ask(&self) -> Outcome<()> {
        let mut stream = TcpStream::connect_timeout(&self.address, ONE_TRY).map_err(|error| error.to_string())?;
        match self.program {
            Some((program, version)) => null_call(&mut stream, program, version),
            None => Ok(()),
        }
    }
}

/// Procedure 0 of a program, with neither arguments nor credentials (RFC 5531, section 9).
fn null_call(stream: &mut TcpStream, program: u32, version: u32) -> Outcome<()> {
    const CALL: u32 = 0;
    let id = 0x4153_5359;
    let words = [0x8000_0028, id, CALL, 2, program, version, 0, 0, 0, 0, 0];
    let request: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let mut reply = [0; REPLY];
    stream
        .set_read_timeout(Some(ONE_TRY))
        .and_then(|()| stream.write_all(&request))
        .and_then(|()| stream.read_exact(&mut reply))
        .map_err(|error| format!("no answer to a NULL call: {error}"))?;
    if accepted(&reply, id) {
        Ok(())
    } else {
        Err(format!("program {program} version {version} is refused"))
    }
}

/// Whether a reply to this call says: accepted, successful.
fn accepted(reply: &[u8; REPLY], id: u32) -> bool {
    const REPLIED: u32 = 1;
    let word = |at: usize| u32::from_be_bytes([reply[at], reply[at + 1], reply[at + 2], reply[at + 3]]);
    let (accepted, successful) = (0, 0);
    word(4) == id && word(8) == REPLIED && word(12) == accepted && word(20) == 0 && word(24) == successful
}

#[cfg(test)]
mod tests {
    use super::{accepted, null_call, parse, Service};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    fn reply(words: [u32; 7]) -> [u8; 28] {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.try_into().unwrap()
    }

    #[test]
    fn reads_services() {
        let address = "10.0.0.1:2049".parse().unwrap();
        assert_eq!(parse("10.0.0.1:2049"), Ok(Service { address, program: None }));
        assert_eq!(parse("10.0.0.1:2049/100003/3"), Ok(Service { address, program: Some((100_003, 3)) }));
        for wrong in ["10.0.0.1", "10.0.0.1:1/2", "10.0.0.1:1/2/x", "10.0.0.1:1/2/3/4", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tells_success_from_refusal() {
        assert!(accepted(&reply([0x8000_0018, 7, 1, 0, 0, 0, 0]), 7));
        assert!(!accepted(&reply([0x8000_0018, 8, 1, 0, 0, 0, 0]), 7), "another call's");
        assert!(!accepted(&reply([0x8000_0018, 7, 1, 1, 0, 0, 0]), 7), "denied");
        assert!(!accepted(&reply([0x8000_0018, 7, 1, 0, 0, 0, 1]), 7), "program unavailable");
    }

    #[test]
    fn asks_a_server() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            for status in [0, 1] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut call = [0; 44];
                stream.read_exact(&mut call).unwrap();
                let id = u32::from_be_bytes([call[4], call[5], call[6], call[7]]);
                stream.write_all(&reply([0x8000_0018, id, 1, 0, 0, 0, status])).unwrap();
            }
        });
        assert_eq!(null_call(&mut TcpStream::connect(address).unwrap(), 100_003, 3), Ok(()));
        assert!(null_call(&mut TcpStream::connect(address).unwrap(), 100_003, 9).is_err());
        server.join().unwrap();
    }
}
