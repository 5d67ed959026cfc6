//! Every rule of a job: a valid value at the limit, and one beyond it that is refused with its message.

use crate::{Claim, Job};
use serde_json::{json, Value};

/// A valid job, to be changed.
fn base(name: &str) -> Value {
    let mut job = json!({
        "spec_version": 2, "id": "job", "target": {"kind": "null"}, "file_size_bytes": 1_048_576,
        "record_size_bytes": 4096, "tuning": {"cpus": [0]}, "phases": [{"operation": "read"}],
    });
    let scripted = json!({
        "kind": "null", "stalls": [{"at_op": 1, "duration_ns": 1}], "errors": [{"at_op": 1, "errno": 5}],
        "changes": [{"at_op": 1, "latency": {"distribution": "fixed", "ns": 1}}],
    });
    match name {
        "null" => {}
        "scripted" => job["target"] = scripted,
        "file" => job["target"] = json!({"kind": "file", "root": "/mnt", "directory": "job"}),
        "device" => {
            job["target"] = json!({"kind": "device", "path": "/dev/sdx", "destroy": true});
            job["layout"] = json!("shared");
        }
        "aoe" => {
            job["target"] = json!({"kind": "aoe", "interfaces": ["eth1"], "shelf": 1, "slot": 0, "destroy": true});
            job["layout"] = json!("shared");
        }
        "nfs" => {
            let servers = ["server"];
            job["target"] =
                json!({"kind": "nfs", "servers": servers, "export": "/export", "root": "assay", "directory": "job"});
        }
        "mpiio" => {
            job["target"] = json!({"kind": "mpiio", "root": "/scratch", "directory": "job"});
            job["layout"] = json!("shared");
            (job["ranks"], job["file_size_bytes"], job["block_size_bytes"]) =
                (json!(4), json!(4 << 20), json!(1 << 18));
        }
        "replay" => {
            job["target"] = json!({"kind": "replay", "root": "/mnt", "directory": "job", "trace": "/data/t.trace.gz"});
            (job["file_size_bytes"], job["record_size_bytes"]) = (json!(0), json!(1));
            (job["tree"], job["sync"]) = (json!({"files": 1}), json!("none"));
            job["phases"] = json!([{"operation": "replay"}]);
        }
        "tree" => {
            job["tree"] = json!({"files": 100});
            job["file_size_bytes"] = json!(0);
            job["phases"][0]["operation"] = json!("create");
        }
        "set" => {
            job["tree"] = json!({"files": 100});
            job["phases"] = json!([{"operation": "prepare", "measured": false}, {"operation": "read"}]);
        }
        "objects" => {
            job["objects"] = json!({"count": 100});
            job["phases"][0]["operation"] = json!("put");
        }
        "existing" => {
            job["target"] = json!({
                "kind": "s3", "endpoints": ["http://h"], "bucket": "abc", "root": "assay", "directory": "job",
                "existing": "",
            });
            job["objects"] = json!({"count": 100});
            job["file_size_bytes"] = json!(0);
            job["phases"][0]["operation"] = json!("get");
        }
        other => panic!("no base {other}"),
    }
    job
}

#[test]
fn objects_are_looked_for_whole_and_ranks_of_an_mpi_see_what_is_theirs() {
    hold(
        r#"
        objects | {"/phases/0/operation": "read_after_put"} | {"/phases/0/operation": "read_after_put", "/objects/part_size_bytes": 5242880} | objects.part_size_bytes: read_after_put puts objects whole: leave it out
        mpiio | {"/target/view": "vector", "/target/piece_bytes": 1024} | {"/target/view": "vector"} | target.piece_bytes: records and blocks must be made of whole pieces, or pieces of whole records
        mpiio | {"/target/view": "subarray", "/target/piece_bytes": 262144} | {"/target/view": "subarray", "/target/piece_bytes": 3000} | target.piece_bytes: records and blocks must be made of whole pieces, or pieces of whole records
        mpiio | {} | {"/target/piece_bytes": 1024} | target.piece_bytes: is for a view: leave it out
        mpiio | {"/layout": "separate"} | {"/layout": "separate", "/target/view": "vector", "/target/piece_bytes": 1024} | target.view: is of a file that all ranks share: set layout to shared
        mpiio | {} | {"/block_size_bytes": null, "/target/view": "vector", "/target/piece_bytes": 1024} | block_size_bytes: a view is of blocks of each rank: say how large they are
        mpiio | {"/phases/0/operation": "random_read"} | {"/phases/0/operation": "random_read", "/target/view": "vector", "/target/piece_bytes": 1024} | phases[0].operation: a rank sees only its own part, and random orders go over that of others: set view to none
        mpiio | {"/target/pointer": "shared"} | {"/target/pointer": "shared", "/target/view": "vector", "/target/piece_bytes": 1024} | target.view: ranks that share a pointer must see the same: set it to none
        mpiio | {"/target/pointer": "shared", "/phases/0/operation": "read"} | {"/target/pointer": "shared", "/phases/0/operation": "backward_read"} | phases[0].operation: a shared pointer goes once from the beginning to the end of the file: use write, rewrite, read or reread
        mpiio | {"/target/pointer": "shared", "/target/collective": true} | {"/target/pointer": "shared", "/target/collective": true, "/queue_depth": 2} | queue_depth: MPI has no nonblocking collective operations by a shared pointer: set queue_depth to 1
        mpiio | {"/target/pointer": "shared", "/target/collective": true, "/block_size_bytes": 4096, "/data": {"verify": true}} | {"/target/pointer": "shared", "/target/collective": true, "/data": {"verify": true}} | data.verify: which rank has which record follows from who comes first: set it to false, or collective to true with blocks of one record
        mpiio | {"/target/pointer": "shared"} | {"/target/pointer": "shared", "/phases/0/runtime_ns": 1} | phases[0].runtime_ns: a shared pointer goes once over the file: use time_limit_ns
        "#,
    );
}

/// In a text `@N@` means N letters; in a list `*N` means its first element N times.
fn expanded(value: &Value, before: &Value) -> Value {
    let Some(text) = value.as_str() else { return value.clone() };
    if let Some(count) = text.strip_prefix('*') {
        return Value::Array(vec![before[0].clone(); count.parse().unwrap()]);
    }
    let parts: Vec<&str> = text.split('@').collect();
    match parts[..] {
        [start, count, end] => json!(format!("{start}{}{end}", "a".repeat(count.parse().unwrap()))),
        _ => value.clone(),
    }
}

/// The base with fields set, each named by its path.
fn changed(name: &str, changes: &str) -> Job {
    let mut job = base(name);
    let changes: Value = serde_json::from_str(changes).unwrap_or_else(|error| panic!("{changes}: {error}"));
    for (path, value) in changes.as_object().unwrap() {
        let (parent, field) = path.rsplit_once('/').unwrap();
        let parent = job.pointer_mut(parent).unwrap_or_else(|| panic!("{name} has no {path}"));
        let expanded = expanded(value, parent.get(field).unwrap_or(&Value::Null));
        match parent {
            Value::Array(items) => items.insert(field.parse().unwrap(), expanded),
            parent => parent[field] = expanded,
        }
    }
    serde_json::from_value(job).unwrap_or_else(|error| panic!("{name} {changes}: {error}"))
}

