//! How a service is reached: its hosts, who asks them, and how long to wait.

use crate::credentials::Who;
use crate::lane::{Wires, Words};
use crate::net::{trusted, Answer, Client, Endpoint, Pool};
use crate::said::sentence;
use crate::service;
use crate::sign::Signer;
use assay_core::{fault_message, fault_name, Fault, SetupError};
use assay_spec::{Balance, FaultDomain, NULL_SERVICE};
use rustls::ClientConfig;
use std::sync::{Arc, Mutex, PoisonError};

/// What a target says of its service.
pub(crate) struct Told<'a> {
    pub(crate) endpoints: &'a [String],
    /// A name that stands before that of each host.
    pub(crate) below: Option<&'a str>,
    pub(crate) balance: Balance,
    pub(crate) ca_file: Option<&'a str>,
    pub(crate) profile: Option<&'a str>,
    pub(crate) region: &'a str,
    /// As signatures name it.
    pub(crate) service: &'static str,
    /// Requests are not signed.
    pub(crate) anonymous: bool,
    pub(crate) timeout_ns: u64,
}

/// A service whose endpoints and credentials are known.
pub(crate) struct Reach {
    endpoints: Vec<Arc<Endpoint>>,
    balance: Balance,
    tls: Option<Arc<ClientConfig>>,
    who: Arc<Who>,
    timeout_ns: u64,
    /// Finds what a refusal says in words.
    words: Words,
    /// The last refusal outside lanes, and what the service said of it.
    said: Mutex<Option<(Fault, String)>>,
}

impl Reach {
    /// Finds endpoints and credentials; asks nothing of the service yet.
    ///
    /// # Errors
    /// If one of them is not to be found.
    pub(crate) fn open(told: &Told<'_>, words: Words) -> Result<Self, SetupError> {
        let own = told.endpoints.iter().any(|text| text == NULL_SERVICE);
        let own = own.then(service::own).transpose()?.map(|endpoint| vec![endpoint]);
        let texts = own.as_deref().unwrap_or(told.endpoints);
        let endpoints: Result<Vec<_>, _> =
            texts.iter().map(|text| Endpoint::find(text, told.below).map(Arc::new)).collect();
        let endpoints = endpoints?;
        let secure = endpoints.iter().any(|endpoint| endpoint.tls);
        let tls = if secure { Some(trusted(told.ca_file)?) } else { None };
        let place = (told.region, told.service);
        let who = if own.is_some() { Who::nobody(place) } else { Who::find(told.profile, place, told.anonymous)? };
        let (who, timeout_ns, said) = (Arc::new(who), told.timeout_ns, Mutex::default());
        Ok(Reach { endpoints, balance: told.balance, tls, who, timeout_ns, words, said })
    }

    /// Connections outside lanes.
    pub(crate) fn client(&self) -> Client {
        Client::new(&self.endpoints, self.tls.clone(), self.timeout_ns)
    }

    /// Those of a lane, for so many slots.
    ///
    /// # Errors
    /// If there are no credentials any more.
    pub(crate) fn wires(&self, lane: u32, slots: usize) -> Result<Wires, SetupError> {
        let pool = Pool::new(&self.endpoints, self.balance, lane, self.tls.clone());
        Wires::new(pool, Arc::clone(&self.who), slots, self.words)
    }

    /// Who signs.
    ///
    /// # Errors
    /// If new credentials are needed and not to be had.
    pub(crate) fn signer(&self) -> Result<Arc<Signer>, Fault> {
        self.who.signer().map_err(|_| Fault::os(libc::EKEYEXPIRED))
    }

    /// Keeps what an answer that is a refusal says in words.
    pub(crate) fn note_said(&self, fault: Fault, answer: &Answer, signer: &Signer) {
        let said = (self.words)(answer).and_then(|text| sentence(&text, signer));
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = said.map(|words| (fault, words));
    }

    /// A fault in words, with those of the service if its last refusal was this one.
    pub(crate) fn message(&self, fault: Fault) -> String {
        let words = fault_message(fault);
        match &*self.said.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((refused, said)) if *refused == fault => format!("{words}: {said}"),
            _ => words,
        }
    }

    /// What may help where no service has answered; none if one has.
    pub(crate) fn hint(&self, fault: Fault) -> Option<String> {
        match (fault.domain(), fault_name(fault).unwrap_or_default()) {
            (FaultDomain::Os, "ETIMEDOUT") => Some(format!(": no answer for {} s", self.timeout_ns as f64 / 1e9)),
            (FaultDomain::Os, "EPROTO") if self.tls.is_some() => Some(
                ": is the certificate for this name, and by somebody whom this host trusts, or by one of ca_file?"
                    .to_owned(),
            ),
            (FaultDomain::Os, _) => {
                let texts: Vec<&str> = self.endpoints.iter().map(|endpoint| endpoint.text.as_str()).collect();
                Some(format!(" ({})", texts.join(", ")))
            }
            _ => None,
        }
    }
}
