//! Credentials that are renewed for as long as a job takes.

use super::{find, Credentials};
use crate::sign::Signer;
use assay_core::SetupError;
use std::sync::{Arc, Mutex, PoisonError};

/// Credentials for one service in one region, renewed before they expire.
pub(crate) struct CredentialProvider {
    profile: Option<String>,
    region: String,
    service: &'static str,
    current: Mutex<Arc<Signer>>,
}

impl CredentialProvider {
    /// Finds credentials, unless requests are `anonymous`.
    pub(crate) fn find(
        profile: Option<&str>,
        (region, service): (&str, &'static str),
        anonymous: bool,
    ) -> Result<Self, SetupError> {
        let found = if anonymous { None } else { Some(find(profile)?) };
        let signer = Arc::new(Signer::new(found.as_ref(), region, service));
        Ok(CredentialProvider {
            profile: profile.map(str::to_owned),
            region: region.to_owned(),
            service,
            current: Mutex::new(signer),
        })
    }

    /// Made-up credentials for a service that does not check them, so that signing costs what it always does.
    pub(crate) fn made_up((region, service): (&str, &'static str)) -> Self {
        let signer = Arc::new(Signer::new(Some(&Credentials::made_up()), region, service));
        CredentialProvider { profile: None, region: region.to_owned(), service, current: Mutex::new(signer) }
    }

    /// A signer whose credentials are valid for some minutes more.
    ///
    /// # Errors
    /// If new credentials are needed and there are none.
    pub(crate) fn signer(&self) -> Result<Arc<Signer>, SetupError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.is_due() {
            let profile = self.profile.clone();
            // On a thread of its own: the caller may be within an event loop already.
            let renewed = std::thread::spawn(move || find(profile.as_deref())).join();
            let renewed = renewed.map_err(|_| SetupError::no_credentials("a defect"))??;
            *current = Arc::new(Signer::new(Some(&renewed), &self.region, self.service));
        }
        Ok(Arc::clone(&current))
    }
}