/// Each line: base | valid fields | refused fields | message.
fn hold(rules: &str) {
    for rule in rules.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let [name, passes, refused, message] = rule.split(" | ").collect::<Vec<_>>()[..] else { panic!("{rule}") };
        assert_eq!(changed(name, passes).validate(), Ok(()), "{rule}");
        let error = changed(name, refused).validate().expect_err(rule);
        assert_eq!(error.to_string(), message, "{rule}");
    }
}

#[test]
fn a_rate_is_read_to_its_last_bit() {
    let mut job = base("null");
    job["phases"][0]["rate_per_s"] = json!(1_105_535.839_458_268_1);
    let read: Job = serde_json::from_str(&job.to_string()).unwrap();
    assert_eq!(read.phases[0].rate_per_s.map(f64::to_bits), Some(1_105_535.839_458_268_1_f64.to_bits()));
}

#[test]
fn identity() {
    hold(
        r#"
        null | {} | {"/spec_version": 1} | spec_version: this engine speaks version 2, the job version 1
        null | {"/spec_version": 2} | {"/spec_version": 3} | spec_version: this engine speaks version 2, the job version 3
        null | {"/id": "a"} | {"/id": ""} | id: must be 1 to 128 of A-Z a-z 0-9 . _ - and not start with a dot
        null | {"/id": "@128@"} | {"/id": "@129@"} | id: must be 1 to 128 of A-Z a-z 0-9 . _ - and not start with a dot
        null | {"/id": "Z9._-"} | {"/id": "._-Z9"} | id: must be 1 to 128 of A-Z a-z 0-9 . _ - and not start with a dot
        null | {"/id": "a-b"} | {"/id": "a/b"} | id: must be 1 to 128 of A-Z a-z 0-9 . _ - and not start with a dot
        null | {"/id": "a"} | {"/id": "ä"} | id: must be 1 to 128 of A-Z a-z 0-9 . _ - and not start with a dot
        null | {"/data": {"compressible_percent": 100}} | {"/data": {"compressible_percent": 101}} | data.compressible_percent: must be 0 to 100
        null | {"/data": {"duplicate_percent": 100}} | {"/data": {"duplicate_percent": 255}} | data.duplicate_percent: must be 0 to 100
        null | {"/phases": "*1"} | {"/phases": []} | phases: must be 1 to 64
        null | {"/phases": "*64"} | {"/phases": "*65"} | phases: must be 1 to 64
        "#,
    );
}

#[test]
fn sizes() {
    hold(
        r#"
        null | {"/lanes": 1} | {"/lanes": 0} | lanes: must be 1 to 1024
        null | {"/lanes": 1024} | {"/lanes": 1025} | lanes: must be 1 to 1024
        null | {"/lanes": 1024} | {"/lanes": 4294967295} | lanes: must be 1 to 1024
        null | {"/queue_depth": 1} | {"/queue_depth": 0} | queue_depth: must be 1 to 4096
        null | {"/queue_depth": 4096} | {"/queue_depth": 4097} | queue_depth: must be 1 to 4096
        null | {"/record_size_bytes": 1} | {"/record_size_bytes": 0} | record_size_bytes: must be 1 to 1073741824
        null | {"/file_size_bytes": 2147483648, "/record_size_bytes": 1073741824} | {"/file_size_bytes": 2147483648, "/record_size_bytes": 1073741825} | record_size_bytes: must be 1 to 1073741824
        null | {"/file_size_bytes": 1, "/record_size_bytes": 1} | {"/file_size_bytes": 0, "/record_size_bytes": 1} | file_size_bytes: must be 1 to 2^63 - 1
        null | {"/file_size_bytes": 9223372036854775807} | {"/file_size_bytes": 9223372036854775808} | file_size_bytes: must be 1 to 2^63 - 1
        tree | {"/file_size_bytes": 0} | {"/file_size_bytes": 18446744073709551615} | file_size_bytes: must be 0 to 2^63 - 1
        null | {"/ranks": 1} | {"/ranks": 0} | ranks: must be 1 to 65536
        null | {"/ranks": 65536} | {"/ranks": 65537} | ranks: must be 1 to 65536
        null | {"/ranks": 65536, "/rank": 65535, "/lanes": 1024} | {"/ranks": 65536, "/rank": 65536} | rank: must be below ranks, which is 65536
        null | {"/rank": 0} | {"/rank": 1} | rank: must be below ranks, which is 1
        null | {"/lease_ns": 100000000} | {"/lease_ns": 99999999} | lease_ns: must be 100 ms to 1 h
        null | {"/lease_ns": 3600000000000} | {"/lease_ns": 3600000000001} | lease_ns: must be 100 ms to 1 h
        null | {"/stall_limit_ns": 1000000000} | {"/stall_limit_ns": 999999999} | stall_limit_ns: must be 1 s to a year
        null | {"/stall_limit_ns": 31536000000000000} | {"/stall_limit_ns": 31536000000000001} | stall_limit_ns: must be 1 s to a year
        null | {"/error_limit": 1} | {"/error_limit": 0} | error_limit: must be at least 1
        null | {"/watch": ["259:0", "7:12"]} | {"/watch": ["../../x:0"]} | watch: must be at most 64 block devices as major:minor, such as 259:0
        null | {"/watch": ["259:0"]} | {"/watch": ["259"]} | watch: must be at most 64 block devices as major:minor, such as 259:0
        null | {"/interval_ns": 10000000} | {"/interval_ns": 9999999} | interval_ns: must be 10 ms to 1 h
        null | {"/interval_ns": 3600000000000} | {"/interval_ns": 3600000000001} | interval_ns: must be 10 ms to 1 h
        "#,
    );
}

