//! Latency histograms that merge exactly.

use base64::engine::general_purpose::STANDARD;
use base64::Engine as _;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use hdrhistogram::Histogram as Hdr;

/// Three significant digits: 2048 linear steps, then 1024 per power of two.
const SUB_BITS: u32 = 11;
const HALF_BITS: u32 = SUB_BITS - 1;
/// Values above this are counted as this: 2^42 ns, 73 minutes.
pub const HIGHEST: u64 = (1 << 42) - 1;
const LENGTH: usize = ((42 - SUB_BITS + 2) as usize) << HALF_BITS;

/// Counts per bucket of HdrHistogram's layout (lowest value 1, three significant digits), recorded by shift and add.
///
/// Source of the layout: Gil Tene, HdrHistogram, AbstractHistogram.java.
pub struct Histogram {
    counts: Box<[u32; LENGTH]>,
    /// One bit for each power of two in which something was counted.
    touched: u64,
}

/// Non-empty buckets: index and count.
pub type Sparse = Vec<(u32, u32)>;

/// Bucket of a value.
#[inline]
fn index_of(value: u64) -> usize {
    let bucket = 64 - (value | ((1 << SUB_BITS) - 1)).leading_zeros() - SUB_BITS;
    (((bucket as usize) << HALF_BITS) + (value >> bucket) as usize).min(LENGTH - 1)
}

/// Least value of a bucket.
fn value_of(index: usize) -> u64 {
    if index < 1 << SUB_BITS {
        return index as u64;
    }
    let bucket = (index >> HALF_BITS) - 1;
    let sub = (index & ((1 << HALF_BITS) - 1)) + (1 << HALF_BITS);
    (sub as u64) << bucket
}

impl Default for Histogram {
    fn default() -> Self {
        // Not built from an array, which would lie on a lane's small stack. Memory in which nothing is counted is never
        // touched.
        let counts = vec![0; LENGTH].into_boxed_slice().try_into().expect("the length is the array's");
        Histogram { counts, touched: 0 }
    }
}

impl Histogram {
    /// Count one latency in nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let index = index_of(ns);
        self.counts[index] += 1;
        self.touched |= 1 << (index >> HALF_BITS);
    }

    /// Return the non-empty buckets and empty the histogram.
    pub fn take(&mut self) -> Sparse {
        let mut taken = Vec::new();
        for (block, counts) in self.counts.chunks_exact_mut(1 << HALF_BITS).enumerate() {
            if self.touched >> block & 1 == 0 {
                continue;
            }
            for (index, count) in counts.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
                taken.push((((block << HALF_BITS) + index) as u32, std::mem::take(count)));
            }
        }
        self.touched = 0;
        taken
    }
}

/// A histogram that others are added to: HdrHistogram itself.
#[derive(Clone)]
pub struct Merged(Hdr<u64>);

impl Default for Merged {
    fn default() -> Self {
        Merged(Hdr::new_with_bounds(1, HIGHEST, 3).expect("the bounds are valid"))
    }
}

impl Merged {
    /// Add buckets.
    pub fn add(&mut self, sparse: &Sparse) {
        for (index, count) in sparse {
            self.0.saturating_record_n(value_of(*index as usize), u64::from(*count));
        }
    }

    /// Add a histogram from its `encoded` text; false, and nothing is added, if the text is invalid.
    pub fn add_encoded(&mut self, text: &str) -> bool {
        let read = STANDARD
            .decode(text)
            .ok()
            .and_then(|bytes| Deserializer::new().deserialize::<u64, _>(&mut bytes.as_slice()).ok());
        read.is_some_and(|other| self.0.add(other).is_ok())
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The histogram as HDR V2-deflate, base64; None if empty.
    pub fn encoded(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.0, &mut bytes).expect("writing to memory cannot fail");
        Some(STANDARD.encode(bytes))
    }

    /// Order statistics; None if empty.
    pub fn summary(&self) -> Option<assay_spec::LatencySummary> {
        let at = |percent: f64| self.0.value_at_percentile(percent);
        Some(assay_spec::LatencySummary {
            histogram: self.encoded()?,
            count: self.0.len(),
            min_ns: self.0.min(),
            mean_ns: self.0.mean(),
            p50_ns: at(50.0),
            p90_ns: at(90.0),
            p99_ns: at(99.0),
            p999_ns: at(99.9),
            p9999_ns: at(99.99),
            max_ns: self.0.max(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::random::mix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buckets_are_hdrs(value in 0_u64..=HIGHEST) {
            let least = value_of(index_of(value));
            let hdr = Merged::default();
            prop_assert_eq!(least, hdr.0.lowest_equivalent(value));
            prop_assert!(value - least <= value / 1000 + 1);
        }
    }

    #[test]
    fn too_large_values_stay_in_the_last_bucket() {
        let mut histogram = Histogram::default();
        histogram.record(u64::MAX);
        assert_eq!(histogram.take(), vec![(index_of(HIGHEST) as u32, 1)]);
    }

    /// Sixteen merged lanes give the percentiles of one pooled histogram.
    #[test]
    fn merging_is_exact() {
        let mut pooled = Hdr::<u64>::new_with_bounds(1, HIGHEST, 3).unwrap();
        let mut merged = Merged::default();
        for lane in 0..16_u64 {
            let mut own = Histogram::default();
            for number in 0..5_000 {
                let value = mix(lane << 32 | number) >> (24 + lane % 8);
                let value = value % HIGHEST + 1;
                own.record(value);
                pooled.record(value).unwrap();
                if number % 700 == 0 {
                    merged.add(&own.take());
                }
            }
            merged.add(&own.take());
        }
        assert_eq!(merged.count(), 80_000);
        for tenth in 0..=1000 {
            let percent = f64::from(tenth) / 10.0;
            assert_eq!(merged.0.value_at_percentile(percent), pooled.value_at_percentile(percent), "p{percent}");
        }
    }
}
