//! Objects that exist already: their list, and which of them are drawn.

use super::place::Place;
use super::remove::{is_true, query_pair};
use super::request::encoded;
use super::xml::Document;
use crate::net::block_on;
use crate::pages::{Bounds, NewEntries, Pages, Trouble};
use assay_core::random::mix2;
use assay_core::{heartbeat, Existing, ExistingObject, Fault, SetupError, MALFORMED_ANSWER};
use assay_spec::{ExistingObjects, Job};
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

/// Sets this draw apart from everything else that is drawn from the seed.
const SALT: u64 = 0xE815_7163;

/// Which objects are drawn: those with the smallest hashes of seed and key. So each is as likely as any other, and all
/// processes draw the same ones, in whatever order they were listed. The lanes take them in turn.
#[derive(Debug, Clone)]
pub(crate) struct Draw {
    seed: u64,
    /// Objects of all lanes together.
    max_count: usize,
    lanes: u32,
    /// The lanes of this process.
    own: Range<u32>,
}

/// An object in the draw, ordered by its hash.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DrawnObject {
    hash: u64,
    name: Box<str>,
    bytes: u64,
}

/// What was listed so far.
#[derive(Debug, Default)]
struct ListSummary {
    listed: u64,
    listed_bytes: u64,
    drawn: BinaryHeap<DrawnObject>,
}

impl Draw {
    /// The draw of a job.
    pub(crate) fn of(job: &Job) -> Self {
        let each = job.objects.as_ref().map_or(0, |objects| objects.count);
        let max_count = each.saturating_mul(u64::from(job.all_lanes())) as usize;
        Draw { seed: job.seed, max_count, lanes: job.all_lanes(), own: job.first_lane()..job.first_lane() + job.lanes }
    }

    fn hash(&self, name: &str) -> u64 {
        let start = mix2(mix2(self.seed, SALT), name.len() as u64);
        name.as_bytes().chunks(8).fold(start, |hash, part| {
            let mut bytes = [0; 8];
            bytes[..part.len()].copy_from_slice(part);
            mix2(hash, u64::from_le_bytes(bytes))
        })
    }

    /// Adds a listed object, and draws it if its hash is among the smallest so far.
    fn add(&self, summary: &mut ListSummary, name: &str, bytes: u64) {
        summary.listed += 1;
        summary.listed_bytes = summary.listed_bytes.saturating_add(bytes);
        let hash = self.hash(name);
        if summary.drawn.len() >= self.max_count {
            if summary.drawn.peek().is_none_or(|last| last.hash <= hash) {
                return;
            }
            summary.drawn.pop();
        }
        summary.drawn.push(DrawnObject { hash, name: name.into(), bytes });
    }

    /// Distributes the drawn objects over the lanes; none if a lane would get nothing.
    fn deal(&self, summary: ListSummary) -> Option<Existing> {
        let drawn = summary.drawn.into_sorted_vec();
        if drawn.len() < self.lanes as usize {
            return None;
        }
        let mut sizes: Vec<u64> = drawn.iter().map(|one| one.bytes).collect();
        sizes.sort_unstable();
        let found = ExistingObjects {
            listed: summary.listed,
            listed_bytes: summary.listed_bytes,
            objects: sizes.len() as u64,
            bytes: sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size)),
            smallest_bytes: *sizes.first()?,
            median_bytes: sizes[(sizes.len() - 1) / 2],
            largest_bytes: *sizes.last()?,
        };
        let mut lanes = vec![Vec::new(); self.own.len()];
        for (number, one) in drawn.into_iter().enumerate() {
            let lane = (number % self.lanes as usize) as u32;
            if self.own.contains(&lane) {
                lanes[(lane - self.own.start) as usize].push(ExistingObject { name: one.name, bytes: one.bytes });
            }
        }
        Some(Existing { found, lanes: lanes.into_iter().map(Arc::from).collect() })
    }
}

/// Keys and sizes on a page; none for an entry that cannot be read.
fn objects_of(page: &Document) -> impl Iterator<Item = Option<(&str, u64)>> {
    page.entries("Contents").map(|texts| {
        let size = texts.get("Size")?.trim().parse().ok().filter(|size| i64::try_from(*size).is_ok())?;
        Some((texts.get("Key")?.as_str(), size))
    })
}

impl Place {
    /// The path of objects that exist already, for people.
    fn existing_path(&self, start: &str) -> String {
        format!("{}/{start}", self.bucket_path())
    }

    /// Checks that there are objects whose keys begin with `start`, before anything is measured.
    ///
    /// # Errors
    /// If there are none, or the service refuses to list them.
    pub(crate) fn check_any(&self, start: &str) -> Result<(), SetupError> {
        let client = self.access.client();
        let query = format!("list-type=2&max-keys=1&prefix={}", encoded(start));
        let page = block_on(self.document(&client, query, "ListBucketResult"))?;
        let page = page.map_err(|fault| self.error("list", self.existing_path(start), fault))?;
        if !objects_of(&page).flatten().any(|(name, _)| name.starts_with(start)) {
            return Err(self.too_few(start, 0, 1));
        }
        Ok(())
    }