#[test]
fn sizes_together() {
    hold(
        r#"
        null | {"/record_size_bytes": 1048576} | {"/record_size_bytes": 1048577} | record_size_bytes: a lane's part of the file is 1048576 bytes: make records smaller, the file larger or lanes fewer
        null | {"/layout": "shared", "/lanes": 2, "/ranks": 2, "/file_size_bytes": 16384} | {"/layout": "shared", "/lanes": 2, "/ranks": 2, "/file_size_bytes": 16383} | record_size_bytes: a lane's part of the file is 4095 bytes: make records smaller, the file larger or lanes fewer
        null | {"/queue_depth": 63, "/record_size_bytes": 1073741824, "/file_size_bytes": 1073741824} | {"/queue_depth": 65, "/record_size_bytes": 1073741824, "/file_size_bytes": 1073741824} | queue_depth: lanes x queue_depth x record_size_bytes (whole pages) is 69793218560 bytes of buffers, at most 68719476736
        null | {} | {"/queue_depth": 64, "/record_size_bytes": 1073741824, "/file_size_bytes": 1073741824} | lanes: the lanes need 68737368064 bytes of memory together, at most 68719476736: make lanes fewer, or what each of them keeps smaller
        null | {"/queue_depth": 64, "/record_size_bytes": 1073459200, "/file_size_bytes": 1073741824} | {"/queue_depth": 64, "/record_size_bytes": 1073459201, "/file_size_bytes": 1073741824} | lanes: the lanes need 68719542272 bytes of memory together, at most 68719476736: make lanes fewer, or what each of them keeps smaller
        null | {"/lanes": 2, "/file_size_bytes": 4611686018427387903} | {"/lanes": 2, "/file_size_bytes": 4611686018427387904} | file_size_bytes: all files together have 9223372036854775808 bytes, at most 2^63 - 1: make files smaller or fewer
        null | {"/lanes": 2, "/layout": "shared", "/file_size_bytes": 9223372036854775807} | {"/lanes": 1024, "/ranks": 65536, "/file_size_bytes": 9223372036854775807} | file_size_bytes: all files together have 618970019642690137382453248 bytes, at most 2^63 - 1: make files smaller or fewer
        file | {"/method": "sync"} | {"/method": "sync", "/queue_depth": 2} | queue_depth: methods sync and mmap have one operation in flight: set queue_depth to 1, or use more lanes or method io_uring
        file | {"/method": "mmap"} | {"/method": "mmap", "/queue_depth": 2} | queue_depth: methods sync and mmap have one operation in flight: set queue_depth to 1, or use more lanes or method io_uring
        null | {"/method": "sync", "/queue_depth": 2} | {"/method": "sync", "/queue_depth": 4097} | queue_depth: must be 1 to 4096
        "#,
    );
}

#[test]
fn places() {
    hold(
        r#"
        file | {"/target/root": "/"} | {"/target/root": "mnt"} | target.root: must be an absolute path without . or .. parts
        file | {"/target/root": "/@4094@"} | {"/target/root": "/@4095@"} | target.root: must be an absolute path without . or .. parts
        file | {"/target/root": "/a..b/.c"} | {"/target/root": "/a/../b"} | target.root: must be an absolute path without . or .. parts
        file | {"/target/root": "/a b/ä"} | {"/target/root": "/a/./b"} | target.root: must be an absolute path without . or .. parts
        file | {"/target/root": "/a"} | {"/target/root": "/a\u0000"} | target.root: must be an absolute path without . or .. parts
        file | {"/target/directory": "@128@"} | {"/target/directory": "@129@"} | target.directory: must be a plain name: 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot
        file | {"/target/directory": "a.."} | {"/target/directory": ".."} | target.directory: must be a plain name: 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot
        file | {"/target/run": "a-b"} | {"/target/run": "a/b"} | target.run: must be a plain name: 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot
        file | {"/target/run": null} | {"/target/run": ""} | target.run: must be a plain name: 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot
        replay | {"/target/trace": "/a"} | {"/target/trace": "a"} | target.trace: must be an absolute path without . or .. parts
        replay | {"/target/sha256": null} | {"/target/sha256": "A"} | target.sha256: must be 64 hexadecimal digits in lower case
        replay | {"/target/rate": 0.001} | {"/target/rate": 1000.1} | target.rate: must be 0.001 to 1000
        replay | {"/target/pace": "fast"} | {"/target/pace": "fast", "/target/rate": 2} | target.rate: must be 1 with pace fast, which has no times
        replay | {"/lanes": 8} | {"/tree/files": 2} | tree: must have one file for each lane: each replays one copy
        replay | {"/phases/0/measured": true} | {"/phases/0/runtime_ns": 5} | phases[0].runtime_ns: must be left out: a trace is replayed once
        replay | {"/queue_depth": 1} | {"/queue_depth": 2} | queue_depth: must be 1: the trace has what is in flight
        device | {"/target/path": "/d"} | {"/target/path": "d"} | target.path: must be an absolute path without . or .. parts
        device | {"/target/destroy": true} | {"/target/destroy": false} | target.destroy: must be true: everything on the device is lost
        device | {"/layout": "shared"} | {"/layout": "separate"} | layout: must be shared for a device
        aoe | {"/target/destroy": true} | {"/target/destroy": false} | target.destroy: must be true: everything on the disk is lost
        aoe | {"/layout": "shared"} | {"/layout": "separate"} | layout: must be shared for a disk
        aoe | {"/target/interfaces": ["1", "2", "3", "4", "5", "6", "7", "8"]} | {"/target/interfaces": []} | target.interfaces: must be 1 to 8 network interfaces, such as eth1
        aoe | {"/target/interfaces": ["eth0.12@if3"]} | {"/target/interfaces": ["1", "2", "3", "4", "5", "6", "7", "8", "9"]} | target.interfaces: must be 1 to 8 network interfaces, such as eth1
        aoe | {"/target/interfaces": ["aaaaaaaaaaaaaaa"]} | {"/target/interfaces": ["aaaaaaaaaaaaaaaa"]} | target.interfaces: must be names of network interfaces, such as eth1
        aoe | {"/target/interfaces": ["..."]} | {"/target/interfaces": [".."]} | target.interfaces: must be names of network interfaces, such as eth1
        aoe | {"/target/interfaces": ["a", "b"]} | {"/target/interfaces": ["a", "a"]} | target.interfaces: name each interface once
        aoe | {"/target/shelf": 65534} | {"/target/shelf": 65535} | target.shelf: must be 0 to 65534: 65535 stands for all shelves
        aoe | {"/target/slot": 254} | {"/target/slot": 255} | target.slot: must be 0 to 254: 255 stands for all slots
        aoe | {"/target/window": 256} | {"/target/window": 257} | target.window: must be 1 to 256 commands
        aoe | {"/target/window": 1} | {"/target/window": 0} | target.window: must be 1 to 256 commands
        aoe | {"/target/sectors": 1} | {"/target/sectors": 0} | target.sectors: must be 1 to 255
        aoe | {"/target/timeout_ns": 100000000} | {"/target/timeout_ns": 99999999} | target.timeout_ns: must be 100 ms to 1 h
        aoe | {"/target/timeout_ns": 3600000000000} | {"/target/timeout_ns": 3600000000001} | target.timeout_ns: must be 100 ms to 1 h
        aoe | {"/record_size_bytes": 512} | {"/record_size_bytes": 513} | record_size_bytes: must be a multiple of 512: a disk reads and writes whole sectors
        aoe | {"/file_size_bytes": 1048064} | {"/file_size_bytes": 1048575} | file_size_bytes: must be a multiple of 512: a disk reads and writes whole sectors
        "#,
    );
}

