//! Addresses of servers.

use assay_core::SetupError;
use std::net::{SocketAddr, ToSocketAddrs};

/// Split `HOST`, `HOST:PORT`, `[V6]`, `[V6]:PORT`; an IPv6 address without brackets has no port.
fn split(server: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = server.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        return match after.strip_prefix(':') {
            Some(port) => port.parse().ok().map(|port| (host, Some(port))),
            None => after.is_empty().then_some((host, None)),
        };
    }
    match server.split_once(':') {
        Some((_, port)) if port.contains(':') => Some((server, None)),
        Some((host, port)) => port.parse().ok().map(|port| (host, Some(port))),
        None => Some((server, None)),
    }
}

/// The addresses of a server, at least one; `usual` is the port if none is given.
///
/// # Errors
/// If the text has another form, or the name has no address.
pub fn resolve(server: &str, usual: u16) -> Result<Vec<SocketAddr>, SetupError> {
    let Some((host, port)) = split(server).filter(|(host, port)| !host.is_empty() && *port != Some(0)) else {
        return Err(SetupError::new("find", server, "is no server: write HOST, HOST:PORT or [IPV6]:PORT"));
    };
    let found = (host, port.unwrap_or(usual)).to_socket_addrs();
    let missing = |why: String| SetupError::new("find", server, format!("the name has no address: {why}"));
    let found: Vec<SocketAddr> = found.map_err(|error| missing(error.to_string()))?.collect();
    if found.is_empty() {
        return Err(missing("none was found".to_owned()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_split() {
        assert_eq!(split("nas"), Some(("nas", None)));
        assert_eq!(split("nas:2050"), Some(("nas", Some(2050))));
        assert_eq!(split("fe80::1"), Some(("fe80::1", None)));
        assert_eq!(split("[::1]"), Some(("::1", None)));
        assert_eq!(split("[::1]:99"), Some(("::1", Some(99))));
        assert_eq!(split("[::1"), None);
        assert_eq!(split("nas:port"), None);
        assert_eq!(resolve("127.0.0.1", 2049).unwrap(), ["127.0.0.1:2049".parse().unwrap()]);
        assert!(resolve(":5", 1).is_err() && resolve("127.0.0.1:0", 1).is_err());
    }
}
