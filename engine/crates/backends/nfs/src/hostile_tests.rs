//! Servers that never come to an end.

use crate::client::Client;
use crate::fake::{attributes, lane, plain, status, Fake, Got, Wire, Wish};
use crate::remove;
use crate::rpc::Identity;
use crate::status::NOTEMPTY;
use crate::transport::Transport;
use crate::xdr::{put_opaque, put_u32, put_u64};
use assay_core::{Fault, Lane, Op, OpKind};
use nfs3_types::nfs3::{ftype3, NFS_PROGRAM as P};
use nfs3_types::xdr_codec::Pack;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

fn client(address: SocketAddr) -> Client {
    let transport = Transport::new(address, 1, Arc::new(Identity::new(0, 0)));
    Client { transport, timeout_ns: 60_000_000_000 }
}

/// Results of a READDIR that is not the end: one name, and a cookie.
fn page(name: &[u8], cookie: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [0, 0, 0, 0, 1] {
        put_u32(&mut out, word);
    }
    put_u64(&mut out, 1);
    put_opaque(&mut out, name);
    put_u64(&mut out, cookie);
    put_u32(&mut out, 0);
    put_u32(&mut out, 0);
    out
}

/// A server of one connection that answers each call by its number among all.
fn server(mut answer: impl FnMut(u64, &Got) -> Vec<u8> + Send + 'static) -> Fake {
    Fake::start(1, move |_, mut wire: Wire| {
        let mut number = 0;
        while let Some(got) = wire.next() {
            wire.answer(got.xid, &answer(number, &got));
            number += 1;
        }
    })
}

#[test]
fn a_listing_without_names_or_end_is_a_fault() {
    let fake = server(|number, _| page(b".", number + 1));
    assert_eq!(client(fake.address).first_names(b"directory"), Err(Fault::os(libc::ELOOP)));
}

#[test]
fn a_listing_in_one_huge_part_is_a_fault() {
    let fake = server(|_, _| {
        let mut results = page(b"f0", 1);
        results.resize(1 << 20, 0);
        results
    });
    assert_eq!(client(fake.address).first_names(b"directory"), Err(Fault::os(libc::EBADMSG)));
}

/// Each directory has another in it, and none can be removed.
#[test]
fn a_tree_without_bottom_is_left() {
    let fake = server(|_, got| match got.number {
        number if number == P::NFSPROC3_READDIR as u32 => page(b"b0", 1),
        number if number == P::NFSPROC3_RMDIR as u32 => status(66),
        number if number == P::NFSPROC3_REMOVE as u32 => status(21),
        _ => {
            let mut out = Vec::new();
            put_u32(&mut out, 0);
            put_opaque(&mut out, b"handle");
            put_u32(&mut out, 1);
            let mut found = attributes(0);
            found.type_ = ftype3::NF3DIR;
            found.pack(&mut out).unwrap();
            put_u32(&mut out, 0);
            out
        }
    });
    let left = remove::tree(&mut client(fake.address), b"parent", b"top", 3, 0).unwrap_err();
    assert_eq!(left.fault, Fault::os(libc::ELOOP));
}

/// It says that a name is removed, and goes on to list it.
#[test]
fn a_directory_that_is_never_empty_is_left() {
    let fake = server(|_, got| match got.number {
        number if number == P::NFSPROC3_READDIR as u32 => page(b"f0", 1),
        number if number == P::NFSPROC3_RMDIR as u32 => status(66),
        number if number == P::NFSPROC3_REMOVE as u32 => vec![0; 12],
        _ => {
            let mut out = Vec::new();
            put_u32(&mut out, 0);
            put_opaque(&mut out, b"handle");
            put_u32(&mut out, 1);
            attributes(0).pack(&mut out).unwrap();
            put_u32(&mut out, 0);
            out
        }
    });
    let left = remove::tree(&mut client(fake.address), b"parent", b"top", 3, 0).unwrap_err();
    assert_eq!(left.fault, NOTEMPTY);
}

/// Replies to nobody, on and on: the call ends all the same.
#[test]
fn a_flood_does_not_keep_a_call_from_its_end() {
    let fake = Fake::start(2, |_, mut wire| {
        let _ = wire.next();
        let record = [&0x8000_0008_u32.to_be_bytes()[..], &[0xff; 8]].concat();
        let flood = record.repeat(100_000);
        while wire.0.write_all(&flood).is_ok() {}
    });
    let (mut lane, _) = lane(fake.address, &Wish { timeout_ms: 300, ..Wish::default() });
    let op = Op { kind: OpKind::Read, count: 1, slot: 0, object: 0, offset: 0, length: 4096 };
    assert_eq!(plain(lane.execute(&op)), Err(Fault::os(libc::ETIMEDOUT)));
}
