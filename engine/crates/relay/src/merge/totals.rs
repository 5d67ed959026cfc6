//! Sums of counts, and merged histograms.

use assay_drive::histogram::Merged;
use assay_spec::{ErrorCount, HostConnections, HostCpu, LatencySummary, OpKind, OpTotals, Resources, Watch};

/// A sum that does not wrap: bytes that are only counted, not moved, can add up to 64 bits.
pub(crate) fn saturating_sum(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}

/// The sum, or None if any part is unknown.
pub(crate) fn sum_if_known(parts: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    parts.into_iter().try_fold(0, |sum: u64, part| Some(sum.saturating_add(part?)))
}

/// Each kind once, in the order of first occurrence.
pub(crate) fn kinds(parts: impl IntoIterator<Item = OpKind>) -> Vec<OpKind> {
    let mut found = Vec::new();
    for kind in parts {
        if !found.contains(&kind) {
            found.push(kind);
        }
    }
    found
}

/// One histogram of all, merged bucket by bucket; unreadable ones count nothing.
pub(crate) fn histogram<'a>(parts: impl IntoIterator<Item = &'a str>) -> Merged {
    let mut merged = Merged::default();
    for part in parts {
        merged.add_encoded(part);
    }
    merged
}

/// The summary of all; None if there is none.
pub(crate) fn latency<'a>(parts: impl IntoIterator<Item = Option<&'a LatencySummary>>) -> Option<LatencySummary> {
    let all: Vec<&LatencySummary> = parts.into_iter().flatten().collect();
    match all[..] {
        [] => None,
        [one] => Some(one.clone()),
        _ => {
            let merged = histogram(all.iter().map(|part| part.histogram.as_str())).summary()?;
            let count: u64 = saturating_sum(all.iter().map(|part| part.count));
            // From buckets the mean is known to three digits; from the parts' own means as exactly as those are.
            let sum: f64 = all.iter().map(|part| part.mean_ns * part.count as f64).sum();
            Some(LatencySummary { mean_ns: if count > 0 { sum / count as f64 } else { merged.mean_ns }, ..merged })
        }
    }
}

/// Totals by kind, in the order of first occurrence.
pub(crate) fn operations(ends: &[&[OpTotals]]) -> Vec<OpTotals> {
    let parts = || ends.iter().copied().flatten();
    let of = |kind| parts().filter(move |part| part.operation == kind);
    kinds(parts().map(|part| part.operation))
        .into_iter()
        .map(|kind| OpTotals {
            operation: kind,
            ops: saturating_sum(of(kind).map(|part| part.ops)),
            bytes: saturating_sum(of(kind).map(|part| part.bytes)),
            errors: saturating_sum(of(kind).map(|part| part.errors)),
            latency: latency(of(kind).map(|part| part.latency.as_ref())),
            first_byte: latency(of(kind).map(|part| part.first_byte.as_ref())),
            repeated: latency(of(kind).map(|part| part.repeated.as_ref())),
        })
        .collect()
}

/// Counts by reason, in the order of first occurrence.
pub(crate) fn errors<'a>(parts: impl IntoIterator<Item = &'a ErrorCount>) -> Vec<ErrorCount> {
    let mut all: Vec<ErrorCount> = Vec::new();
    for part in parts {
        match all.iter_mut().find(|one| (one.kind, one.fault) == (part.kind, part.fault)) {
            Some(one) => one.count = one.count.saturating_add(part.count),
            None => all.push(part.clone()),
        }
    }
    all
}

/// Connections to each host.
pub(crate) fn connections<'a>(parts: impl IntoIterator<Item = &'a HostConnections>) -> Vec<HostConnections> {
    let mut all: Vec<HostConnections> = Vec::new();
    for part in parts {
        let Some(one) = all.iter_mut().find(|one| one.host == part.host) else {
            all.push(part.clone());
            continue;
        };
        one.requests += part.requests;
        one.opened += part.opened;
        one.refused += part.refused;
        one.closed += part.closed;
        one.max_requests = one.max_requests.max(part.max_requests);
        one.setup = latency([one.setup.as_ref(), part.setup.as_ref()]);
    }
    all
}

/// The sum of all watchers; None unless all watched, on the same grid.
pub(crate) fn watch(parts: &[Option<&Watch>]) -> Option<Watch> {
    let all: Vec<&Watch> = parts.iter().copied().collect::<Option<Vec<_>>>()?;
    let grid = all.first()?.interval_ns;
    if all.iter().any(|watch| watch.interval_ns != grid) {
        return None;
    }
    let sum = |of: fn(&Watch) -> u64| saturating_sum(all.iter().map(|watch| of(watch)));
    Some(Watch {
        interval_ns: grid,
        elapsed_ns: sum(|watch| watch.elapsed_ns),
        lateness: latency(all.iter().map(|watch| Some(&watch.lateness)))?,
        stalls: sum(|watch| watch.stalls),
        stalled_ns: sum(|watch| watch.stalled_ns),
        longest_ns: all.iter().map(|watch| watch.longest_ns).max()?,
        away_ns: sum_if_known(all.iter().map(|watch| watch.away_ns)),
        cpu_ns: sum(|watch| watch.cpu_ns),
    })
}

/// Sums of what the processes used; counts for the whole host are those of the process that measured longest.
pub(crate) fn resources(parts: &[&Resources]) -> Resources {
    let sum = |of: fn(&Resources) -> u64| saturating_sum(parts.iter().map(|part| of(part)));
    let looked = |host: &HostCpu| host.busy_ns.saturating_add(host.idle_ns);
    let longest = parts.iter().max_by_key(|part| part.host.as_ref().map(looked));
    Resources {
        user_ns: sum(|part| part.user_ns),
        system_ns: sum(|part| part.system_ns),
        service_ns: sum_if_known(parts.iter().map(|part| part.service_ns)),
        read_bytes: sum_if_known(parts.iter().map(|part| part.read_bytes)),
        write_bytes: sum_if_known(parts.iter().map(|part| part.write_bytes)),
        host: longest.and_then(|part| part.host),
        device: longest.and_then(|part| part.device),
        watched: longest.map(|part| part.watched.clone()).unwrap_or_default(),
    }
}
