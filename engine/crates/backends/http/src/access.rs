//! Access to a service: its hosts, the credentials, and how long to wait.

use crate::credentials::CredentialProvider;
use crate::lane::{LaneClient, MessageReader};
use crate::net::{speaks_tls, tls_config, Answer, Client, Endpoint, Pool};
use crate::service;
use crate::service_message::safe_line;
use crate::sign::Signer;
use assay_core::{fault_message, fault_name, Fault, SetupError, MALFORMED_ANSWER, MALFORMED_TABLE_ANSWER};
use assay_spec::{Balance, FaultDomain, NULL_SERVICE};
use rustls::ClientConfig;
use std::sync::{Arc, Mutex, PoisonError};

/// What a target states about its service.
pub(crate) struct ServiceConfig<'a> {
    pub(crate) endpoints: &'a [String],
    /// A subdomain of each host, for virtual-host addressing.
    pub(crate) subdomain: Option<&'a str>,
    pub(crate) balance: Balance,
    pub(crate) ca_file: Option<&'a str>,
    pub(crate) profile: Option<&'a str>,
    pub(crate) region: &'a str,
    /// The service's name in signatures.
    pub(crate) service: &'static str,
    /// Requests are not signed.
    pub(crate) anonymous: bool,
    pub(crate) timeout_ns: u64,
}

/// A service whose endpoints and credentials are known.
pub(crate) struct Access {
    endpoints: Vec<Arc<Endpoint>>,
    balance: Balance,
    tls: Option<Arc<ClientConfig>>,
    credentials: Arc<CredentialProvider>,
    timeout_ns: u64,
    /// Finds the message in a refusal.
    read_message: MessageReader,
    /// The last fault outside lanes.
    last: Mutex<LastFault>,
}

/// What is known of the last fault outside lanes.
#[derive(Debug, Default)]
struct LastFault {
    fault: Option<Fault>,
    /// The service's message.
    message: Option<String>,
    /// The region in which the bucket is, if the refusal names it.
    region: Option<String>,
    /// The endpoint that was asked.
    endpoint: String,
}

impl Access {
    /// Finds endpoints and credentials; sends nothing to the service yet.
    ///
    /// # Errors
    /// If an endpoint or the credentials cannot be found.
    pub(crate) fn open(config: &ServiceConfig<'_>, read_message: MessageReader) -> Result<Self, SetupError> {
        let own = config.endpoints.iter().any(|text| text == NULL_SERVICE);
        let own = own.then(service::own_endpoint).transpose()?.map(|endpoint| vec![endpoint]);
        let texts = own.as_deref().unwrap_or(config.endpoints);
        let endpoints: Result<Vec<_>, _> =
            texts.iter().map(|text| Endpoint::find(text, config.subdomain).map(Arc::new)).collect();
        let endpoints = endpoints?;
        let secure = endpoints.iter().any(|endpoint| endpoint.tls);
        let tls = if secure { Some(tls_config(config.ca_file)?) } else { None };
        let place = (config.region, config.service);
        // Services of the engine itself and of tests need no credentials.
        let needs_none = own.is_some() || (cfg!(test) && config.region == "nowhere");
        let credentials = if needs_none {
            CredentialProvider::made_up(place)
        } else {
            CredentialProvider::find(config.profile, place, config.anonymous)?
        };
        let (credentials, timeout_ns, last) = (Arc::new(credentials), config.timeout_ns, Mutex::default());
        Ok(Access { endpoints, balance: config.balance, tls, credentials, timeout_ns, read_message, last })
    }

    /// A client for requests outside lanes.
    pub(crate) fn client(&self) -> Client {
        Client::new(&self.endpoints, self.tls.clone(), self.timeout_ns)
    }

    /// The client of a lane, for so many slots.
    ///
    /// # Errors
    /// If there are no valid credentials.
    pub(crate) fn lane_client(&self, lane: u32, slots: usize) -> Result<LaneClient, SetupError> {
        let pool = Pool::new(&self.endpoints, self.balance, lane, self.tls.clone());
        LaneClient::new(pool, Arc::clone(&self.credentials), slots, self.read_message)
    }

