//! The pages of the list of a lane's names: each page brings the token that asks for the next one.

use crate::pages::MAX_TOKEN_BYTES;

/// The tokens known so far.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The token of the second page, of the third, ...
    tokens: Vec<String>,
    /// The last known page has no next one.
    ended: bool,
}

impl Listing {
    /// The page to ask for in place of page `wanted`: that page if its token is known; otherwise the first page without
    /// a known token, or the first page of all if the list has ended before `wanted`.
    pub(crate) fn page(&self, wanted: usize) -> usize {
        if wanted <= self.tokens.len() {
            wanted
        } else if self.ended {
            0
        } else {
            self.tokens.len()
        }
    }

    /// The token of a page; none for the first one.
    pub(crate) fn token(&self, page: usize) -> Option<&String> {
        self.tokens.get(page.checked_sub(1)?)
    }

    /// Notes that a page has come, with the token of the next page; none if it is the last. A token longer than any
    /// service needs counts as none.
    pub(crate) fn note(&mut self, page: usize, next: Option<String>) {
        let next = next.filter(|next| next.len() <= MAX_TOKEN_BYTES);
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
        // The first page did not come, so it is asked for again in place of the second.
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
        fn each_page_is_requested_with_the_token_of_the_page_before(
            turns in proptest::collection::vec((0_usize..6, any::<bool>(), any::<bool>()), 0..40),
        ) {
            let (mut listing, mut name) = (Listing::default(), 0);
            // The token that each page before has brought last; the first page needs none.
            let mut tokens: Vec<Option<String>> = vec![None];
            for (wanted, comes, last) in turns {
                let page = listing.page(wanted);
                prop_assert!(page <= wanted && page < tokens.len(), "page {} of {}", page, tokens.len());
                prop_assert!(page == wanted || page == 0 || page == tokens.len() - 1);
                prop_assert_eq!(listing.token(page).cloned(), tokens[page].clone());
                if comes {
                    name += 1;
                    let next = (!last).then(|| format!("t{name}"));
                    listing.note(page, next.clone());
                    tokens.truncate(page + 1);
                    tokens.extend(next.map(Some));
                }
            }
        }
    }
}
