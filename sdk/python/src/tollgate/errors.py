"""The errors of the client."""

from typing import Any, Optional, Tuple


class TollgateError(Exception):
    """Base of all errors of the client."""

    def __init__(
        self,
        message: str,
        request_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: ``X-Request-Id`` of the response; None without a response.
        self.request_id = request_id
        #: The idempotency key of the call: a retry with it is not charged twice.
        self.idempotency_key = idempotency_key


class TollgateApiError(TollgateError):
    """The service returned an error."""

    def __init__(
        self,
        message: str,
        status: int,
        code: Optional[int] = None,
        retry_after: Optional[float] = None,
        request_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        super().__init__(message, request_id, idempotency_key)
        #: HTTP status.
        self.status = status
        #: The documented code, for example 1004; None for short links, whose errors have only a status.
        self.code = code
        #: Seconds to wait before a retry.
        self.retry_after = retry_after

    def __reduce__(self) -> Tuple[Any, ...]:
        # Workers of multiprocessing and Celery send errors to their parent.
        facts = (self.message, self.status, self.code, self.retry_after, self.request_id, self.idempotency_key)
        return type(self), facts

    def __str__(self) -> str:
        parts = ["HTTP %d" % self.status]
        if self.code is not None:
            parts.append("code %d" % self.code)
        if self.retry_after is not None:
            parts.append("retry after %g s" % self.retry_after)
        if self.request_id is not None:
            parts.append("request %s" % self.request_id)
        return "%s (%s)" % (self.message, ", ".join(parts))


class TollgateTimeoutError(TollgateError):
    """No response in time. The call may or may not have been executed."""


class TollgateConnectionError(TollgateError):
    """The service could not be reached, the connection was lost, or the response did not come from the service."""