#[test]
fn exports() {
    hold(
        r#"
        nfs | {"/target/servers": "*1024"} | {"/target/servers": "*1025"} | target.servers: must be 1 to 1024 names or addresses, each with :PORT if it is not 2049
        nfs | {"/target/servers": ["[fe80::1%eth0]:2049"]} | {"/target/servers": []} | target.servers: must be 1 to 1024 names or addresses, each with :PORT if it is not 2049
        nfs | {"/target/servers/0": "@255@"} | {"/target/servers/0": "@256@"} | target.servers: must be 1 to 1024 names or addresses, each with :PORT if it is not 2049
        nfs | {"/target/servers/0": "a"} | {"/target/servers/0": ""} | target.servers: must be 1 to 1024 names or addresses, each with :PORT if it is not 2049
        nfs | {"/target/servers/1": "a_b-c.d:1"} | {"/target/servers/1": "a/b"} | target.servers: must be 1 to 1024 names or addresses, each with :PORT if it is not 2049
        nfs | {"/target/export": "/"} | {"/target/export": "a"} | target.export: must be an absolute path without . or .. parts
        nfs | {"/target/root": "@128@"} | {"/target/root": "a/b"} | target.root: must be a plain name: 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot
        nfs | {"/target/directory": "@128@"} | {"/target/directory": ""} | target.directory: must be a plain name: 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot
        nfs | {"/target/mount_port": 1} | {"/target/mount_port": 0} | target.mount_port: must be 1 to 65535
        nfs | {"/target/nconnect": 1} | {"/target/nconnect": 0} | target.nconnect: must be 1 to 16
        existing | {"/target/root": "team/alice"} | {"/target/root": "team//alice"} | target.root: must be plain names with / between them: each 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot; 256 in all
        existing | {"/target/root": "@128@"} | {"/target/root": "team/../alice"} | target.root: must be plain names with / between them: each 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot; 256 in all
        existing | {"/target/run": "a-b"} | {"/target/run": "a/b"} | target.run: must be a plain name: 1 to 128 of A-Z a-z 0-9 . _ -, not starting with a dot
        nfs | {"/target/nconnect": 16} | {"/target/nconnect": 17} | target.nconnect: must be 1 to 16
        nfs | {"/target/rsize": 1024} | {"/target/rsize": 1023} | target.rsize: must be 1 KiB to 1 GiB
        nfs | {"/target/rsize": 1073741824} | {"/target/rsize": 1073741825} | target.rsize: must be 1 KiB to 1 GiB
        nfs | {"/target/wsize": 1024} | {"/target/wsize": 1023} | target.wsize: must be 1 KiB to 1 GiB
        nfs | {"/target/wsize": 1073741824} | {"/target/wsize": 18446744073709551615} | target.wsize: must be 1 KiB to 1 GiB
        nfs | {"/target/timeout_ns": 100000000} | {"/target/timeout_ns": 99999999} | target.timeout_ns: must be 100 ms to 1 h
        nfs | {"/target/timeout_ns": 3600000000000} | {"/target/timeout_ns": 3600000000001} | target.timeout_ns: must be 100 ms to 1 h
        "#,
    );
}

#[test]
fn scripts() {
    hold(
        r#"
        null | {"/target/vary_percent": 99} | {"/target/vary_percent": 100} | target.vary_percent: must be at most 99
        null | {"/target/memory_copy_bytes": 1073741824} | {"/target/memory_copy_bytes": 1073741825} | target.memory_copy_bytes: must be at most 1 GiB
        scripted | {"/target/stalls": "*9998"} | {"/target/stalls": "*9999"} | target.stalls: at most 10,000 scripted stalls, errors and changes
        scripted | {"/target/errors": "*9998"} | {"/target/errors": "*9999"} | target.stalls: at most 10,000 scripted stalls, errors and changes
        scripted | {"/target/changes": "*9998"} | {"/target/changes": "*9999"} | target.stalls: at most 10,000 scripted stalls, errors and changes
        null | {"/target/clock_step_ns": 31536000000000000} | {"/target/clock_step_ns": 31536000000000001} | target.clock_step_ns: must be at most 365 days, forward or back
        null | {"/target/clock_step_ns": -31536000000000000} | {"/target/clock_step_ns": -31536000000000001} | target.clock_step_ns: must be at most 365 days, forward or back
        null | {"/target/clock_step_ns": 0} | {"/target/clock_step_ns": -9223372036854775808} | target.clock_step_ns: must be at most 365 days, forward or back
        null | {"/target/latency": {"distribution": "fixed", "ns": 31536000000000000}} | {"/target/latency": {"distribution": "fixed", "ns": 31536000000000001}} | target.latency.ns: must be at most 365 days
        null | {"/target/latency": {"distribution": "uniform", "min_ns": 5, "max_ns": 5}} | {"/target/latency": {"distribution": "uniform", "min_ns": 6, "max_ns": 5}} | target.latency.min_ns: is above max_ns, which is 5
        null | {"/target/latency": {"distribution": "uniform", "min_ns": 0, "max_ns": 31536000000000000}} | {"/target/latency": {"distribution": "uniform", "min_ns": 0, "max_ns": 31536000000000001}} | target.latency.max_ns: must be at most 365 days
        null | {"/target/latency": {"distribution": "exponential", "mean_ns": 31536000000000000}} | {"/target/latency": {"distribution": "exponential", "mean_ns": 18446744073709551615}} | target.latency.mean_ns: must be at most 365 days
        scripted | {"/target/stalls/1": {"at_op": 18446744073709551615, "duration_ns": 31536000000000000}} | {"/target/stalls/1": {"at_op": 0, "duration_ns": 31536000000000001}} | target.stalls[1].duration_ns: must be at most 365 days
        scripted | {"/target/errors/1": {"at_op": 0, "errno": 1}} | {"/target/errors/1": {"at_op": 0, "errno": 0}} | target.errors[1].errno: must be 1 to 4095
        scripted | {"/target/errors/0": {"at_op": 0, "errno": 4095}} | {"/target/errors/0": {"at_op": 0, "errno": 4096}} | target.errors[0].errno: must be 1 to 4095
        scripted | {"/target/changes/1": {"at_op": 0, "latency": {"distribution": "fixed", "ns": 0}}} | {"/target/changes/1": {"at_op": 0, "latency": {"distribution": "uniform", "min_ns": 1, "max_ns": 0}}} | target.changes[1].latency.min_ns: is above max_ns, which is 0
        "#,
    );
}

#[test]
fn tuning() {
    hold(
        r#"
        file | {"/tuning/sqpoll": true, "/method": "io_uring"} | {"/tuning/sqpoll": true} | tuning.sqpoll: needs method io_uring
        file | {"/tuning/iopoll": true, "/method": "io_uring", "/direct": true} | {"/tuning/iopoll": true, "/direct": true} | tuning.iopoll: needs method io_uring
        file | {"/method": "io_uring"} | {"/tuning/iopoll": true, "/method": "io_uring"} | tuning.iopoll: needs direct: only O_DIRECT can be polled for
        file | {"/tuning/cpus": "*1024"} | {"/tuning/cpus": "*1025"} | tuning.cpus: at most 1024
        file | {"/tuning/cpus": [0, 1023]} | {"/tuning/cpus": [0, 1024]} | tuning.cpus: CPUs are numbered 0 to 1023
        file | {"/tuning/numa_node": 1023} | {"/tuning/numa_node": 1024} | tuning.numa_node: nodes are numbered 0 to 1023
        file | {"/method": "mmap"} | {"/method": "mmap", "/direct": true} | method: mmap goes through the page cache: set direct to false
        file | {"/method": "mmap", "/sync": "fdatasync"} | {"/method": "mmap", "/sync": "o_sync"} | method: mmap has neither O_SYNC nor O_DSYNC: use fsync or fdatasync
        file | {"/method": "sync", "/sync": "o_dsync"} | {"/method": "mmap", "/sync": "o_dsync"} | method: mmap has neither O_SYNC nor O_DSYNC: use fsync or fdatasync
        "#,
    );
}

