package io.tollgate;

/** The service could not be reached, the connection was lost, or the response did not come from the service. */
public final class ConnectionException extends TollgateException {
    private static final long serialVersionUID = 1L;

    ConnectionException(String message, String requestId, String idempotencyKey, Throwable cause) {
        super(message, requestId, idempotencyKey, cause);
    }
}