    /// The current signer.
    ///
    /// # Errors
    /// If new credentials are needed and there are none.
    pub(crate) fn signer(&self) -> Result<Arc<Signer>, Fault> {
        self.credentials.signer().map_err(|_| Fault::os(libc::EKEYEXPIRED))
    }

    /// Notes what is known of a refusal.
    pub(crate) fn note_refusal(&self, fault: Fault, answer: &Answer, client: &Client, signer: &Signer) {
        let message = (self.read_message)(answer).and_then(|text| safe_line(&text, signer));
        let word =
            |text: &&str| text.len() <= 32 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let region = answer.header("x-amz-bucket-region").filter(word).and_then(|text| safe_line(text, signer));
        self.note(LastFault { fault: Some(fault), message, region, endpoint: client.last_endpoint() });
    }

    /// Notes that there was no answer.
    pub(crate) fn note_silent(&self, fault: Fault, client: &Client) {
        self.note(LastFault { fault: Some(fault), endpoint: client.last_endpoint(), ..LastFault::default() });
    }

    fn note(&self, last: LastFault) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = last;
    }

    /// A detail of a fault, if it was the last one.
    fn detail<T>(&self, fault: Fault, of: impl FnOnce(&LastFault) -> Option<T>) -> Option<T> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.fault == Some(fault) {
            of(&last)
        } else {
            None
        }
    }

    /// A path with its endpoint replaced by the one at which the fault was, if the path begins with the first endpoint.
    pub(crate) fn path_of(&self, fault: Fault, path: String) -> String {
        let endpoint = self.detail(fault, |last| Some(last.endpoint.clone())).unwrap_or_default();
        let first = self.endpoints.first().map_or("", |endpoint| endpoint.text.as_str());
        match path.strip_prefix(first) {
            Some(rest) if !endpoint.is_empty() && self.endpoints.len() > 1 => format!("{endpoint}{rest}"),
            _ => path,
        }
    }

    /// The region in which the bucket is, according to a refusal, if that differs from `own`.
    pub(crate) fn region(&self, fault: Fault, own: &str) -> Option<String> {
        self.detail(fault, |last| last.region.clone()).filter(|region| region != own)
    }

    /// A name that comes from the service, made fit to be shown; none if it must not be shown.
    pub(crate) fn shown(&self, text: &str) -> Option<String> {
        self.credentials.signer().ok().and_then(|signer| safe_line(text, &signer))
    }

    /// A fault as a message, with the service's own message if its last refusal was this fault.
    pub(crate) fn message(&self, fault: Fault) -> String {
        let text = fault_message(fault);
        self.detail(fault, |last| last.message.clone())
            .map_or_else(|| text.clone(), |message| format!("{text}: {message}"))
    }

    /// Whether the plain-HTTP endpoint of a fault speaks TLS, so that its answer to plain requests cannot be read.
    fn is_tls_port(&self, fault: Fault) -> bool {
        let last = self.detail(fault, |last| Some(last.endpoint.clone())).unwrap_or_default();
        let endpoint = self.endpoints.iter().find(|endpoint| endpoint.text == last && !endpoint.tls);
        endpoint.is_some_and(|endpoint| speaks_tls(&endpoint.addresses))
    }

    /// A hint where no service has answered; none if one has.
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
                let last = self.detail(fault, |last| Some(last.endpoint.clone())).filter(|last| !last.is_empty());
                let all = || self.endpoints.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(", ");
                Some(format!(" ({})", last.unwrap_or_else(all)))
            }
            _ => None,
        }
    }
}

/// Whether a fault is typical of a port that speaks another protocol: no answer, or none that a service would give.
fn is_odd(fault: Fault) -> bool {
    let name = fault_name(fault).unwrap_or_default();
    let no_answer = fault.domain() == FaultDomain::Os
        && matches!(name, "ECONNRESET" | "ECONNABORTED" | "EPIPE" | "EPROTO" | "ETIMEDOUT");
    no_answer || fault == MALFORMED_ANSWER || fault == MALFORMED_TABLE_ANSWER || name == "Bad Request"
}
