//! Who signs, for as long as a job takes.

use super::{find, Credentials};
use crate::sign::Signer;
use assay_core::SetupError;
use std::sync::{Arc, Mutex, PoisonError};

/// A service's region, and credentials that are renewed before they end.
pub(crate) struct Who {
    profile: Option<String>,
    region: String,
    service: &'static str,
    now: Mutex<Arc<Signer>>,
}

impl Who {
    /// Finds credentials, unless requests are `anonymous`.
    ///
    /// # Errors
    /// If there are none.
    pub(crate) fn find(
        profile: Option<&str>,
        (region, service): (&str, &'static str),
        anonymous: bool,
    ) -> Result<Self, SetupError> {
        let found = if anonymous { None } else { Some(find(profile)?) };
        let signer = Arc::new(Signer::new(found.as_ref(), region, service));
        Ok(Who { profile: profile.map(str::to_owned), region: region.to_owned(), service, now: Mutex::new(signer) })
    }

    /// Somebody for a service that asks nobody who he is: signatures cost what they always do.
    pub(crate) fn nobody((region, service): (&str, &'static str)) -> Self {
        let signer = Arc::new(Signer::new(Some(&Credentials::of_nobody()), region, service));
        Who { profile: None, region: region.to_owned(), service, now: Mutex::new(signer) }
    }

    /// Who signs, with credentials that are still good for a while.
    ///
    /// # Errors
    /// If new ones are needed and not to be had.
    pub(crate) fn signer(&self) -> Result<Arc<Signer>, SetupError> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if now.is_due() {
            let profile = self.profile.clone();
            // On a thread of its own: whoever asks may be within an event loop already.
            let renewed = std::thread::spawn(move || find(profile.as_deref())).join();
            let renewed = renewed.map_err(|_| SetupError::no_credentials("a defect"))??;
            *now = Arc::new(Signer::new(Some(&renewed), &self.region, self.service));
        }
        Ok(Arc::clone(&now))
    }
}
