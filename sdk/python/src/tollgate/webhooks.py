"""Verifies webhooks: Standard Webhooks 1.0 signatures."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Dict, Mapping, Optional, Union

# How far the time of a request may differ from ours.
_TOLERANCE_SECONDS = 300
# Of Standard Webhooks. With a shorter key, or none, anybody could sign.
_MIN_KEY_BYTES = 24


def verify_webhook(
    secret: str, headers: Mapping[str, str], body: Union[str, bytes]
) -> Optional[Dict[str, Any]]:
    """Returns the event if the request was signed with the secret within the last five minutes, else None.

    ``body`` is the raw body of the request. Header names may have any case.
    Raises ValueError if ``secret`` is not a secret of a webhook.
    """
    key = _read_key(secret)
    lower = {name.lower(): value for name, value in headers.items() if value is not None}
    timestamp = lower.get("webhook-timestamp", "")
    if not re.match(r"^[0-9]{1,12}\Z", timestamp):
        return None
    if abs(time.time() - int(timestamp)) > _TOLERANCE_SECONDS:
        return None
    raw = body.encode("utf-8") if isinstance(body, str) else body
    signed = ("%s.%s." % (lower.get("webhook-id", ""), timestamp)).encode("utf-8", "replace") + raw
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = lower.get("webhook-signature", "").encode("utf-8", "replace").split(b" ")
    # Compares all of them, so that the time says nothing.
    matches = [hmac.compare_digest(signature, expected) for signature in signatures]
    if not any(matches):
        return None
    event: Dict[str, Any] = json.loads(raw.decode("utf-8"))
    return event


def _read_key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < _MIN_KEY_BYTES:
        raise ValueError("the webhook secret is missing or incomplete: copy it from the console (whsec_…)")
    return key
