//! Pages of the list of a lane's names: each says how the next one is asked for.

use crate::pages::MOST_TOKEN;

/// What is known of them.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// How the second page is asked for, the third, ...
    tokens: Vec<String>,
    /// The last of the pages known has no next one.
    ended: bool,
}

impl Listing {
    /// The page that is asked for in the place of one: that itself; the first one that is not known, if the page before
    /// could not be had; the first of all, if the list has ended before.
    pub(crate) fn page(&self, wanted: usize) -> usize {
        if wanted <= self.tokens.len() {
            wanted
        } else if self.ended {
            0
        } else {
            self.tokens.len()
        }
    }

    /// What asks for a page; none for the first.
    pub(crate) fn token(&self, page: usize) -> Option<&String> {
        self.tokens.get(page.checked_sub(1)?)
    }

    /// A page has come, and what asks for the next; none if it is the last. What is longer than any service needs is none.
    pub(crate) fn note(&mut self, page: usize, next: Option<String>) {
        let next = next.filter(|next| next.len() <= MOST_TOKEN);
        self.tokens.truncate(page);
        self.ended = next.is_none();
        self.tokens.extend(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_page_follows_the_one_before() {
        let mut listing = Listing::default();
        assert_eq!((listing.page(0), listing.token(0)), (0, None));
        // The first page could not be had: it is asked for again in the place of the second.
        assert_eq!(listing.page(1), 0);
        listing.note(0, Some("a".to_owned()));
        assert_eq!((listing.page(1), listing.token(1).map(String::as_str)), (1, Some("a")));
        assert_eq!(listing.page(7), 1);
        listing.note(1, None);
        assert_eq!((listing.page(1), listing.page(2), listing.page(0)), (1, 0, 0));
        // Another round.
        listing.note(0, Some("b".to_owned()));
        assert_eq!((listing.page(2), listing.token(1).map(String::as_str)), (1, Some("b")));
    }

    proptest! {
        #[test]
        fn a_page_is_asked_for_with_what_the_page_before_has_told(
            turns in proptest::collection::vec((0_usize..6, any::<bool>(), any::<bool>()), 0..40),
        ) {
            let (mut listing, mut name) = (Listing::default(), 0);
            // What the page before each has told last; the first needs nothing.
            let mut told: Vec<Option<String>> = vec![None];
            for (wanted, comes, last) in turns {
                let page = listing.page(wanted);
                prop_assert!(page <= wanted && page < told.len(), "page {} of {}", page, told.len());
                prop_assert!(page == wanted || page == 0 || page == told.len() - 1);
                prop_assert_eq!(listing.token(page).cloned(), told[page].clone());
                if comes {
                    name += 1;
                    let next = (!last).then(|| format!("t{name}"));
                    listing.note(page, next.clone());
                    told.truncate(page + 1);
                    told.extend(next.map(Some));
                }
            }
        }
    }
}