#[test]
fn trees() {
    hold(
        r#"
        tree | {"/tree/files": 1} | {"/tree/files": 0} | tree.files: must be 1 to 1,000,000,000
        tree | {"/tree/files": 1000000000} | {"/tree/files": 1000000001} | tree.files: must be 1 to 1,000,000,000
        tree | {"/tree/depth": 16} | {"/tree/depth": 17} | tree.depth: must be 0 to 16
        tree | {"/tree/width": 1} | {"/tree/width": 0} | tree.width: must be 1 to 10,000
        tree | {"/tree/width": 10000} | {"/tree/width": 10001} | tree.width: must be 1 to 10,000
        tree | {"/tree/width": 100, "/tree/depth": 1} | {"/tree/width": 101, "/tree/depth": 1} | tree.width: makes 101 directories in each of 1 trees (width to the power of depth): at most one per file, and 1,000,000 in all
        tree | {"/tree/files": 2000000, "/tree/width": 1000, "/tree/depth": 2} | {"/tree/files": 2000000, "/tree/width": 1001, "/tree/depth": 2} | tree.width: makes 1002001 directories in each of 1 trees (width to the power of depth): at most one per file, and 1,000,000 in all
        tree | {"/tree/files": 1000000, "/tree/width": 1000, "/tree/depth": 2, "/lanes": 2, "/layout": "shared"} | {"/tree/files": 1000000, "/tree/width": 1000, "/tree/depth": 2, "/lanes": 2} | tree.width: makes 1000000 directories in each of 2 trees (width to the power of depth): at most one per file, and 1,000,000 in all
        tree | {} | {"/tree/width": 10000, "/tree/depth": 16, "/lanes": 1024, "/ranks": 65536} | tree.width: makes 18446744073709551615 directories in each of 67108864 trees (width to the power of depth): at most one per file, and 1,000,000 in all
        tree | {"/file_size_bytes": 4096} | {"/file_size_bytes": 4097} | file_size_bytes: the contents of a small file are written at once: at most record_size_bytes
        tree | {"/file_size_bytes": 1073741824, "/record_size_bytes": 1073741824, "/tree/files": 1000000000, "/lanes": 8} | {"/file_size_bytes": 1073741824, "/record_size_bytes": 1073741824, "/tree/files": 1000000000, "/lanes": 9} | file_size_bytes: all files together have 9663676416000000000 bytes, at most 2^63 - 1: make files smaller or fewer
        device | {} | {"/tree": {"files": 1}, "/file_size_bytes": 0} | tree: a device has no files
        aoe | {} | {"/tree": {"files": 1}, "/file_size_bytes": 0} | tree: a disk has no files
        tree | {"/direct": false} | {"/direct": true} | direct: metadata operations have no O_DIRECT: set direct to false
        tree | {"/method": "io_uring"} | {"/method": "mmap"} | method: metadata operations have neither mmap nor threads: use auto, sync or io_uring
        tree | {"/preallocate": false} | {"/preallocate": true} | preallocate: nothing is preallocated in a tree: set it to false
        tree | {"/phases/0/cache_before": "drop"} | {"/phases/0/cache_before": "evict"} | phases[0].cache_before: names and attributes cannot be evicted: use drop or keep
        null | {"/phases/0/cache_before": "evict"} | {"/phases/0/operation": "stat"} | phases[0].operation: needs a tree: say how many files
        tree | {} | {"/phases/0/operation": "read"} | phases[0].operation: read: there are no files: put write or prepare before it
        "#,
    );
}

#[test]
fn names_are_there_when_they_are_needed() {
    hold(
        r#"
        tree | {"/phases/1": {"operation": "unlink"}, "/phases/2": {"operation": "create"}} | {"/phases/1": {"operation": "create"}} | phases[1].operation: create: the files exist already: put unlink before it
        tree | {"/phases/0": {"operation": "stat"}, "/phases/1": {"operation": "unlink"}, "/reuse_files": true} | {"/reuse_files": true} | phases[0].operation: create: the files exist already: put unlink before it
        tree | {"/phases/0": {"operation": "prepare", "measured": false}, "/phases/1": {"operation": "stat"}, "/phases/2": {"operation": "unlink"}} | {"/phases/0": {"operation": "prepare", "measured": false}} | phases[1].operation: create: the files exist already: put unlink before it
        tree | {"/phases/1": {"operation": "stat"}} | {"/phases/0": {"operation": "stat"}} | phases[0].operation: stat: there are no files: put create or prepare before it
        tree | {"/phases/1": {"operation": "rename"}, "/phases/2": {"operation": "unlink"}} | {"/phases/1": {"operation": "unlink"}, "/phases/2": {"operation": "rename"}} | phases[2].operation: rename: there are no files: put create or prepare before it
        tree | {"/phases/1": {"operation": "mkdir"}, "/phases/2": {"operation": "rmdir"}, "/phases/3": {"operation": "mkdir"}} | {"/phases/1": {"operation": "mkdir"}, "/phases/2": {"operation": "mkdir"}} | phases[2].operation: mkdir: the directories exist already: put rmdir before it
        tree | {"/phases/0": {"operation": "mkdir"}, "/phases/1": {"operation": "rmdir"}} | {"/phases/1": {"operation": "rmdir"}} | phases[1].operation: rmdir: there are no directories: put mkdir before it
        tree | {} | {"/phases/0": {"operation": "mkdir"}, "/phases/1": {"operation": "rmdir"}, "/phases/2": {"operation": "rmdir"}} | phases[2].operation: rmdir: there are no directories: put mkdir before it
        "#,
    );
}

