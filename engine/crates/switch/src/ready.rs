//! `assay-switch ready`: checks from inside a namespace whether servers answer.

use crate::{value, Outcome};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(5);
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(1);
/// Bytes of the shortest accepted reply: its record mark and six words of RFC 5531.
const REPLY: usize = 28;

/// Number of bytes read of an HTTP response, enough for its status code.
const STATUS_LINE: usize = 16;
/// A server that responds with this status or a higher one is up but not ready (RFC 9110, section 15.6). A server that
/// first wants credentials, or does not know the page, is ready.
const SERVER_ERROR: u16 = 500;

/// A service that must answer.
#[derive(Debug, PartialEq)]
struct Service {
    address: SocketAddr,
    request: Request,
}

/// The request sent to a service.
#[derive(Debug, PartialEq)]
enum Request {
    /// None: a connection is enough.
    Connect,
    /// A call of procedure 0 of an ONC RPC program and version.
    Rpc { program: u32, version: u32 },
    /// An HTTP GET of this path.
    Http { path: String },
}

pub(crate) fn main(words: &[String]) -> Outcome<ExitCode> {
    let mut words = words.iter();
    let (mut time_limit, mut services) = (Duration::ZERO, vec![]);
    while let Some(word) = words.next() {
        if word == "--within-ms" {
            let time = value(word, &mut words)?;
            time_limit = Duration::from_millis(time.parse().map_err(|error| format!("--within-ms {time}: {error}"))?);
        } else {
            services.push(parse(word)?);
        }
    }
    let end = Instant::now() + time_limit;
    for service in &services {
        while let Err(error) = service.probe() {
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
    let wrong = || format!("{word}: write ADDRESS:PORT, ADDRESS:PORT/PROGRAM/VERSION or http://ADDRESS:PORT/PATH");
    if let Some(rest) = word.strip_prefix("http://") {
        let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let address = place.parse().map_err(|_| wrong())?;
        let plain = path.bytes().all(|byte| byte.is_ascii_graphic());
        let path = if path.is_empty() { "/" } else { path }.to_string();
        return if plain { Ok(Service { address, request: Request::Http { path } }) } else { Err(wrong()) };
    }
    let mut parts = word.split('/');
    let address = parts.next().and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
    let numbers: Vec<u32> = parts.map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    match numbers[..] {
        [] => Ok(Service { address, request: Request::Connect }),
        [program, version] => Ok(Service { address, request: Request::Rpc { program, version } }),
        _ => Err(wrong()),
    }
}

impl Service {
    fn probe(&self) -> Outcome<()> {
        let mut stream =
            TcpStream::connect_timeout(&self.address, ATTEMPT_TIMEOUT).map_err(|error| error.to_string())?;
        match &self.request {
            Request::Connect => Ok(()),
            Request::Rpc { program, version } => null_call(&mut stream, *program, *version),
            Request::Http { path } => get(&mut stream, self.address, path),
        }
    }
}

/// Sends a GET by HTTP/1.0, after which the server closes the connection (RFC 1945, section 1.3).
fn get(stream: &mut TcpStream, address: SocketAddr, path: &str) -> Outcome<()> {
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nUser-Agent: assay-switch\r\n\r\n");
    let mut answer = Vec::new();
    stream
        .set_read_timeout(Some(ATTEMPT_TIMEOUT))
        .and_then(|()| stream.write_all(request.as_bytes()))
        .and_then(|()| stream.take(STATUS_LINE as u64).read_to_end(&mut answer))
        .map_err(|error| format!("no answer to GET {path}: {error}"))?;
    match status(&answer) {
        Some(status) if status < SERVER_ERROR => Ok(()),
        Some(status) => Err(format!("GET {path} is answered with status {status}")),
        None => Err(format!("what answers GET {path} is not HTTP")),
    }
}

/// The status in the first line of a response, such as `HTTP/1.1 200 OK` (RFC 9112, section 4).
fn status(answer: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(answer).ok()?;
    let (version, rest) = text.split_once(' ')?;
    let code = rest.get(..3)?;
    let known = version.strip_prefix("HTTP/1.").is_some_and(|minor| minor.len() == 1);
    code.parse().ok().filter(|status| known && (100..600).contains(status))
}

/// Calls procedure 0 of a program, with neither arguments nor credentials (RFC 5531, section 9).
fn null_call(stream: &mut TcpStream, program: u32, version: u32) -> Outcome<()> {
    const CALL: u32 = 0;
    let id = 0x4153_5359;
    let words = [0x8000_0028, id, CALL, 2, program, version, 0, 0, 0, 0, 0];
    let request: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let mut reply = [0; REPLY];
    stream
        .set_read_timeout(Some(ATTEMPT_TIMEOUT))
        .and_then(|()| stream.write_all(&request))
        .and_then(|()| stream.read_exact(&mut reply))
        .map_err(|error| format!("no answer to a NULL call: {error}"))?;
    if accepted(&reply, id) {
        Ok(())
    } else {
        Err(format!("program {program} version {version} is refused"))
    }
}

/// Whether this is a reply to call `id` with the states accepted and successful.
fn accepted(reply: &[u8; REPLY], id: u32) -> bool {
    const REPLIED: u32 = 1;
    let word = |at: usize| u32::from_be_bytes([reply[at], reply[at + 1], reply[at + 2], reply[at + 3]]);
    let (accepted, successful) = (0, 0);
    word(4) == id && word(8) == REPLIED && word(12) == accepted && word(20) == 0 && word(24) == successful
}

#[cfg(test)]
mod tests {
    use super::{accepted, get, null_call, parse, status, Request, Service};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    fn reply(words: [u32; 7]) -> [u8; 28] {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.try_into().unwrap()
    }

    #[test]
    fn services_are_parsed() {
        let address = "10.0.0.1:2049".parse().unwrap();
        let asked = |word: &str| parse(word).map(|service| (service.address == address, service.request));
        let http = |path: &str| Request::Http { path: path.to_string() };
        assert_eq!(parse("10.0.0.1:2049"), Ok(Service { address, request: Request::Connect }));
        assert_eq!(asked("10.0.0.1:2049/100003/3"), Ok((true, Request::Rpc { program: 100_003, version: 3 })));
        assert_eq!(asked("http://10.0.0.1:2049"), Ok((true, http("/"))));
        assert_eq!(asked("http://10.0.0.1:2049/a/b?c=1"), Ok((true, http("/a/b?c=1"))));
        for wrong in ["10.0.0.1", "10.0.0.1:1/2", "10.0.0.1:1/2/x", "10.0.0.1:1/2/3/4", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["http://10.0.0.1/", "http://host:80/", "https://10.0.0.1:1/", "http://10.0.0.1:1/ x"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn refused_replies_are_not_accepted() {
        assert!(accepted(&reply([0x8000_0018, 7, 1, 0, 0, 0, 0]), 7));
        assert!(!accepted(&reply([0x8000_0018, 8, 1, 0, 0, 0, 0]), 7), "another call's");
        assert!(!accepted(&reply([0x8000_0018, 7, 1, 1, 0, 0, 0]), 7), "denied");
        assert!(!accepted(&reply([0x8000_0018, 7, 1, 0, 0, 0, 1]), 7), "program unavailable");
    }

    #[test]
    fn null_call_is_sent_and_answered() {
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

    #[test]
    fn http_status_is_parsed() {
        for (answer, found) in [
            ("HTTP/1.1 200 OK\r\n", Some(200)),
            ("HTTP/1.0 403", Some(403)),
            ("HTTP/1.1 503 Slow", Some(503)),
            ("HTTP/1.1 20", None),
            ("HTTP/1.1 999 ", None),
            ("HTTP/1.1", None),
            ("SSH-2.0-OpenSSH_9", None),
            ("220 ftp ready", None),
            ("", None),
        ] {
            assert_eq!(status(answer.as_bytes()), found, "{answer}");
        }
        assert_eq!(status(&[0xff, 0xfe]), None);
    }

    #[test]
    fn http_get_is_sent_and_answered() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            for answer in ["HTTP/1.0 403 Forbidden\r\n\r\n", "HTTP/1.1 503 Unavailable\r\n\r\n", ""] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = vec![0; 512];
                let read = stream.read(&mut request).unwrap();
                assert!(request[..read].starts_with(b"GET /up HTTP/1.0\r\nHost: 127.0.0.1:"));
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        let probe = || get(&mut TcpStream::connect(address).unwrap(), address, "/up");
        assert_eq!(probe(), Ok(()), "it answers, and wants credentials");
        assert!(probe().unwrap_err().contains("status 503"));
        assert!(probe().unwrap_err().contains("not HTTP"));
        server.join().unwrap();
    }

    #[test]
    fn any_changed_status_bit_is_refused() {
        let right = reply([0x8000_0018, 7, 1, 0, 5, 0, 0]);
        for bit in 0..28 * 8 {
            let mut changed = right;
            changed[bit / 8] ^= 1 << (bit % 8);
            // The length of the record and the kind of the server's credentials do not matter.
            let same = matches!(bit / 32, 0 | 4);
            assert_eq!(accepted(&changed, 7), same, "bit {bit}");
        }
    }

    #[test]
    fn truncated_replies_are_errors() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            for length in [0, 4, 27] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut call = [0; 44];
                stream.read_exact(&mut call).unwrap();
                let id = u32::from_be_bytes([call[4], call[5], call[6], call[7]]);
                stream.write_all(&reply([0x8000_0018, id, 1, 0, 0, 0, 0])[..length]).unwrap();
            }
        });
        for length in [0, 4, 27] {
            let answered = null_call(&mut TcpStream::connect(address).unwrap(), 100_003, 3);
            assert!(answered.is_err(), "after {length} bytes");
        }
        server.join().unwrap();
    }

    #[test]
    fn only_valid_statuses_are_parsed() {
        for code in 0..1000_u16 {
            let known = (100..600).contains(&code).then_some(code);
            assert_eq!(status(format!("HTTP/1.1 {code:03} ").as_bytes()), known);
            assert_eq!(status(format!("HTTP/2 {code:03} ").as_bytes()), None);
        }
        for length in 0..12 {
            assert_eq!(status(&b"HTTP/1.1 200"[..length]), None, "{length} bytes");
        }
        // A character of two bytes crosses the end of the code.
        assert_eq!(status("HTTP/1.1 20é".as_bytes()), None);
    }
}
