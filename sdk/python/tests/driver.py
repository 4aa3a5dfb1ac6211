"""Runs calls for the test of all clients: one JSON object per line in, one out."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "src"))

import tollgate  # noqa: E402


def run(request):
    params = request.get("params", {})
    if request["call"] == "webhooks.verify":
        return tollgate.verify_webhook(params["secret"], params["headers"], params["body"])
    client = tollgate.Tollgate(**request["client"])
    group, name = request["call"].split(".")
    options = tollgate.CallOptions(**request.get("options", {}))
    return getattr(getattr(client, group), name)(**params, options=options)


def describe(error):
    kinds = {
        tollgate.TollgateApiError: "api",
        tollgate.TollgateTimeoutError: "timeout",
        tollgate.TollgateConnectionError: "connection",
    }
    return {
        "kind": kinds.get(type(error), type(error).__name__),
        "message": getattr(error, "message", str(error)),
        "status": getattr(error, "status", None),
        "code": getattr(error, "code", None),
        "retry_after": getattr(error, "retry_after", None),
        "request_id": getattr(error, "request_id", None),
        "idempotency_key": getattr(error, "idempotency_key", None),
    }


for line in sys.stdin:
    try:
        answer = {"result": run(json.loads(line))}
    except (tollgate.TollgateError, ValueError) as error:
        answer = {"error": describe(error)}
    print(json.dumps(answer), flush=True)
