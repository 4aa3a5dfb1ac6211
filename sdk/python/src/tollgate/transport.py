"""One call over HTTP: timeout, retries, and reading the response."""

import json
import random
import re
import socket
import time
import urllib.error
import urllib.request
import uuid
from http.client import HTTPException
from typing import Any, Dict, NamedTuple, Optional, Sequence

from .errors import (
    TollgateApiError,
    TollgateConnectionError,
    TollgateError,
    TollgateTimeoutError,
)

# Safe to retry: nothing was executed, or the idempotency key prevents a second execution.
_RETRY_STATUSES = frozenset([409, 429, 500, 503])
_INTERNAL_ERROR = 5000
# Free operations whose repetition has another result: retried only if the service says that it executed nothing.
_ONCE_ACTIONS = frozenset(["check_code", "cancel_batch", "delete"])
_NOT_EXECUTED_STATUSES = frozenset([429, 503])
# No response of the service is as large as this.
_MAX_RESPONSE_BYTES = 16 * 1024 * 1024
_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]{1,255}")


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
        required: Sequence[str],
    ) -> Dict[str, Any]:
        """Returns the body of a success, which has the required fields; raises a TollgateError otherwise."""
        given = options or CallOptions()
        key = None
        if paid:
            key = str(uuid.uuid4()) if given.idempotency_key is None else given.idempotency_key
        if key is not None and not _VISIBLE_ASCII.fullmatch(key):
            raise ValueError("idempotency_key must have 1 to 255 visible ASCII characters")
        timeout = self._timeout if given.timeout is None else given.timeout
        once = values.get("action") in _ONCE_ACTIONS
        attempt = 0
        while True:
            try:
                return self._attempt(path, values, key, timeout, required)
            except TollgateError as error:
                delay = _retry_delay(error, attempt, once) if attempt < self._retries else None
                if delay is None or delay > self._max_wait:
                    raise
            time.sleep(delay)
            attempt += 1

    def _attempt(
        self,
        path: str,
        values: Dict[str, Any],
        key: Optional[str],
        timeout: float,
        required: Sequence[str],
    ) -> Dict[str, Any]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Language": self._language,
            "Api-Key": self._api_key,
            "User-Agent": "tollgate-python/1.0.0",
        }
        if key is not None:
            headers["Idempotency-Key"] = key
        request = urllib.request.Request(
            self._base_url + path,
            data=json.dumps(values).encode("utf-8"),
            headers=headers,
            method="POST",
        )
        deadline = time.monotonic() + timeout
        try:
            try:
                response = self._opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as error:
                response = error  # A response with another status than 2xx.
            with response:
                text = _read_body(response, deadline)
        except (socket.timeout, TimeoutError) as error:
            raise self._timed_out(timeout, key) from error
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            if isinstance(reason, (socket.timeout, TimeoutError)):
                raise self._timed_out(timeout, key) from error
            # urllib wraps what happens before the request is sent.
            lost = not isinstance(error, urllib.error.URLError) or isinstance(
                reason, (ConnectionResetError, BrokenPipeError)
            )
            message = (
                "the connection to %s was lost before the response was complete: %s"
                if lost
                else "the service at %s could not be reached: %s"
            ) % (self._base_url, reason)
            raise TollgateConnectionError(message, None, key) from error
        return self._read_response(response.status, response.headers, text, key, required)

    def _timed_out(self, timeout: float, key: Optional[str]) -> TollgateTimeoutError:
        message = "no response from %s within %g s; the call may have been executed" % (self._base_url, timeout)
        return TollgateTimeoutError(message, None, key)

    def _read_response(
        self,
        status: int,
        headers: Any,
        text: Optional[bytes],
        key: Optional[str],
        required: Sequence[str],
    ) -> Dict[str, Any]:
        request_id = headers.get("X-Request-Id")
        try:
            body = json.loads((text or b"").decode("utf-8"))
        except (ValueError, RecursionError):
            body = None
        code = body.get("code") if isinstance(body, dict) else None
        has_code = isinstance(code, int) and not isinstance(code, bool)
        if isinstance(body, dict) and ((code != 0) if has_code else (status >= 400)):
            message = body.get("message")
            raise TollgateApiError(
                message if isinstance(message, str) else "HTTP %d" % status,
                status=status,
                code=code if has_code else None,
                retry_after=_read_seconds(headers.get("Retry-After")),
                request_id=request_id,
                idempotency_key=key,
            )
        is_result = isinstance(body, dict) and all(body.get(name) is not None for name in required)
        if not is_result or status >= 300:
            message = "not a response of Tollgate: HTTP %d from %s%s" % (
                status,
                self._base_url,
                self._describe_body(headers, text),
            )
            raise TollgateConnectionError(message, request_id, key)
        result: Dict[str, Any] = body
        return result

    def _describe_body(self, headers: Any, text: Optional[bytes]) -> str:
        """What helps to find a wrong base URL or a proxy that responds itself."""
        if text is None:
            return ", larger than %d bytes" % _MAX_RESPONSE_BYTES
        if headers.get("Location") is not None:
            return ", redirect to %s" % headers.get("Location")
        start = text.decode("utf-8", "replace").replace(self._api_key, "***")
        start = " ".join(start.split())[:100]
        return ": " + start if start else ", empty"


def _read_body(response: Any, deadline: float) -> Optional[bytes]:
    """Returns None if the body is too large."""
    given = response.headers.get("Content-Length")
    expected = int(given) if given is not None and given.isdigit() else None
    parts = []
    size = 0
    while expected is None or size < expected:
        part = response.read1(65536)
        if not part:
            break
        size += len(part)
        if size > _MAX_RESPONSE_BYTES:
            return None
        if time.monotonic() > deadline:
            raise TimeoutError()
        parts.append(part)
    if expected is not None and size < expected:
        raise HTTPException("%d of %d bytes arrived" % (size, expected))
    return b"".join(parts)


def _retry_delay(error: TollgateError, attempt: int, once: bool) -> Optional[float]:
    """Seconds to wait before a retry; None if a retry is useless."""
    backoff = 0.25 * 2**attempt * (0.5 + random.random())
    if not isinstance(error, TollgateApiError):
        return None if once else backoff
    # A service may be configured to return HTTP 200 for errors; then the code and the header decide.
    can_retry = (
        error.retry_after is not None
        or error.status in (_NOT_EXECUTED_STATUSES if once else _RETRY_STATUSES)
        or (not once and error.code == _INTERNAL_ERROR)
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
