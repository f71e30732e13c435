"""Whom TLS lets in: contexts for the listener and for each dial, pinned to certificates of the roster.

Never trusts a certificate authority, a host name or a session ticket; the handlers compare the certificate
once more, since a handshake may have begun before the roster changed.
"""

import ssl
from collections.abc import Callable, Iterable
from pathlib import Path

import structlog

from daemon.peers.identity import fingerprint

LINK_NAME = "link.placet"
PAIR_NAME = "pair.placet"

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
    # With tickets, a removed device resumed its old session without being asked for its certificate.
    context.num_tickets = 0
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


class Gate:
    """The listener's side of trust: which of two names a caller asks for, and against whom it is checked."""

    def __init__(self, identity: Path, pairing_open: Callable[[], bool]) -> None:
        self._identity = identity
        self._pairing_open = pairing_open
        self._members = _server(identity)
        self._strangers = _server(identity)
        # OpenSSL takes the mode of verification from the listening context and the anchors from the one
        # that is swapped in.
        self.listening = _server(identity)
        self.listening.sni_callback = self._choose

    def trust(self, certificates: Iterable[bytes]) -> None:
        """Replace the trusted set (DER); handshakes from now on are held to it.

        What OpenSSL refuses is left out.
        """
        fresh = _server(self._identity)
        for certificate in certificates:
            try:
                fresh.load_verify_locations(cadata=certificate)
            except (ssl.SSLError, ValueError) as fault:
                # It came from a peer: its holder stays outside, and nobody else does.
                seen = fingerprint(certificate).hex()[:16]
                log.warning("a certificate is not usable", fingerprint=seen, error=str(fault))
        self._members = fresh

    def asked_to_pair(self, connection: ssl.SSLObject) -> bool:
        """Say whether this connection, past its handshake, came for pairing."""
        return connection.context is self._strangers

    def _choose(
        self, connection: ssl.SSLObject, name: str | None, listening: ssl.SSLContext
    ) -> ssl.AlertDescription | None:
        del listening
        if name == LINK_NAME:
            connection.context = self._members
        elif name == PAIR_NAME and self._pairing_open():
            connection.context = self._strangers
        elif name == PAIR_NAME:
            return ssl.ALERT_DESCRIPTION_ACCESS_DENIED
        else:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        return None


def pinned(identity: Path, certificate: bytes) -> ssl.SSLContext:
    """Return the context for dialling the one device that has this certificate (DER).

    Raises OSError (as SSLError, where OpenSSL refuses the certificate) or ValueError.
    """
    context = _base(ssl.PROTOCOL_TLS_CLIENT, identity)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=certificate)
    return context


def unpinned() -> ssl.SSLContext:
    """Return the context for dialling to pair: it shows no certificate and takes any.

    What has not happened: the other side is unknown until pairing has bound its certificate to the secret.
    """
    context = _base(ssl.PROTOCOL_TLS_CLIENT, None)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
