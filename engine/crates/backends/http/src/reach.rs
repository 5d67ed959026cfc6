//! How a service is reached: its hosts, who asks them, and how long to wait.

use crate::credentials::Who;
use crate::lane::{Wires, Words};
use crate::net::{speaks_tls, trusted, Answer, Client, Endpoint, Pool};
use crate::said::sentence;
use crate::service;
use crate::sign::Signer;
use assay_core::{fault_message, fault_name, Fault, SetupError, MALFORMED_ANSWER, MALFORMED_TABLE_ANSWER};
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
    /// The last fault outside lanes.
    last: Mutex<Last>,
}

/// What is known of a fault outside lanes, besides its number.
#[derive(Debug, Default)]
struct Last {
    fault: Option<Fault>,
    /// What the service says in words.
    said: Option<String>,
    /// Region in which it says that the bucket is.
    region: Option<String>,
    /// Endpoint that was asked.
    endpoint: String,
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
        // Tests need no credentials at services of their own.
        let nobody = own.is_some() || (cfg!(test) && told.region == "nowhere");
        let who = if nobody { Who::nobody(place) } else { Who::find(told.profile, place, told.anonymous)? };
        let (who, timeout_ns, last) = (Arc::new(who), told.timeout_ns, Mutex::default());
        Ok(Reach { endpoints, balance: told.balance, tls, who, timeout_ns, words, last })
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

    /// Keeps what is known of an answer that is a refusal.
    pub(crate) fn note_said(&self, fault: Fault, answer: &Answer, client: &Client, signer: &Signer) {
        let said = (self.words)(answer).and_then(|text| sentence(&text, signer));
        let word =
            |text: &&str| text.len() <= 32 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let region = answer.header("x-amz-bucket-region").filter(word).and_then(|text| sentence(text, signer));
        self.note(Last { fault: Some(fault), said, region, endpoint: client.last_asked() });
    }

    /// Keeps where there was no answer.
    pub(crate) fn note_silent(&self, fault: Fault, client: &Client) {
        self.note(Last { fault: Some(fault), endpoint: client.last_asked(), ..Last::default() });
    }

    fn note(&self, last: Last) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = last;
    }

    /// What is known of a fault, if it was the last one.
    fn known<T>(&self, fault: Fault, of: impl FnOnce(&Last) -> Option<T>) -> Option<T> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.fault == Some(fault) {
            of(&last)
        } else {
            None
        }
    }

    /// A path that begins with the first endpoint, with the one at which the fault was.
    pub(crate) fn path_of(&self, fault: Fault, path: String) -> String {
        let endpoint = self.known(fault, |last| Some(last.endpoint.clone())).unwrap_or_default();
        let first = self.endpoints.first().map_or("", |endpoint| endpoint.text.as_str());
        match path.strip_prefix(first) {
            Some(rest) if !endpoint.is_empty() && self.endpoints.len() > 1 => format!("{endpoint}{rest}"),
            _ => path,
        }
    }

    /// Region in which a refusal says that the bucket is, if it is another one.
    pub(crate) fn region(&self, fault: Fault, own: &str) -> Option<String> {
        self.known(fault, |last| last.region.clone()).filter(|region| region != own)
    }

    /// What a service has named, made fit to be shown; none if it may not be.
    pub(crate) fn shown(&self, text: &str) -> Option<String> {
        self.who.signer().ok().and_then(|signer| sentence(text, &signer))
    }

    /// A fault in words, with those of the service if its last refusal was this one.
    pub(crate) fn message(&self, fault: Fault) -> String {
        let words = fault_message(fault);
        self.known(fault, |last| last.said.clone()).map_or_else(|| words.clone(), |said| format!("{words}: {said}"))
    }

    /// Whether a plain endpoint at which a fault was speaks TLS, in which its answer to plain requests cannot be read.
    fn is_tls_port(&self, fault: Fault) -> bool {
        let asked = self.known(fault, |last| Some(last.endpoint.clone())).unwrap_or_default();
        let endpoint = self.endpoints.iter().find(|endpoint| endpoint.text == asked && !endpoint.tls);
        endpoint.is_some_and(|endpoint| speaks_tls(&endpoint.addresses))
    }

    /// What may help where no service has answered; none if one has.
    pub(crate) fn hint(&self, fault: Fault) -> Option<String> {
        if is_odd(fault) && self.is_tls_port(fault) {
            return Some(": this port speaks TLS: write https://".to_owned());
        }
        match (fault.domain(), fault_name(fault).unwrap_or_default()) {
            (FaultDomain::Os, "ETIMEDOUT") => Some(format!(": no answer for {} s", self.timeout_ns as f64 / 1e9)),
            (FaultDomain::Os, "EPROTOTYPE") if self.tls.is_some() => {
                Some(": this port does not speak TLS: write http:// if it speaks plain HTTP".to_owned())
            }
            (FaultDomain::Os, "EPROTO") if self.tls.is_some() => Some(
                ": is the certificate for this name, and by somebody whom this host trusts, or by one of ca_file?"
                    .to_owned(),
            ),
            (FaultDomain::Os, _) => {
                let asked = self.known(fault, |last| Some(last.endpoint.clone())).filter(|asked| !asked.is_empty());
                let all = || self.endpoints.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(", ");
                Some(format!(" ({})", asked.unwrap_or_else(all)))
            }
            _ => None,
        }
    }
}

/// A fault as a port has it that is spoken to in another protocol: no answer, or none that a service would give.
fn is_odd(fault: Fault) -> bool {
    let name = fault_name(fault).unwrap_or_default();
    let no_answer = fault.domain() == FaultDomain::Os
        && matches!(name, "ECONNRESET" | "ECONNABORTED" | "EPIPE" | "EPROTO" | "ETIMEDOUT");
    no_answer || fault == MALFORMED_ANSWER || fault == MALFORMED_TABLE_ANSWER || name == "Bad Request"
}
