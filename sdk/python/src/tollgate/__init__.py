"""Client for the Tollgate open platform: short links, SMS, identity verification, domain block check."""

from .client import Tollgate
from .errors import (
    TollgateApiError,
    TollgateConnectionError,
    TollgateError,
    TollgateTimeoutError,
)
from .transport import CallOptions
from .webhooks import verify_webhook

__all__ = [
    "CallOptions",
    "Tollgate",
    "TollgateApiError",
    "TollgateConnectionError",
    "TollgateError",
    "TollgateTimeoutError",
    "verify_webhook",
]
__version__ = "1.0.0"
