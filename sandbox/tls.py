"""A self-signed certificate for every host of the platforms, so that a browser can come by TLS.

Needs the package ``cryptography``; imported only with ``--tls``.
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CERT_NAME = "sandbox-cert.pem"
KEY_NAME = "sandbox-key.pem"


def server_context(folder: Path, hosts: Sequence[str]) -> tuple[ssl.SSLContext, str]:
    """A context with a certificate for *hosts* (wildcards allowed) and that certificate as PEM.

    The pair is written to *folder* as ``sandbox-cert.pem`` and ``sandbox-key.pem`` (mode 0600) and
    used again as long as it names the same hosts and is valid for another day.
    """
    folder.mkdir(parents=True, exist_ok=True)
    cert_file, key_file = folder / CERT_NAME, folder / KEY_NAME
    if not (key_file.exists() and _still_good(cert_file, hosts)):
        _make(cert_file, key_file, hosts)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert_file, key_file)
    context.set_alpn_protocols(["http/1.1"])
    return context, cert_file.read_text()


def _names(hosts: Sequence[str]) -> list[x509.GeneralName]:
    names: list[x509.GeneralName] = [x509.DNSName(host) for host in [*hosts, "localhost"]]
    return [*names, x509.IPAddress(ip_address("127.0.0.1"))]


def _still_good(cert_file: Path, hosts: Sequence[str]) -> bool:
    try:
        cert = x509.load_pem_x509_certificate(cert_file.read_bytes())
        named = cert.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    left = cert.not_valid_after_utc - datetime.now(timezone.utc)
    return list(named) == _names(hosts) and left > timedelta(days=1)


def _make(cert_file: Path, key_file: Path, hosts: Sequence[str]) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sandbox on loopback")])
    now = datetime.now(timezone.utc)
    cert = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=365))
        .add_extension(x509.SubjectAlternativeName(_names(hosts)), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    key_file.touch(mode=0o600)
    key_file.chmod(0o600)
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    cert_file.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