#[test]
fn sets_of_files() {
    hold(
        r#"
        set | {"/tree/files": 0, "/tree/more": 3, "/lanes": 4} | {"/tree/files": 0} | tree.files: must be 1 to 1,000,000,000
        set | {"/tree/more": 3, "/lanes": 2, "/ranks": 2} | {"/tree/more": 4, "/lanes": 2, "/ranks": 2} | tree.more: must be below the lanes of all ranks, which are 4
        set | {"/file_size_bytes": 1000001} | {"/file_size_bytes": 1000001, "/phases/1": {"operation": "stat"}, "/direct": true} | direct: metadata operations have no O_DIRECT: set direct to false
        set | {"/direct": true} | {"/direct": true, "/method": "threads"} | method: metadata operations have neither mmap nor threads: use auto, sync or io_uring
        set | {"/method": "sync"} | {"/method": "io_uring"} | method: a set of files is read and written by plain calls: use auto or sync
        set | {} | {"/queue_depth": 2} | queue_depth: in a set of files a lane has one operation in flight: set queue_depth to 1, or use more lanes
        set | {"/sizes": {"distribution": "range", "min_bytes": 0, "max_bytes": 10000000}} | {"/sizes": {"distribution": "range", "min_bytes": 1, "max_bytes": 0}} | sizes.min_bytes: is above max_bytes, which is 0
        set | {"/phases/1": {"operation": "random_read", "file_order": "random"}} | {"/phases/0/file_order": "random"} | phases[0].file_order: is for operations on the data of a tree's files: leave it out
        null | {} | {"/phases/0/file_order": "random"} | phases[0].file_order: is for operations on the data of a tree's files: leave it out
        set | {"/phases/1": {"operation": "write", "runtime_ns": 1}} | {"/phases/1": {"operation": "stride_read"}} | phases[1].operation: stride_read works on one file, not on those of a tree: leave tree out
        set | {"/phases/0": {"operation": "write"}} | {"/phases/0": {"operation": "rewrite"}} | phases[0].operation: rewrite: there are no files: put write or prepare before it
        set | {"/reuse_files": true, "/phases/0": {"operation": "read"}} | {"/phases/1": {"operation": "unlink"}, "/phases/2": {"operation": "read"}} | phases[2].operation: read: there are no files: put write or prepare before it
        set | {"/phases/1": {"operation": "file_mix", "mix": {"read": 60, "stat": 20, "create": 10, "unlink": 10}, "runtime_ns": 1}, "/phases/2": {"operation": "write"}} | {"/phases/1": {"operation": "file_mix", "mix": {"read": 80, "create": 10, "unlink": 9, "stat": 1}}, "/phases/2": {"operation": "write"}} | phases[1].mix: what is removed is made again: give create and unlink the same share
        set | {"/phases/1": {"operation": "file_mix", "mix": {"write": 1, "stat": 99}}, "/phases/2": {"operation": "write"}} | {"/phases/1": {"operation": "file_mix", "mix": {"stat": 100}}, "/phases/2": {"operation": "write"}} | phases[1].mix: file_mix is measured by what it reads and writes: give read or write a share
        set | {"/phases/1": {"operation": "file_mix", "mix": {"read": 100}}, "/phases/2": {"operation": "write"}, "/phases/3": {"operation": "read"}} | {"/phases/1": {"operation": "file_mix", "mix": {"read": 100}}, "/phases/2": {"operation": "read"}} | phases[2].operation: read: file_mix leaves some files out: put prepare before it
        set | {"/phases/1": {"operation": "file_mix", "mix": {"read": 100}}, "/phases/2": {"operation": "prepare", "measured": false}, "/phases/3": {"operation": "stat"}} | {"/phases/1": {"operation": "file_mix", "mix": {"read": 100}}, "/phases/2": {"operation": "create"}} | phases[2].operation: create: file_mix leaves some files out: put prepare before it
        null | {} | {"/phases/0": {"operation": "file_mix", "mix": {"read": 100}}} | phases[0].operation: needs a tree: say how many files
        set | {"/phases/1": {"operation": "read", "cache_before": "drop"}} | {"/phases/1": {"operation": "read", "cache_before": "evict"}} | phases[1].cache_before: names and attributes cannot be evicted: use drop or keep
        file | {"/target/shares": ["/a", "/b"]} | {"/target/shares": ["a"]} | target.shares: must be an absolute path without . or .. parts
        file | {"/target/shares": ["/a"]} | {"/target/shares": ["/a"], "/layout": "shared"} | target.shares: no file lies in several directories: set layout to separate, or leave it out
        file | {"/target/shares": ["/a"], "/layout": "shared", "/tree": {"files": 9}, "/phases/0": {"operation": "write"}} | {"/target/shares": ["/a/../b"]} | target.shares: must be an absolute path without . or .. parts
        "#,
    );
}

#[test]
fn layouts_of_blocks_and_orders_of_lanes() {
    hold(
        r#"
        null | {"/block_size_bytes": 524288} | {"/block_size_bytes": 4100} | block_size_bytes: must be a multiple of record_size_bytes, which is 4096
        null | {"/block_size_bytes": 1048576} | {"/block_size_bytes": 786432} | block_size_bytes: a segment has 1 blocks of it: file_size_bytes, which is 1048576, must be a multiple of that
        null | {"/block_size_bytes": 262144, "/layout": "shared", "/lanes": 2, "/ranks": 2} | {"/block_size_bytes": 524288, "/layout": "shared", "/lanes": 2, "/ranks": 2} | block_size_bytes: a segment has 4 blocks of it: file_size_bytes, which is 1048576, must be a multiple of that
        null | {} | {"/block_size_bytes": 0} | block_size_bytes: must be 1 to 2^63 - 1
        set | {} | {"/block_size_bytes": 4096} | block_size_bytes: is for operations on the data of one file: leave it out
        null | {"/phases/0/reorder": {"order": "random"}} | {"/phases/0": {"operation": "write", "reorder": {"order": "random"}}} | phases[0].reorder: is for operations that read, or look up or remove names: leave it out
        null | {"/phases/0/reorder": {"order": "shift", "lanes": 67108864}} | {"/phases/0/reorder": {"order": "shift", "lanes": 67108865}} | phases[0].reorder: must be by 1 to 67,108,864 lanes
        tree | {"/phases/1": {"operation": "stat", "reorder": {"order": "random"}}} | {"/phases/1": {"operation": "rename", "reorder": {"order": "random"}}} | phases[1].reorder: is for operations that read, or look up or remove names: leave it out
        file | {"/phases/0/reorder": {"order": "random"}} | {"/phases/0/reorder": {"order": "random"}, "/target/shares": ["/a"]} | phases[0].reorder: each lane keeps to one of the target's 2 places, which have files of their own: leave it out
        nfs | {"/phases/0/reorder": {"order": "random"}, "/target/servers": ["a", "b"], "/layout": "shared"} | {"/phases/0/reorder": {"order": "random"}, "/target/servers": ["a", "b"]} | phases[0].reorder: each lane keeps to one of the target's 2 places, which have files of their own: leave it out
        "#,
    );
}

