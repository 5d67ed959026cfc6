//! A small NFS server in memory, for tests of what takes more than one file. Decodes with the public codec.

use crate::fake::{accepted, attributes, Wire};
use crate::xdr::{put_opaque, put_u32, put_u64, Input};
use assay_spec::NfsTarget;
use nfs3_types::nfs3::{cookieverf3, dirlist3, entry3, nfstime3, FSINFO3resok, FSSTAT3resok};
use nfs3_types::nfs3::{ftype3, Nfs3Option, READDIR3resok, NFS_PROGRAM as P};
use nfs3_types::xdr_codec::{List, Pack};
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard};

/// Entries that are listed at once, whatever is asked for.
const PAGE: usize = 7;

/// A file or a directory; its place among all is its handle.
#[derive(Default)]
pub(crate) struct Node {
    pub(crate) data: Vec<u8>,
    /// Of a directory.
    pub(crate) names: Option<BTreeMap<String, usize>>,
    pub(crate) links: u32,
    pub(crate) file_system: u64,
}

/// Everything that the server holds; the first node is the export.
pub(crate) struct Store(pub(crate) Vec<Node>);

impl Store {
    /// Puts a new node in a directory.
    pub(crate) fn add(&mut self, parent: usize, name: &str, directory: bool) -> usize {
        let names = directory.then(BTreeMap::new);
        let file_system = self.0[parent].file_system;
        self.0.push(Node { names, links: 1, file_system, ..Node::default() });
        let number = self.0.len() - 1;
        self.names(parent).insert(name.to_owned(), number);
        number
    }

    fn names(&mut self, directory: usize) -> &mut BTreeMap<String, usize> {
        self.0[directory].names.as_mut().expect("a directory")
    }

    /// Paths of all that is in a directory.
    pub(crate) fn paths(&self, directory: usize) -> Vec<String> {
        let mut found = Vec::new();
        for (name, number) in self.0[directory].names.iter().flatten() {
            found.push(name.clone());
            found.extend(self.paths(*number).into_iter().map(|path| format!("{name}/{path}")));
        }
        found
    }

    fn put_attributes(&self, out: &mut Vec<u8>, number: usize) {
        let node = &self.0[number];
        let type_ = if node.names.is_some() { ftype3::NF3DIR } else { ftype3::NF3REG };
        let mut found = attributes(node.data.len() as u64);
        (found.type_, found.nlink, found.fsid) = (type_, node.links, node.file_system);
        found.pack(out).unwrap();
    }

    /// Does a call: the status, or what follows a status of 0.
    fn serve(&mut self, procedure: u32, handle: usize, input: &mut Input<'_>) -> Result<Vec<u8>, u32> {
        let mut out = Vec::new();
        match procedure {
            p if p == P::NFSPROC3_GETATTR as u32 => self.put_attributes(&mut out, handle),
            p if p == P::NFSPROC3_LOOKUP as u32 => {
                let number = *self.names(handle).get(&name(input)).ok_or(2_u32)?;
                put_opaque(&mut out, &handle_of(number));
                put_u32(&mut out, 1);
                self.put_attributes(&mut out, number);
                put_u32(&mut out, 0);
            }
            p if p == P::NFSPROC3_ACCESS as u32 => put_words(&mut out, &[0, 0x3f]),
            p if p == P::NFSPROC3_READ as u32 => {
                let (offset, count) = (input.u64().unwrap() as usize, input.u32().unwrap() as usize);
                let data = &self.0[handle].data;
                let (from, to) = (offset.min(data.len()), (offset + count).min(data.len()));
                put_words(&mut out, &[0, (to - from) as u32, u32::from(to == data.len())]);
                put_opaque(&mut out, &data[from..to]);
            }
            p if p == P::NFSPROC3_WRITE as u32 => {
                let (offset, count) = (input.u64().unwrap() as usize, input.u32().unwrap());
                let stable = input.u32().unwrap();
                let bytes = input.opaque(1 << 21).unwrap();
                let data = &mut self.0[handle].data;
                data.resize(data.len().max(offset + bytes.len()), 0);
                data[offset..offset + bytes.len()].copy_from_slice(bytes);
                put_words(&mut out, &[0, 0, count, stable, 0, 9]);
            }
            p if p == P::NFSPROC3_COMMIT as u32 => put_words(&mut out, &[0, 0, 0, 9]),
            p if p == P::NFSPROC3_SETATTR as u32 => self.0[handle].data.clear(),
            p if p == P::NFSPROC3_CREATE as u32 || p == P::NFSPROC3_MKDIR as u32 => {
                let (name, directory) = (name(input), p == P::NFSPROC3_MKDIR as u32);
                let guarded = directory || input.u32() == Some(1);
                // The mode, no owner, no group, and perhaps a size (sattr3).
                let sized = !directory && (0..5).filter_map(|_| input.u32()).nth(4) == Some(1);
                let there = self.names(handle).get(&name).copied();
                if there.is_some() && guarded {
                    return Err(17);
                }
                let number = there.unwrap_or_else(|| self.add(handle, &name, directory));
                if sized {
                    self.0[number].data.clear();
                }
                put_words(&mut out, &[1]);
                put_opaque(&mut out, &handle_of(number));
            }
            p if p == P::NFSPROC3_REMOVE as u32 => {
                let name = name(input);
                let number = *self.names(handle).get(&name).ok_or(2_u32)?;
                if self.0[number].names.is_some() {
                    return Err(21);
                }
                self.names(handle).remove(&name);
            }
            p if p == P::NFSPROC3_RMDIR as u32 => {
                let name = name(input);
                let number = *self.names(handle).get(&name).ok_or(2_u32)?;
                if !self.names(number).is_empty() {
                    return Err(66);
                }
                self.names(handle).remove(&name);
            }
            p if p == P::NFSPROC3_RENAME as u32 => {
                let from = name(input);
                let to = number_of(input.opaque(64).unwrap());
                let number = self.names(handle).remove(&from).ok_or(2_u32)?;
                self.names(to).insert(name(input), number);
            }
            p if p == P::NFSPROC3_READDIR as u32 => self.list(handle, input.u64().unwrap(), &mut out),
            p if p == P::NFSPROC3_FSINFO as u32 => fsinfo().pack(&mut out).map(|_| ()).unwrap(),
            p if p == P::NFSPROC3_FSSTAT as u32 => fsstat().pack(&mut out).map(|_| ()).unwrap(),
            _ => return Err(10004),
        }
        Ok(out)
    }

