"""Whom TLS lets in: contexts for the listener and for each call, pinned to certificates of the roster.

Never trusts a certificate authority, a host name or a session ticket. The listener compares the certificate
once more, since a handshake may have begun before the roster changed.
"""

import ssl
from collections.abc import Callable, Iterable
from pathlib import Path

import structlog

from daemon.peers.transport.identity import certificate_fingerprint

LINK_SERVER_NAME = "link.placet"
PAIR_SERVER_NAME = "pair.placet"

log = structlog.get_logger("peers")


def _base(protocol: int, identity: Path | None) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_COMPRESSION
    # A pinned certificate is an end entity's, not an authority's: the chain may end in it.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if identity is not None:
        context.load_cert_chain(identity)
    return context


def _server(identity: Path) -> ssl.SSLContext:
    context = _base(ssl.PROTOCOL_TLS_SERVER, identity)
    # With a ticket, a removed device could resume its old session without showing its certificate.
    context.num_tickets = 0
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


class ListenerTrust:
    """The listener's side of trust.

    A caller asks for one of two server names: for links it must show a trusted certificate, for pairing none.
    `pairing_open` returns whether an invitation is open.
    """

    def __init__(self, identity: Path, pairing_open: Callable[[], bool]) -> None:
        self._identity = identity
        self._pairing_open = pairing_open
        self._members = _server(identity)
        self._strangers = _server(identity)
        # OpenSSL uses the verification mode of the listening context, and the trusted certificates of the
        # context that replaces it.
        self.listening_context = _server(identity)
        self.listening_context.sni_callback = self._choose

    def replace_trusted(self, certificates: Iterable[bytes]) -> None:
        """Replace the trusted certificates (DER) for all handshakes from now on.

        A certificate that OpenSSL refuses is left out.
        """
        fresh = _server(self._identity)
        for certificate in certificates:
            try:
                fresh.load_verify_locations(cadata=certificate)
            except (ssl.SSLError, ValueError) as fault:
                # It came from a peer. Only the device that has it is kept out by that.
                text = certificate_fingerprint(certificate).hex()[:16]
                log.warning("a member's certificate cannot be used", fingerprint=text, error=str(fault))
        self._members = fresh

    def came_to_pair(self, connection: ssl.SSLObject) -> bool:
        """Return whether this connection, after its handshake, is one for pairing."""
        return connection.context is self._strangers

    def _choose(
        self, connection: ssl.SSLObject, name: str | None, listening: ssl.SSLContext
    ) -> ssl.AlertDescription | None:
        del listening
        if name == LINK_SERVER_NAME:
            connection.context = self._members
        elif name == PAIR_SERVER_NAME and self._pairing_open():
            connection.context = self._strangers
        elif name == PAIR_SERVER_NAME:
            return ssl.ALERT_DESCRIPTION_ACCESS_DENIED
        else:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        return None


def pinned_context(identity: Path, certificate: bytes) -> ssl.SSLContext:
    """Return the context for a call to the one device that has this certificate (DER).

    Raises OSError (SSLError if OpenSSL refuses the certificate) or ValueError.
    """
    context = _base(ssl.PROTOCOL_TLS_CLIENT, identity)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=certificate)
    return context


def unpinned_context() -> ssl.SSLContext:
    """Return the context for a call to pair: it shows no certificate and accepts any.

    The other side is not identified yet. Only pairing binds its certificate to the secret.
    """
    context = _base(ssl.PROTOCOL_TLS_CLIENT, None)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