#[test]
fn objects_that_are_there_already() {
    hold(
        r#"
        existing | {"/target/existing": "@1024@"} | {"/target/existing": "@1025@"} | target.existing: must be at most 1024 bytes: no key is longer
        existing | {"/phases/0": {"operation": "get", "range_bytes": 9}} | {"/phases/0": {"operation": "put"}} | phases[0].operation: existing objects are only read: use get, head, list, or object_mix of get and head
        existing | {"/phases/1": {"operation": "list"}} | {"/phases/1": {"operation": "multi_delete"}} | phases[1].operation: existing objects are only read: use get, head, list, or object_mix of get and head
        existing | {"/phases/0": {"operation": "head"}} | {"/phases/0": {"operation": "prepare", "measured": false}} | phases[0].operation: existing objects are only read: use get, head, list, or object_mix of get and head
        existing | {} | {"/phases/0": {"operation": "copy"}} | phases[0].operation: existing objects are only read: use get, head, list, or object_mix of get and head
        existing | {"/phases/0": {"operation": "object_mix", "mix": {"get": 60, "head": 40}}} | {"/phases/0": {"operation": "object_mix", "mix": {"get": 60, "put": 40}}} | phases[0].operation: existing objects are only read: use get, head, list, or object_mix of get and head
        existing | {"/objects/count": 2500000, "/ranks": 2, "/lanes": 2} | {"/objects/count": 2500001, "/ranks": 2, "/lanes": 2} | objects.count: all lanes together have 10000004, at most 10000000 existing objects
        existing | {} | {"/file_size_bytes": 1} | file_size_bytes: the sizes of existing objects come from their list: set it to 0
        existing | {} | {"/sizes": {"distribution": "range", "min_bytes": 0, "max_bytes": 7}} | sizes: the sizes of existing objects come from their list: leave it out
        existing | {} | {"/objects/part_size_bytes": 5} | objects.part_size_bytes: nothing is put: leave it out
        existing | {} | {"/reuse_files": true} | reuse_files: the objects are those of the target's list: set it to false
        existing | {} | {"/data": {"verify": true}} | data.verify: the contents of existing objects are unknown: set it to false
        existing | {"/target/checksum": "md5"} | {"/target/storage_class": "COLD"} | target.storage_class: is for objects that are put: leave it out, or existing
        existing | {} | {"/target/versioned": true} | target.versioned: is for objects that are put: leave it out, or existing
        existing | {} | {"/target/if_none_match": true} | target.if_none_match: is for objects that are put: leave it out, or existing
        existing | {"/target/keys": {"layout": "flat"}} | {"/target/keys": {"layout": "random"}} | target.keys: is for objects that are put: leave it out, or existing
        "#,
    );
}

#[test]
fn objects_and_sizes() {
    hold(
        r#"
        objects | {"/objects/count": 1000000000} | {"/objects/count": 0} | objects.count: must be 1 to 1,000,000,000
        objects | {"/objects/part_size_bytes": 1} | {"/objects/part_size_bytes": 0} | objects.part_size_bytes: must be 1 to 2^63 - 1
        objects | {} | {"/layout": "shared"} | layout: each lane has objects of its own: set it to separate
        objects | {} | {"/direct": true} | direct: objects have no O_DIRECT: set direct to false
        objects | {} | {"/preallocate": true} | preallocate: nothing is preallocated for objects: set it to false
        objects | {"/file_size_bytes": 0} | {"/file_size_bytes": 9223372036854775808} | file_size_bytes: must be 0 to 2^63 - 1
        objects | {} | {"/tree": {"files": 1}, "/record_size_bytes": 1048576} | objects: a job works on a tree or on objects: leave one out
        null | {} | {"/sizes": {"distribution": "range", "min_bytes": 1, "max_bytes": 2}} | sizes: is for the files of a tree or for objects: say file_size_bytes instead
        objects | {"/sizes": {"distribution": "range", "min_bytes": 7, "max_bytes": 7}} | {"/sizes": {"distribution": "range", "min_bytes": 8, "max_bytes": 7}} | sizes.min_bytes: is above max_bytes, which is 7
        objects | {} | {"/sizes": {"distribution": "range", "min_bytes": 8, "max_bytes": 9223372036854775808}} | sizes.max_bytes: must be at most 2^63 - 1
        objects | {"/sizes": {"distribution": "listed", "sizes": [{"bytes": 0}]}} | {"/sizes": {"distribution": "listed", "sizes": []}} | sizes.sizes: must be 1 to 1000
        objects | {"/sizes": {"distribution": "listed", "sizes": [{"bytes": 1, "weight": 1000000}]}} | {"/sizes": {"distribution": "listed", "sizes": [{"bytes": 1, "weight": 0}]}} | sizes.sizes[0].weight: must be 1 to 1,000,000
        tree | {"/sizes": {"distribution": "range", "min_bytes": 0, "max_bytes": 4096}} | {"/sizes": {"distribution": "range", "min_bytes": 0, "max_bytes": 4097}} | sizes: the contents of a small file are written at once: at most record_size_bytes
        "#,
    );
}

