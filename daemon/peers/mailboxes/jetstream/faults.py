"""What goes wrong at NATS, as sentences for people, and what passes by itself.

Never names the secret.
"""

import ssl
from typing import Any

import nats.errors
import nats.js.errors

from daemon.peers.mailboxes.carrier import CarrierFault, full_sentence
from daemon.peers.mailboxes.jetstream.client import NoTls
from daemon.peers.mailboxes.jetstream.place import NatsPlace
from store.sentence import sentence

STREAM_GONE = 10059
_FULL = (10023, 10047, 10077)
_REASON_CHARS_MAX = 200


class Unreachable(Exception):
    """None of the servers could be used; `fault` is what one of them did."""

    def __init__(self, fault: Exception) -> None:
        super().__init__(str(fault))
        self.fault = fault


class NatsFaults:
    """The faults of one place."""

    def __init__(self, place: NatsPlace) -> None:
        self._place = place

    def passes(self, fault: Exception) -> bool:
        """Return whether to try again at once: a server went, or another one is about to lead."""
        if isinstance(fault, nats.js.errors.APIError):
            if fault.err_code in _FULL:
                return False
            return fault.err_code == STREAM_GONE or (fault.code or 0) >= 500
        if _is_refusal(fault) or isinstance(fault, NoTls | ssl.SSLError):
            return False
        return isinstance(fault, nats.errors.Error | OSError | TimeoutError)

    def wants_new_connection(self, fault: Exception) -> bool:
        """Return whether another server may know better, or the stream has to be made again."""
        if isinstance(fault, nats.js.errors.APIError):
            return fault.err_code == STREAM_GONE or isinstance(fault, nats.js.errors.ServiceUnavailableError)
        return True

    def describe(self, fault: Exception, client: Any = None) -> CarrierFault:
        """Return what a person is told of a fault."""
        place = self._place.text
        if isinstance(fault, nats.js.errors.APIError) and fault.err_code in _FULL:
            return self.is_full()
        if client is not None and client.denied:
            return CarrierFault(
                sentence(
                    "nats-denied",
                    "this user may not do at {place} what a mailbox needs: {reason}",
                    place=place,
                    reason=client.denied[:_REASON_CHARS_MAX],
                )
            )
        if _is_refusal(fault):
            return CarrierFault(
                sentence(
                    "nats-secret-refused",
                    "{place} does not take this user or secret; if there is a new one, run:"
                    " placet mailbox add {scheme}://{place}",
                    place=place,
                    scheme="tls" if self._place.has_tls else "nats",
                )
            )
        if isinstance(fault, NoTls):
            return CarrierFault(
                sentence("nats-no-tls", "{place} does not offer TLS, so no secret was sent", place=place)
            )
        if isinstance(fault, ssl.SSLCertVerificationError):
            return CarrierFault(
                sentence("relay-untrusted", "the certificate of {place} is not trusted here", place=place)
            )
        if isinstance(fault, ValueError | KeyError | TypeError | AttributeError | IndexError):
            return self.makes_no_sense()
        if isinstance(fault, TimeoutError | nats.js.errors.ServiceUnavailableError):
            return CarrierFault(sentence("relay-slow", "{place} does not answer in time", place=place))
        reason = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
        return CarrierFault(
            sentence(
                "mailbox-relay-fault",
                "{place} cannot be used: {reason}",
                place=place,
                reason=reason[:_REASON_CHARS_MAX],
            )
        )

    def is_full(self) -> CarrierFault:
        """Say that nothing more has room."""
        return CarrierFault(full_sentence(self._place.text))

    def is_no_mailbox(self) -> CarrierFault:
        """Say that the stream is not one of mailboxes."""
        return CarrierFault(
            sentence(
                "nats-other-stream", "the stream {place} is used for something else", place=self._place.text
            )
        )

    def has_no_stream(self, reason: str) -> CarrierFault:
        """Say that there is no stream, and why this device could not make it."""
        return CarrierFault(
            sentence(
                "nats-no-stream",
                "there is no stream {place}, and this device cannot make it: {reason}",
                place=self._place.text,
                reason=reason[:_REASON_CHARS_MAX],
            )
        )

    def makes_no_sense(self) -> CarrierFault:
        """Say that no honest server answers so."""
        return CarrierFault(
            sentence("nats-makes-no-sense", "{place} answers what NATS never does", place=self._place.text)
        )


def _is_refusal(fault: Exception) -> bool:
    return isinstance(fault, nats.errors.Error) and "authorization" in str(fault).lower()
