//! `assay-engine counters`: what links, CPUs and disks of this host do while it is used.

use crate::run::print_line;
use assay_core::clock;
use assay_drive::{device_use, host_cpu};
use assay_spec::{Counters, DeviceUse, LinkCounters, MountCounters, Pressure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::read_to_string;
use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Milliseconds between two lines.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(10..=60_000))]
    every_ms: u64,
}

/// End this process when standard input ends: then the reader is gone.
fn end_with_input() {
    std::thread::spawn(|| {
        let mut rest = [0; 64];
        while std::io::stdin().read(&mut rest).is_ok_and(|count| count > 0) {}
        std::process::exit(0);
    });
}

/// The number in a file.
fn number(path: &str) -> Option<u64> {
    read_to_string(path).ok()?.trim().parse().ok()
}

/// All interfaces.
fn links() -> BTreeMap<String, LinkCounters> {
    let table = read_to_string("/proc/self/net/dev").unwrap_or_default();
    let found = table.lines().filter_map(|line| {
        let (name, counts) = line.split_once(':')?;
        let counts: Vec<u64> = counts.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let name = name.trim().to_owned();
        // bytes packets errs drop fifo frame compressed multicast, first received and then sent.
        let [received, _, damaged, dropped, _, _, _, _, sent, _, unsent, dropped_sent, ..] = counts[..] else {
            return None;
        };
        // An interface without a device, such as that of a namespace, reports a speed without meaning.
        let real = std::path::Path::new(&format!("/sys/class/net/{name}/device")).exists();
        let megabits = real.then(|| number(&format!("/sys/class/net/{name}/speed"))).flatten();
        let speed = megabits.map(|megabits| megabits * 1_000_000);
        let counters = LinkCounters {
            received_bytes: received,
            sent_bytes: sent,
            receive_drops: damaged + dropped,
            send_drops: unsent + dropped_sent,
            speed,
        };
        Some((name, counters))
    });
    found.collect()
}

/// Whole disks with any requests; loop devices only if one is mounted here.
fn disks() -> BTreeMap<String, DeviceUse> {
    let mounts = read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounted: BTreeSet<&str> = mounts.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    let table = read_to_string("/proc/diskstats").unwrap_or_default();
    let found = table.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (major, minor, name) = (words.next()?, words.next()?, words.next()?);
        let device = format!("{major}:{minor}");
        let whole = std::path::Path::new(&format!("/sys/block/{name}")).exists();
        let counted = whole && (!name.starts_with("loop") || mounted.contains(device.as_str()));
        let done = counted.then(|| device_use(&device)).flatten()?;
        (done != DeviceUse { flushes: done.flushes, ..DeviceUse::default() }).then(|| (name.to_owned(), done))
    });
    found.collect()
}

/// Mounted NFS file systems in /proc/self/mountstats.
fn mounts(table: &str) -> BTreeMap<String, MountCounters> {
    let mut found = BTreeMap::new();
    let mut mount: Option<&str> = None;
    for line in table.lines() {
        if let Some(rest) = line.strip_prefix("device ") {
            // A mount point's blanks are escaped.
            mount = rest.split_once(" mounted on ").and_then(|(_, rest)| rest.split(' ').next());
        } else if let (Some(path), Some(counts)) = (mount, line.trim_start().strip_prefix("bytes:")) {
            let counts: Vec<u64> = counts.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            // Read and written by calls, with the cache and without it, and then from and to the server.
            if let [_, _, _, _, read_bytes, write_bytes, ..] = counts[..] {
                found.insert(path.to_owned(), MountCounters { read_bytes, write_bytes });
            }
        }
    }
    found
}

/// Waits in a file of /proc/pressure.
fn pressure(table: &str) -> Option<Pressure> {
    let total_ns = |kind: &str| {
        let line = table.lines().find_map(|line| line.strip_prefix(kind))?;
        let micros: u64 = line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()?;
        Some(micros * 1000)
    };
    Some(Pressure { some_ns: total_ns("some ")?, full_ns: total_ns("full ")? })
}

/// A TCP counter (proc_pid_net(5), `snmp`).
fn tcp(table: &str, name: &str) -> Option<u64> {
    let mut lines = table.lines().filter(|line| line.starts_with("Tcp:"));
    let column = lines.next()?.split_whitespace().position(|word| word == name)?;
    lines.next()?.split_whitespace().nth(column)?.parse().ok()
}

fn softnet_drops() -> Option<u64> {
    let table = read_to_string("/proc/self/net/softnet_stat").ok()?;
    table.lines().map(|line| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok()).sum()
}

/// Online CPUs (proc_stat(5)).
fn cpus() -> u64 {
    let table = read_to_string("/proc/stat").unwrap_or_default();
    let numbered =
        |line: &&str| line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|one: char| one.is_ascii_digit()));
    table.lines().filter(numbered).count().max(1) as u64
}

fn sample() -> Counters {
    let snmp = read_to_string("/proc/self/net/snmp").unwrap_or_default();
    Counters {
        at_ns: clock::now(),
        cpu: host_cpu(),
        cpus: cpus(),
        links: links(),
        disks: disks(),
        mounts: mounts(&read_to_string("/proc/self/mountstats").unwrap_or_default()),
        io_pressure: read_to_string("/proc/pressure/io").ok().as_deref().and_then(pressure),
        segments: tcp(&snmp, "OutSegs"),
        segments_again: tcp(&snmp, "RetransSegs"),
        softnet_drops: softnet_drops(),
    }
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    end_with_input();
    loop {
        // The reader may be gone.
        if print_line(&serde_json::to_string(&sample())?).is_err() {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(Duration::from_millis(arguments.every_ms));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_tcp_are_found_by_name() {
        let table = "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm OutSegs RetransSegs\nTcp: 1 500 7\n";
        assert_eq!((tcp(table, "OutSegs"), tcp(table, "RetransSegs")), (Some(500), Some(7)));
        assert_eq!((tcp(table, "Missing"), tcp("", "OutSegs")), (None, None));
    }

    #[test]
    fn bytes_of_nfs_are_those_of_the_server() {
        let table = "device proc mounted on /proc with fstype proc\n\
            device nas:/a mounted on /mnt/my\\040nas with fstype nfs4 statvers=1.1\n\
            \topts:\trw,vers=4.2\n\tage:\t7\n\tbytes:\t10 20 30 40 50 60 7 8\n\
            device nas:/b mounted on /mnt/b with fstype nfs statvers=1.1\n\tbytes:\t1 2\n";
        let expected = MountCounters { read_bytes: 50, write_bytes: 60 };
        assert_eq!(mounts(table), BTreeMap::from([("/mnt/my\\040nas".to_owned(), expected)]));
    }

    #[test]
    fn waits_are_in_nanoseconds() {
        let table = "some avg10=0.00 avg60=0.51 avg300=0.50 total=3539869\nfull avg10=0.00 avg60=0 avg300=0 total=2\n";
        assert_eq!(pressure(table), Some(Pressure { some_ns: 3_539_869_000, full_ns: 2_000 }));
        assert_eq!(pressure(""), None);
    }

    #[test]
    fn this_host_has_cpus_and_counts_upwards() {
        let (first, second) = (sample(), sample());
        assert!(first.cpus >= 1 && second.at_ns >= first.at_ns);
        for (name, before) in &first.links {
            let after = &second.links[name];
            assert!(after.received_bytes >= before.received_bytes && after.sent_bytes >= before.sent_bytes);
        }
    }
}
