//! Keys of items. All their characters stand unescaped in JSON.

use assay_core::names::MARKER;
use assay_core::OBJECT_BITS;
use assay_spec::{DynamodbTarget, LANE_DIGITS, PARTITION_DIGITS, SORT_DIGITS};

/// Partition key of the mark of a table that Assay has made.
pub(crate) const MARK: &str = MARKER;
/// Sort key of marks, in tables with a sort key.
const MARK_SORT: &str = "0";

/// Partition key, and sort key in tables that have one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) partition: String,
    pub(crate) sort: Option<String>,
}

/// The prefix of the partition keys of a job's items; by itself it is the key of the job's mark.
pub(crate) fn job_prefix(target: &DynamodbTarget) -> String {
    format!("{}/{}/", target.root, target.directory)
}

/// The key of a mark, of the table or of a job.
pub(crate) fn mark_key(target: &DynamodbTarget, partition: impl Into<String>) -> Key {
    let sort = target.sort_key.as_ref().map(|_| MARK_SORT.to_owned());
    Key { partition: partition.into(), sort }
}

/// The prefix of the partition keys of a lane's items.
pub(crate) fn lane_prefix(target: &DynamodbTarget, lane: u32) -> String {
    format!("{}{lane:0LANE_DIGITS$x}", job_prefix(target))
}

/// The partition key of a lane's item with this number.
pub(crate) fn partition(target: &DynamodbTarget, lane: u32, number: u64) -> String {
    format!("{}{:0PARTITION_DIGITS$x}", lane_prefix(target, lane), number / target.partition_items)
}

/// The key of a lane's item.
pub(crate) fn key(target: &DynamodbTarget, lane: u32, number: u64) -> Key {
    let sort = target.sort_key.as_ref().map(|_| format!("{:0SORT_DIGITS$x}", number % target.partition_items));
    Key { partition: partition(target, lane, number), sort }
}

/// The key of the mark that a run works in the table, from its first job to its end; none for a job outside a run.
pub(crate) fn use_mark_key(target: &DynamodbTarget) -> Option<Key> {
    target.run.as_ref().map(|run| mark_key(target, format!("{}/{run}/", target.root)))
}

/// Lane and number of an item of this job; none if it is another's, or the job's mark.
pub(crate) fn owner(target: &DynamodbTarget, key: &Key) -> Option<(u32, u64)> {
    parts(target, &key.partition, key.sort.as_deref())
}

/// A hexadecimal number as keys write it; none otherwise, as `+f` and `0F` are keys of others.
fn hex(digits: &str) -> Option<u64> {
    let ours = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    u64::from_str_radix(digits, 16).ok().filter(|_| ours)
}

/// The number of an item of this job by its key, counted from the first item of `lane` (see `OBJECT_BITS`); none if it
/// is another's.
pub(crate) fn number(target: &DynamodbTarget, lane: u32, partition: &str, sort: Option<&str>) -> Option<u64> {
    let (item_lane, number) = parts(target, partition, sort)?;
    let lanes_apart = u64::from(item_lane).wrapping_sub(u64::from(lane));
    Some((lanes_apart << OBJECT_BITS).wrapping_add(number))
}

fn parts(target: &DynamodbTarget, partition: &str, sort: Option<&str>) -> Option<(u32, u64)> {
    let digits = partition.strip_prefix(job_prefix(target).as_str())?;
    if digits.len() != LANE_DIGITS + PARTITION_DIGITS || !digits.is_ascii() {
        return None;
    }
    let (lane_digits, partition_digits) = digits.split_at(LANE_DIGITS);
    let within = match (&target.sort_key, sort) {
        (Some(_), Some(sort)) => hex(sort).filter(|at| sort.len() == SORT_DIGITS && *at < target.partition_items)?,
        (Some(_), None) => return None,
        (None, _) => 0,
    };
    let number = hex(partition_digits)?.checked_mul(target.partition_items)?.checked_add(within)?;
    Some((hex(lane_digits)? as u32, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn target(items: u64, sort: Option<&str>) -> DynamodbTarget {
        serde_json::from_value(json!({
            "endpoints": ["http://h"], "table": "abc", "root": "assay", "directory": "c1-r1", "sort_key": sort,
            "partition_items": items,
        }))
        .unwrap()
    }

    proptest! {
        /// A key gives its number, and is as long as the target states.
        #[test]
        fn keys_give_numbers(number in 0_u64..1 << 39, lane in 0_u32..1 << 26, items in 2_u64..1_000_000, sorted: bool) {
            let target = if sorted { target(items, Some("sk")) } else { target(1, None) };
            let key = key(&target, lane, number);
            let of = |lane| super::number(&target, lane, &key.partition, key.sort.as_deref());
            prop_assert_eq!(of(lane), Some(number));
            prop_assert_eq!(of(lane + 1), Some(number.wrapping_sub(1 << OBJECT_BITS)));
            let length = "pk".len() + key.partition.len() + key.sort.map_or(0, |sort| "sk".len() + sort.len()) + 1;
            prop_assert_eq!(length as u64, target.key_bytes());
        }
    }

    #[test]
    fn items_of_a_partition_differ_in_their_sort_keys() {
        let target = target(10, Some("sk"));
        let [one, other, next] = [17, 18, 20].map(|number| key(&target, 3, number));
        assert_eq!(one.partition, "assay/c1-r1/00000030000000001");
        assert_eq!((one.partition == other.partition, one.sort == other.sort), (true, false));
        assert_ne!(one.partition, next.partition);
        assert_eq!(number(&target, 3, "assay/c1-r1/", Some("0")), None);
        assert_eq!(number(&target, 3, MARK, Some("0")), None);
    }

    #[test]
    fn keys_that_are_written_otherwise_are_not_ours() {
        let target = target(10, Some("sk"));
        let Key { partition, sort } = key(&target, 3, 1711);
        let sort = sort.unwrap();
        let lane = |partition: &str, sort: &str| {
            owner(&target, &Key { partition: partition.to_owned(), sort: Some(sort.to_owned()) }).map(|(lane, _)| lane)
        };
        assert_eq!((number(&target, 3, &partition, Some(&sort)), lane(&partition, &sort)), (Some(1711), Some(3)));
        assert_eq!(number(&target, 3, &partition, None), None, "each item has both keys");
        let start = job_prefix(&target).len();
        for at in [start, start + LANE_DIGITS] {
            let signed = format!("{}+{}", &partition[..at], &partition[at + 1..]);
            assert_eq!(number(&target, 3, &signed, Some(&sort)), None, "{signed}");
            assert_eq!(lane(&signed, &sort), None, "{signed}");
        }
        let upper = job_prefix(&target) + &partition[start..].to_uppercase();
        assert_ne!(upper, partition);
        assert_eq!(number(&target, 3, &upper, Some(&sort)), None);
        for wrong in [format!("+{}", &sort[1..]), format!("0{sort}"), sort[1..].to_owned(), "f".repeat(SORT_DIGITS)] {
            assert_eq!(number(&target, 3, &partition, Some(&wrong)), None, "{wrong}");
        }
    }
}
