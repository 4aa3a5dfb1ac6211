package io.tollgate;

/** Base of all exceptions of the client. */
public abstract class TollgateException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String requestId;
    private final String idempotencyKey;

    TollgateException(String message, String requestId, String idempotencyKey, Throwable cause) {
        super(message, cause);
        this.requestId = requestId;
        this.idempotencyKey = idempotencyKey;
    }

    /** {@code X-Request-Id} of the response; null without a response. */
    public String getRequestId() {
        return requestId;
    }

    /** The idempotency key of the call: a retry with it is not charged twice. Null for operations that are free. */
    public String getIdempotencyKey() {
        return idempotencyKey;
    }
}
