//! A server that does as a test says, on a thread of its own.

use crate::lane::FileLane;
use crate::mount::Server;
use crate::place::Place;
use crate::xdr::{padding, put_opaque, put_u32, put_u64, u32_at, Input};
use assay_core::{Buffers, Fault, LaneSetup};
use assay_spec::NfsTarget;
use nfs3_types::nfs3::{fattr3, ftype3, nfstime3, specdata3};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Attributes of a plain file of so many bytes.
pub(crate) fn attributes(size: u64) -> fattr3 {
    let time = nfstime3 { seconds: 0, nseconds: 0 };
    fattr3 {
        type_: ftype3::NF3REG,
        mode: 0o600,
        nlink: 1,
        uid: 0,
        gid: 0,
        size,
        used: size,
        rdev: specdata3 { specdata1: 0, specdata2: 0 },
        fsid: 3,
        fileid: 4,
        atime: time,
        mtime: time,
        ctime: time,
    }
}

/// A call that has come.
pub(crate) struct Got {
    pub(crate) program: u32,
    pub(crate) xid: u32,
    pub(crate) number: u32,
    /// What the arguments start with: a handle, or the path of an export.
    pub(crate) object: Vec<u8>,
    /// All others.
    pub(crate) arguments: Vec<u8>,
}

impl Got {
    /// Offset and count of a READ, a WRITE or a COMMIT.
    pub(crate) fn range(&self) -> (u64, u32) {
        let mut input = Input(&self.arguments);
        (input.u64().unwrap(), input.u32().unwrap())
    }

    /// The data of a WRITE.
    pub(crate) fn data(&self) -> Vec<u8> {
        Input(&self.arguments[16..]).opaque(1 << 20).unwrap().to_vec()
    }
}

/// The server's side of a connection.
pub(crate) struct Wire(pub(crate) TcpStream);

impl Wire {
    /// The next call; none if the client has closed the connection.
    pub(crate) fn next(&mut self) -> Option<Got> {
        let mut mark = [0; 4];
        self.0.read_exact(&mut mark).ok()?;
        let mark = u32::from_be_bytes(mark);
        assert_eq!(mark >> 31, 1, "calls are sent in one fragment");
        let mut record = vec![0; (mark & 0x7fff_ffff) as usize];
        self.0.read_exact(&mut record).ok()?;
        let (xid, number) = (u32_at(&record, 0).unwrap(), u32_at(&record, 20).unwrap());
        let mut input = Input(&record[28..]);
        input.opaque(400).unwrap();
        input.u32().unwrap();
        input.opaque(400).unwrap();
        let object = input.opaque(1024).unwrap().to_vec();
        let program = u32_at(&record, 12).unwrap();
        Some(Got { program, xid, number, object, arguments: input.0.to_vec() })
    }

    /// The next so many calls.
    pub(crate) fn take(&mut self, count: usize) -> Vec<Got> {
        (0..count).map(|_| self.next().expect("another call")).collect()
    }

    /// Sends a record in fragments of at most so many bytes, the last of them marked.
    pub(crate) fn record(&mut self, record: &[u8], fragment: usize) {
        let mut stream = Vec::new();
        let mut parts = record.chunks(fragment).peekable();
        while let Some(part) = parts.next() {
            let last = if parts.peek().is_none() { 0x8000_0000 } else { 0 };
            put_u32(&mut stream, part.len() as u32 | last);
            stream.extend_from_slice(part);
        }
        // A client that has lost its patience is gone.
        let _ = self.0.write_all(&stream);
    }

    /// Answers with results, which start with a status.
    pub(crate) fn answer(&mut self, xid: u32, results: &[u8]) {
        self.record(&accepted(xid, results), usize::MAX);
    }
}

/// A reply with results, without its mark.
pub(crate) fn accepted(xid: u32, results: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [xid, 1, 0, 0, 0, 0] {
        put_u32(&mut out, word);
    }
    out.extend_from_slice(results);
    out
}

/// Results of a procedure that failed, with nothing after the status but absent attributes.
pub(crate) fn status(status: u32) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [status, 0, 0] {
        put_u32(&mut out, word);
    }
    out
}

/// Results of a READ.
pub(crate) fn read_results(data: &[u8], eof: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [0, 0, data.len() as u32, u32::from(eof)] {
        put_u32(&mut out, word);
    }
    put_opaque(&mut out, data);
    out
}

/// Results of a WRITE.
pub(crate) fn write_results(count: u32, committed: u32, verifier: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [0, 0, 0, count, committed] {
        put_u32(&mut out, word);
    }
    put_u64(&mut out, verifier);
    out
}

/// Results of a COMMIT.
pub(crate) fn commit_results(verifier: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [0, 0, 0] {
        put_u32(&mut out, word);
    }
    put_u64(&mut out, verifier);
    out
}

/// The byte at an offset of the file that `contents` gives.
pub(crate) fn byte_at(offset: u64) -> u8 {
    (offset ^ offset >> 8).wrapping_mul(31) as u8
}

/// Contents of a file, no matter how it is read.
pub(crate) fn contents((offset, count): (u64, u32)) -> Vec<u8> {
    (offset..offset + u64::from(count)).map(byte_at).collect()
}

/// A server under way.
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    /// Takes so many connections, one after the other, and gives them with their number to `script`.
    pub(crate) fn start(connections: usize, mut script: impl FnMut(usize, Wire) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            for number in 0..connections {
                let (stream, _) = listener.accept().unwrap();
                stream.set_nodelay(true).unwrap();
                script(number, Wire(stream));
            }
        });
        Fake { address, thread: Some(thread) }
    }

    /// Waits for the script to end, and passes its failures on.
    pub(crate) fn join(mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the script ran through");
        }
    }
}

/// What a test wants of a lane.
pub(crate) struct Wish {
    pub(crate) depth: u32,
    pub(crate) record: usize,
    pub(crate) call_bytes: u64,
    pub(crate) links: u32,
    pub(crate) timeout_ms: u64,
}

impl Default for Wish {
    fn default() -> Self {
        Wish { depth: 4, record: 4096, call_bytes: 1 << 20, links: 1, timeout_ms: 600_000 }
    }
}

/// A lane whose file is open, on a server, and its buffers.
pub(crate) fn lane(address: SocketAddr, wish: &Wish) -> (FileLane, Arc<Buffers>) {
    let target = NfsTarget {
        servers: vec![address.to_string()],
        export: "/export".to_owned(),
        root: "assay".to_owned(),
        directory: "job".to_owned(),
        mount_port: None,
        nconnect: wish.links,
        rsize: wish.call_bytes,
        wsize: wish.call_bytes,
        uid: Some(0),
        gid: Some(0),
        timeout_ns: wish.timeout_ms * 1_000_000,
    };
    let server = Server {
        name: address.to_string(),
        address,
        export: b"export".to_vec(),
        file_system: 3,
        read_limit: 1 << 20,
        write_limit: 1 << 20,
        listing_bytes: 4096,
        free_bytes: 0,
    };
    let buffers = Arc::new(Buffers::new(wish.depth as usize, wish.record, false).unwrap());
    let setup = LaneSetup::of(0, wish.depth, Arc::clone(&buffers));
    let place = Arc::new(Place::for_tests(target, vec![server]));
    (FileLane::with_handle(place, setup, b"file"), buffers)
}

#[test]
fn records_are_padded() {
    let results = read_results(b"abcde", true);
    assert_eq!(results.len(), 20 + 5 + padding(5));
}

/// A result as a small number.
pub(crate) fn plain(result: Result<u64, Fault>) -> Result<u32, Fault> {
    result.map(|number| number as u32)
}
