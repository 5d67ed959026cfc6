"""Certificates for tests, by an authority that nobody trusts unless told to."""

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAY = datetime.timedelta(days=1)


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    by: ec.EllipticCurvePrivateKey,
    *extensions: x509.ExtensionType,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, one)]) for one in (name, issuer)]
    made = x509.CertificateBuilder().subject_name(names[0]).issuer_name(names[1]).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number()).not_valid_before(now - DAY).not_valid_after(now + DAY)
    for extension in extensions:
        made = made.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
    return made.sign(by, hashes.SHA256())


def certified(folder: Path, *names: x509.GeneralName) -> tuple[ssl.SSLContext, Path]:
    """What a server speaks with, for these names, and the file of the authority that stands for it."""
    root, own = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority = _signed("Tests", root, "Tests", root, x509.BasicConstraints(ca=True, path_length=None))
    pem = serialization.Encoding.PEM
    file, whole = folder / "authority.pem", folder / "server.pem"
    file.write_bytes(authority.public_bytes(pem))
    secret = own.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    alternatives = x509.SubjectAlternativeName(names)
    whole.write_bytes(_signed("server", own, "Tests", root, alternatives).public_bytes(pem) + secret)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(whole)
    return context, file


LOOPBACK = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
ELSEWHERE = x509.DNSName("elsewhere.example")
