//! Endpoints of a service.

use assay_core::SetupError;
use std::net::{SocketAddr, ToSocketAddrs};

/// A host and port with their addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// The endpoint as the target names it.
    pub(crate) text: String,
    pub(crate) tls: bool,
    /// Name or address, the latter without brackets.
    pub(crate) host: String,
    /// The value of the header `Host`.
    pub(crate) authority: String,
    pub(crate) addresses: Vec<SocketAddr>,
}

/// TLS, host and port of `http://HOST:PORT`.
fn parts(text: &str) -> Option<(bool, &str, u16)> {
    let (tls, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => return None,
    };
    let usual = if tls { 443 } else { 80 };
    match rest.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => Some((tls, host, port.parse().ok()?)),
        _ => Some((tls, rest, usual)),
    }
}

impl Endpoint {
    /// Looks up the addresses. `subdomain` is put before the host's name (virtual-host addressing); where only the
    /// host's own name resolves, its addresses are used.
    ///
    /// # Errors
    /// If the text is no endpoint, or the name does not resolve.
    pub(crate) fn find(text: &str, subdomain: Option<&str>) -> Result<Self, SetupError> {
        let error = |message: String| SetupError::new("open", text, message);
        let (tls, written, port) = parts(text)
            .filter(|(_, host, port)| !host.is_empty() && *port > 0)
            .ok_or_else(|| error("is not http://HOST, http://HOST:PORT or the same with https".to_owned()))?;
        let bare = written.trim_start_matches('[').trim_end_matches(']');
        let full = subdomain.map_or_else(|| written.to_owned(), |subdomain| format!("{subdomain}.{written}"));
        let look = |name: &str| (name, port).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        let name = if subdomain.is_some() { full.as_str() } else { bare };
        let found = look(name).or_else(|fault| if subdomain.is_some() { look(bare) } else { Err(fault) });
        let addresses = found.map_err(|fault| error(format!("has no address: {fault}")))?;
        if addresses.is_empty() {
            return Err(error("has no address".to_owned()));
        }
        let usual = port == if tls { 443 } else { 80 };
        Ok(Endpoint {
            text: text.to_owned(),
            tls,
            host: name.to_owned(),
            authority: if usual { full.clone() } else { format!("{full}:{port}") },
            addresses,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, subdomain: Option<&str>) -> (bool, String, String, String) {
        let found = Endpoint::find(text, subdomain).unwrap();
        (found.tls, found.host, found.authority, found.addresses[0].to_string())
    }

    fn expected(tls: bool, host: &str, authority: &str, address: &str) -> (bool, String, String, String) {
        (tls, host.to_owned(), authority.to_owned(), address.to_owned())
    }

    #[test]
    fn an_endpoint_is_a_scheme_a_host_and_a_port() {
        assert_eq!(
            found("http://127.0.0.1:9000", None),
            expected(false, "127.0.0.1", "127.0.0.1:9000", "127.0.0.1:9000")
        );
        assert_eq!(found("https://127.0.0.1", None), expected(true, "127.0.0.1", "127.0.0.1", "127.0.0.1:443"));
        assert_eq!(found("http://[::1]:80", None), expected(false, "::1", "[::1]", "[::1]:80"));
        let subdomain = found("http://127.0.0.1:9000", Some("bench"));
        assert_eq!(subdomain, expected(false, "bench.127.0.0.1", "bench.127.0.0.1:9000", "127.0.0.1:9000"));
        for bad in ["ftp://host", "http://", "http://127.0.0.1:0", "http://127.0.0.1:99999", "127.0.0.1:9000"] {
            let message = Endpoint::find(bad, None).unwrap_err().to_string();
            assert!(message.contains("is not http://HOST"), "{bad}: {message}");
        }
    }
}
