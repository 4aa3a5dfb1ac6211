"""One call over HTTP: timeout, retries, and reading the response."""

import json
import random
import socket
import time
import urllib.error
import urllib.request
import uuid
from http.client import HTTPException
from typing import Any, Dict, NamedTuple, Optional

from .errors import (
    TollgateApiError,
    TollgateConnectionError,
    TollgateError,
    TollgateTimeoutError,
)

# Safe to retry: nothing was executed, or the idempotency key prevents a second execution.
_RETRY_STATUSES = frozenset([409, 429, 500, 503])
_INTERNAL_ERROR = 5000


class CallOptions(NamedTuple):
    """Options of one call."""

    #: For example an order number; random by default. Only for operations that cost credits.
    idempotency_key: Optional[str] = None
    #: Seconds; replaces the timeout of the client.
    timeout: Optional[float] = None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Transport:
    """Sends the calls of one account."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        timeout: float,
        retries: int,
        max_wait: float,
        language: str,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout
        self._retries = retries
        self._max_wait = max_wait
        self._language = language
        self._opener = urllib.request.build_opener(_NoRedirects)

    def call(
        self,
        path: str,
        values: Dict[str, Any],
        paid: bool,
        options: Optional[CallOptions],
    ) -> Dict[str, Any]:
        """Returns the body of a success; raises a TollgateError otherwise."""
        given = options or CallOptions()
        key = (given.idempotency_key or str(uuid.uuid4())) if paid else None
        timeout = self._timeout if given.timeout is None else given.timeout
        attempt = 0
        while True:
            try:
                return self._attempt(path, values, key, timeout)
            except TollgateError as error:
                delay = _retry_delay(error, attempt) if attempt < self._retries else None
                if delay is None or delay > self._max_wait:
                    raise
            time.sleep(delay)
            attempt += 1

    def _attempt(
        self, path: str, values: Dict[str, Any], key: Optional[str], timeout: float
    ) -> Dict[str, Any]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Language": self._language,
            "Api-Key": self._api_key,
            "User-Agent": "tollgate-python/0.2.0",
        }
        if key is not None:
            headers["Idempotency-Key"] = key
        request = urllib.request.Request(
            self._base_url + path,
            data=json.dumps(values).encode("utf-8"),
            headers=headers,
            method="POST",
        )
        try:
            try:
                response = self._opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as error:
                response = error  # A response with another status than 2xx.
            with response:
                text = response.read()
        except (socket.timeout, TimeoutError) as error:
            raise TollgateTimeoutError("no response within %g s" % timeout, None, key) from error
        except (OSError, HTTPException) as error:
            if isinstance(getattr(error, "reason", None), socket.timeout):
                raise TollgateTimeoutError("no response within %g s" % timeout, None, key) from error
            reason = getattr(error, "reason", None) or error
            message = "the service at %s could not be reached: %s" % (self._base_url, reason)
            raise TollgateConnectionError(message, None, key) from error
        return _read_response(response.status, response.headers, text, key)


def _read_response(status: int, headers: Any, text: bytes, key: Optional[str]) -> Dict[str, Any]:
    request_id = headers.get("X-Request-Id")
    try:
        body = json.loads(text.decode("utf-8"))
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise TollgateConnectionError(
            "HTTP %d without a response of the service" % status, request_id, key
        )
    code = body.get("code")
    has_code = isinstance(code, int) and not isinstance(code, bool)
    if (code != 0) if has_code else (status >= 400):
        message = body.get("message")
        raise TollgateApiError(
            message if isinstance(message, str) else "HTTP %d" % status,
            status=status,
            code=code if has_code else None,
            retry_after=_read_seconds(headers.get("Retry-After")),
            request_id=request_id,
            idempotency_key=key,
        )
    if status >= 300:
        raise TollgateConnectionError(
            "HTTP %d without a response of the service" % status, request_id, key
        )
    return body


def _retry_delay(error: TollgateError, attempt: int) -> Optional[float]:
    """Seconds to wait before a retry; None if a retry is useless."""
    backoff = 0.25 * 2**attempt * (0.5 + random.random())
    if not isinstance(error, TollgateApiError):
        return backoff
    # A service may be configured to return HTTP 200 for errors; then the code and the header decide.
    can_retry = (
        error.status in _RETRY_STATUSES
        or error.code == _INTERNAL_ERROR
        or error.retry_after is not None
    )
    if not can_retry:
        return None
    return backoff if error.retry_after is None else error.retry_after


def _read_seconds(header: Optional[str]) -> Optional[float]:
    try:
        seconds = float(header) if header is not None else -1.0
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
