//! TLS: which certificates are trusted, and whether a port speaks it.

use assay_core::SetupError;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// Longest wait for a port that is checked for TLS.
const TIMEOUT: Duration = Duration::from_secs(2);
/// First byte of what a TLS server sends: an alert, or its part of the handshake.
const ALERT: u8 = 0x15;
const HANDSHAKE: u8 = 0x16;

/// The TLS configuration that trusts the certificates of a file, or those that the host trusts.
///
/// # Errors
/// If there are no certificates, or the file cannot be read.
pub(crate) fn tls_config(file: Option<&str>) -> Result<Arc<ClientConfig>, SetupError> {
    let mut roots = RootCertStore::empty();
    let place = file.unwrap_or("the host's certificates");
    let error = |message: String| SetupError::new("open", place, message);
    if let Some(file) = file {
        let all = CertificateDer::pem_file_iter(file).map_err(|fault| error(fault.to_string()))?;
        for one in all {
            let one = one.map_err(|fault| error(fault.to_string()))?;
            roots.add(one).map_err(|fault| error(fault.to_string()))?;
        }
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if roots.is_empty() {
        let hint = "there are none: install ca-certificates, or name a file in ca_file";
        return Err(error(if file.is_some() { "holds no certificates in PEM".to_owned() } else { hint.to_owned() }));
    }
    config_with_roots(roots).map_err(|fault| error(fault.to_string()))
}

fn config_with_roots(roots: RootCertStore) -> Result<Arc<ClientConfig>, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(Arc::new(versions?.with_root_certificates(roots).with_no_client_auth()))
}

/// Whether a server at one of these addresses speaks TLS, trusted or not.
pub(crate) fn speaks_tls(addresses: &[SocketAddr]) -> bool {
    addresses.iter().any(|address| answers_hello(address).unwrap_or(false))
}

fn answers_hello(address: &SocketAddr) -> Option<bool> {
    let name = ServerName::from(address.ip());
    let mut hello = ClientConnection::new(config_with_roots(RootCertStore::empty()).ok()?, name).ok()?;
    let mut stream = TcpStream::connect_timeout(address, TIMEOUT).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    stream.set_write_timeout(Some(TIMEOUT)).ok()?;
    hello.write_tls(&mut stream).ok()?;
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).ok()?;
    Some(matches!(answer, [ALERT | HANDSHAKE, 3]))
}