#[test]
fn phases() {
    hold(
        r#"
        null | {"/phases/0/runtime_ns": 1} | {"/phases/0/runtime_ns": 0} | phases[0].runtime_ns: must be 1 ns to 365 days
        null | {"/phases/0/runtime_ns": 31536000000000000} | {"/phases/0/runtime_ns": 31536000000000001} | phases[0].runtime_ns: must be 1 ns to 365 days
        null | {"/phases/0/time_limit_ns": 1} | {"/phases/0/time_limit_ns": 0} | phases[0].time_limit_ns: must be 1 ns to 365 days
        null | {"/phases/0/time_limit_ns": 31536000000000000} | {"/phases/0/time_limit_ns": 18446744073709551615} | phases[0].time_limit_ns: must be 1 ns to 365 days
        null | {"/phases/0/time_limit_ns": 1} | {"/phases/0/time_limit_ns": 1, "/phases/0/runtime_ns": 1} | phases[0].time_limit_ns: a phase that runs for a given time has no other time limit
        null | {"/phases/0/rate_per_s": 0.001} | {"/phases/0/rate_per_s": 0.000999} | phases[0].rate_per_s: must be 0.001 to 1e9 operations per second
        null | {"/phases/0/rate_per_s": 1e9} | {"/phases/0/rate_per_s": 1000000000.1} | phases[0].rate_per_s: must be 0.001 to 1e9 operations per second
        null | {"/phases/0": {"operation": "random_mix", "mix": {"read": 100}}} | {"/phases/0": {"operation": "random_mix"}} | phases[0].mix: random_mix needs the shares in percent of read, write
        null | {"/phases/0": {"operation": "random_mix", "mix": {"read": 70, "write": 30}}} | {"/phases/0": {"operation": "random_mix", "mix": {"read": 70, "write": 31}}} | phases[0].mix: the shares must make 100 percent, not 101
        null | {} | {"/phases/0": {"operation": "sequential_mix", "mix": {"read": 70, "stat": 30}}} | phases[0].mix: stat cannot be a part of sequential_mix
        null | {} | {"/phases/0/mix": {"read": 100}} | phases[0].mix: read is no mixture: leave it out
        null | {} | {"/phases/0/range_bytes": 1} | phases[0].range_bytes: is for get: leave it out
        objects | {"/phases/1": {"operation": "get", "range_bytes": 1}} | {"/phases/1": {"operation": "get", "range_bytes": 0}} | phases[1].range_bytes: must be 1 to 2^63 - 1
        objects | {"/phases/1": {"operation": "object_mix", "mix": {"put": 50, "delete": 50}}} | {"/phases/1": {"operation": "object_mix", "mix": {"put": 49, "delete": 51}}} | phases[1].mix: more would be deleted than put, until nothing is left: make delete at most put
        objects | {"/phases/1": {"operation": "delete"}} | {"/phases/1": {"operation": "delete", "runtime_ns": 1}} | phases[1].runtime_ns: each object can be deleted only once: leave it out
        objects | {} | {"/phases/1": {"operation": "delete", "time_limit_ns": 1}} | phases[1].time_limit_ns: deletes are done whole: leave it out
        objects | {"/phases/0/cache_before": "drop"} | {"/phases/0/cache_before": "evict"} | phases[0].cache_before: objects are in no page cache of a host: use drop or keep
        objects | {} | {"/phases/0": {"operation": "read"}} | phases[0].operation: read: there are no objects: put put or prepare before it
        objects | {} | {"/phases/1": {"operation": "read"}} | phases[1].operation: does not work on objects: leave objects out
        null | {} | {"/phases/0": {"operation": "put"}} | phases[0].operation: needs objects: say how many
        objects | {"/reuse_files": true, "/phases/0": {"operation": "head"}} | {"/phases/0": {"operation": "head"}} | phases[0].operation: head: there are no objects: put put or prepare before it
        objects | {} | {"/phases/1": {"operation": "delete"}, "/phases/2": {"operation": "list"}} | phases[2].operation: list: there are no objects: put put or prepare before it
        null | {"/phases/0/stride_records": 1} | {"/phases/0/stride_records": 0} | phases[0].stride_records: must be 1 to 1048576
        null | {"/phases/0/stride_records": 1048576} | {"/phases/1": {"operation": "read", "stride_records": 1048577}} | phases[1].stride_records: must be 1 to 1048576
        null | {"/phases/0": {"operation": "prepare", "measured": false}} | {"/phases/0": {"operation": "prepare"}} | phases[0].measured: prepare is never a result
        null | {} | {"/phases/0": {"operation": "prepare", "measured": false, "runtime_ns": 1}} | phases[0].operation: prepare takes neither a time nor a rate
        null | {} | {"/phases/0": {"operation": "prepare", "measured": false, "rate_per_s": 1}} | phases[0].operation: prepare takes neither a time nor a rate
        null | {} | {"/phases/0": {"operation": "prepare", "measured": false, "time_limit_ns": 1}} | phases[0].operation: prepare takes neither a time nor a rate
        tree | {"/phases/1": {"operation": "stat", "runtime_ns": 1}} | {"/phases/0/runtime_ns": 1} | phases[0].runtime_ns: each name can be changed only once: leave it out
        tree | {"/phases/0/time_limit_ns": 1} | {"/phases/1": {"operation": "rename", "time_limit_ns": 1}} | phases[1].time_limit_ns: rename, unlink and rmdir are done whole: leave it out
        tree | {"/phases/1": {"operation": "mkdir", "time_limit_ns": 1}} | {"/phases/1": {"operation": "unlink", "time_limit_ns": 1}} | phases[1].time_limit_ns: rename, unlink and rmdir are done whole: leave it out
        tree | {"/phases/1": {"operation": "open", "time_limit_ns": 1}} | {"/phases/0": {"operation": "mkdir"}, "/phases/1": {"operation": "rmdir", "time_limit_ns": 1}} | phases[1].time_limit_ns: rename, unlink and rmdir are done whole: leave it out
        file | {"/phases/0/method": {"method": "threads", "reason": ""}, "/queue_depth": 2} | {"/phases/0/method": {"method": "threads", "reason": ""}, "/queue_depth": 2, "/method": "io_uring"} | phases[0].method: needs method auto of the job, which leaves it open
        file | {"/phases/0/method": {"method": "sync", "reason": ""}} | {"/phases/0/method": {"method": "sync", "reason": ""}, "/queue_depth": 2} | phases[0].method: methods sync and mmap have one operation in flight: set queue_depth to 1, or use more lanes or method io_uring
        file | {"/phases/0/method": {"method": "io_uring", "reason": ""}} | {"/phases/0/method": {"method": "mmap", "reason": ""}} | phases[0].method: must be sync, threads or io_uring
        null | {} | {"/phases/0/method": {"method": "threads", "reason": ""}} | phases[0].method: only for operations on the data of files and devices
        file | {"/phases/0/operation": "fread"} | {"/phases/0/operation": "fread", "/phases/0/method": {"method": "sync", "reason": ""}} | phases[0].method: only for operations on the data of files and devices
        tree | {} | {"/phases/0/method": {"method": "sync", "reason": ""}} | phases[0].method: only for operations on the data of files and devices
        tree | {"/method": "auto"} | {"/method": "threads"} | method: metadata operations have neither mmap nor threads: use auto, sync or io_uring
        file | {"/phases/0/operation": "fread"} | {"/phases/0/operation": "fread", "/method": "mmap"} | phases[0].operation: C stdio does not go through a mapping: use method auto or sync
        file | {"/phases/0/operation": "fread", "/method": "sync"} | {"/phases/0/operation": "fwrite", "/direct": true} | phases[0].operation: C stdio has no O_DIRECT: set direct to false
        file | {"/phases/0/operation": "fwrite", "/sync": "fsync"} | {"/phases/0/operation": "fwrite", "/sync": "o_sync"} | phases[0].operation: C stdio has neither O_SYNC nor O_DSYNC: use fsync or fdatasync
        file | {"/phases/0/operation": "re_fread", "/sync": "none"} | {"/phases/0/operation": "re_fwrite", "/sync": "o_dsync"} | phases[0].operation: C stdio has neither O_SYNC nor O_DSYNC: use fsync or fdatasync
        file | {"/phases/0/operation": "read", "/method": "io_uring"} | {"/phases/0/operation": "fread", "/method": "io_uring"} | phases[0].operation: C stdio does not go through io_uring or threads: use method auto or sync
        file | {"/phases/0/operation": "read", "/queue_depth": 2} | {"/phases/0/operation": "fread", "/queue_depth": 2} | phases[0].operation: C stdio has one operation in flight: set queue_depth to 1
        "#,
    );
}

#[test]
fn a_rate_is_a_number() {
    for rate in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0] {
        let mut job = changed("null", "{}");
        job.phases[0].rate_per_s = Some(rate);
        assert_eq!(job.validate().unwrap_err().field, "phases[0].rate_per_s", "{rate}");
    }
}

#[test]
fn claims() {
    let claim = |root: &str, identity: &str| {
        let claim = json!({"root": root, "mark": {"run": "r", "created_by_assay": true, "identity": identity}});
        serde_json::from_value::<Claim>(claim).unwrap().validate().map_err(|error| error.to_string())
    };
    assert_eq!(claim("/mnt", "run-1"), Ok(()));
    let path = "root: must be an absolute path without . or .. parts";
    assert_eq!(claim("mnt", "run-1"), Err(path.to_owned()));
    let name = "mark.identity: must be 1 to 128 of A-Z a-z 0-9 . _ -";
    assert_eq!(claim("/mnt", ""), Err(name.to_owned()));
}
