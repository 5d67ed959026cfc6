//! Whom to believe.

use assay_core::SetupError;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;

/// What TLS connections are made with: the certificates of a file, or those that the host trusts.
///
/// # Errors
/// If there are none, or the file cannot be read.
pub(crate) fn trusted(file: Option<&str>) -> Result<Arc<ClientConfig>, SetupError> {
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
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = versions.map_err(|fault| error(fault.to_string()))?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