    fn list(&mut self, handle: usize, cookie: u64, out: &mut Vec<u8>) {
        let mut names: Vec<String> = vec![".".to_owned(), "..".to_owned()];
        names.extend(self.names(handle).keys().cloned());
        let rest = names.iter().enumerate().skip(cookie as usize).take(PAGE);
        let entry = |(at, name): (usize, &String)| entry3 {
            fileid: 1,
            name: name.clone().into_bytes().into(),
            cookie: at as u64 + 1,
        };
        let reply = dirlist3 { entries: List(rest.map(entry).collect()), eof: cookie as usize + PAGE >= names.len() };
        let page = READDIR3resok { dir_attributes: Nfs3Option::None, cookieverf: cookieverf3::default(), reply };
        page.pack(out).unwrap();
    }
}

fn fsinfo() -> FSINFO3resok {
    FSINFO3resok {
        obj_attributes: Nfs3Option::None,
        rtmax: 16 << 10,
        rtpref: 0,
        rtmult: 1,
        wtmax: 8 << 10,
        wtpref: 0,
        wtmult: 1,
        dtpref: 4096,
        maxfilesize: u64::MAX,
        time_delta: nfstime3 { seconds: 0, nseconds: 1 },
        properties: 0,
    }
}

fn fsstat() -> FSSTAT3resok {
    FSSTAT3resok {
        obj_attributes: Nfs3Option::None,
        tbytes: 3_000_000,
        fbytes: 2_000_000,
        abytes: 1_000_000,
        tfiles: 1,
        ffiles: 1,
        afiles: 1,
        invarsec: 0,
    }
}

fn put_words(out: &mut Vec<u8>, words: &[u32]) {
    for word in words {
        put_u32(out, *word);
    }
}

fn name(input: &mut Input<'_>) -> String {
    String::from_utf8(input.opaque(255).unwrap().to_vec()).unwrap()
}

fn handle_of(number: usize) -> [u8; 8] {
    (number as u64).to_be_bytes()
}

fn number_of(handle: &[u8]) -> usize {
    u64::from_be_bytes(handle.try_into().expect("a handle of ours")) as usize
}

/// A server that holds a store, as long as the test runs.
pub(crate) struct StoreServer {
    pub(crate) address: SocketAddr,
    store: Arc<Mutex<Store>>,
}

impl StoreServer {
    /// With an empty export.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let top = Node { names: Some(BTreeMap::new()), links: 2, file_system: 3, ..Node::default() };
        let store = Arc::new(Mutex::new(Store(vec![top])));
        let shared = Arc::clone(&store);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                stream.set_nodelay(true).unwrap();
                let store = Arc::clone(&shared);
                std::thread::spawn(move || serve(Wire(stream), &store));
            }
        });
        StoreServer { address, store }
    }

    /// What it holds now.
    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap()
    }

    /// A target in it.
    pub(crate) fn target(&self) -> NfsTarget {
        NfsTarget {
            servers: vec![self.address.to_string()],
            export: "/export".to_owned(),
            root: "assay".to_owned(),
            directory: "job".to_owned(),
            mount_port: Some(self.address.port()),
            nconnect: 2,
            rsize: 1 << 20,
            wsize: 1 << 20,
            uid: None,
            gid: None,
            timeout_ns: 20_000_000_000,
        }
    }
}

fn serve(mut wire: Wire, store: &Mutex<Store>) {
    while let Some(got) = wire.next() {
        let mut results = Vec::new();
        if got.program == nfs3_types::mount::PROGRAM {
            // MOUNTPROC3_MNT: the handle, and no flavors.
            let known = got.object == b"/export";
            put_u32(&mut results, if known { 0 } else { 2 });
            if known {
                put_opaque(&mut results, &handle_of(0));
                put_u32(&mut results, 0);
            }
        } else {
            let handle = number_of(&got.object);
            match store.lock().unwrap().serve(got.number, handle, &mut Input(&got.arguments)) {
                Ok(found) => {
                    put_u32(&mut results, 0);
                    results.extend_from_slice(&found);
                }
                Err(status) => put_u64(&mut results, u64::from(status) << 32),
            }
        }
        // The end of what a procedure may leave out.
        results.extend_from_slice(&[0; 16]);
        wire.record(&accepted(got.xid, &results), 999);
    }
}