    /// Lists the objects whose keys begin with `start`, and draws from them.
    ///
    /// # Errors
    /// If there are fewer objects than lanes, the service refuses to list them, or `go_on` returns false.
    pub(crate) fn draw(
        &self,
        start: &str,
        draw: &Draw,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Existing, SetupError> {
        heartbeat::begin(format!("listing {}", self.existing_path(start)), 0);
        let summary = block_on(self.list_all(start, draw, go_on))?;
        let summary = summary.map_err(|fault| self.error("list", self.existing_path(start), fault))?;
        let listed = summary.listed;
        draw.deal(summary).ok_or_else(|| self.too_few(start, listed, draw.lanes))
    }

    async fn list_all(
        &self,
        start: &str,
        draw: &Draw,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<ListSummary, Trouble> {
        let client = self.access.client();
        let (mut summary, mut token) = (ListSummary::default(), String::new());
        let (mut pages, mut new_entries) = (Pages::new(Bounds::of_others()), NewEntries::default());
        loop {
            let query = format!("list-type=2&prefix={}{token}", encoded(start));
            let page = self.document(&client, query, "ListBucketResult").await?;
            let mut new = 0;
            for object in objects_of(&page) {
                let (name, bytes) = object.ok_or(MALFORMED_ANSWER)?;
                if !name.starts_with(start) {
                    let shown = self.access.shown(name).unwrap_or_default();
                    return Err(Trouble::Message(format!("the service lists what does not begin so: {shown}")));
                }
                new += u64::from(new_entries.is_new(name, ""));
                draw.add(&mut summary, name, bytes);
            }
            if !go_on(summary.listed) {
                return Err(Fault::os(libc::ECANCELED).into());
            }
            let next = is_true(&page, "IsTruncated")
                .then(|| query_pair("continuation-token", page.text("NextContinuationToken")));
            let Some(next) = pages.next_page(new, next)? else { return Ok(summary) };
            token = next;
        }
    }

    fn too_few(&self, start: &str, listed: u64, lanes: u32) -> SetupError {
        let message = if listed == 0 {
            "there are no objects whose keys begin so: name another beginning in existing".to_owned()
        } else {
            format!("{listed} objects begin so, fewer than the {lanes} lanes: use fewer lanes, or a shorter beginning")
        };
        SetupError::new("list", self.existing_path(start), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(seed: u64, max_count: usize, lanes: u32, own: Range<u32>) -> Draw {
        Draw { seed, max_count, lanes, own }
    }

    fn summary_of(draw: &Draw, numbers: impl Iterator<Item = u64>) -> ListSummary {
        let mut summary = ListSummary::default();
        numbers.for_each(|number| draw.add(&mut summary, &format!("logs/{:03}/{number}", number % 100), number));
        summary
    }

    fn names(existing: &Existing) -> Vec<Vec<&str>> {
        existing.lanes.iter().map(|lane| lane.iter().map(|one| &*one.name).collect()).collect()
    }

    /// Two processes that list in different orders share one draw, and each object goes to one lane.
    #[test]
    fn no_two_lanes_have_the_same_object() {
        let (one, two) = (draw(5, 60, 6, 0..3), draw(5, 60, 6, 3..6));
        let one = one.deal(summary_of(&one, 0..1000)).unwrap();
        let two = two.deal(summary_of(&two, (0..1000).rev())).unwrap();
        assert_eq!(one.found, two.found);
        let all: Vec<&str> = [names(&one), names(&two)].concat().concat();
        let different: std::collections::BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!((all.len(), different.len()), (60, 60));
        assert!(one.lanes.iter().chain(&two.lanes).all(|lane| lane.len() == 10));
    }

    #[test]
    fn the_whole_list_is_represented_and_another_seed_draws_others() {
        let drawn = |seed| {
            let draw = draw(seed, 400, 1, 0..1);
            draw.deal(summary_of(&draw, 0..10_000)).unwrap()
        };
        let (one, other) = (drawn(1), drawn(2));
        assert_eq!(one, drawn(1));
        assert_ne!(names(&one), names(&other));
        let below: std::collections::BTreeSet<&str> = one.lanes[0].iter().map(|one| &one.name[..8]).collect();
        assert!(below.len() > 90, "{} of 100 prefixes", below.len());
        let upper = one.lanes[0].iter().filter(|one| one.bytes >= 5000).count();
        assert!(upper.abs_diff(200) < 50, "{upper} of 400 are of the upper half");
    }

    #[test]
    fn the_draw_is_reported() {
        let draw = draw(3, 100, 2, 0..2);
        let found = draw.deal(summary_of(&draw, 1..6)).unwrap().found;
        let expected = ExistingObjects {
            listed: 5,
            listed_bytes: 15,
            objects: 5,
            bytes: 15,
            smallest_bytes: 1,
            median_bytes: 3,
            largest_bytes: 5,
        };
        assert_eq!(found, expected);
        assert!(draw.deal(summary_of(&draw, 0..1)).is_none(), "one object for two lanes");
    }
}
