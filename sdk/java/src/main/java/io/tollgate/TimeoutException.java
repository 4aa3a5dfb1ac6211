package io.tollgate;

/** No response in time. The call may or may not have been executed. */
public final class TimeoutException extends TollgateException {
    private static final long serialVersionUID = 1L;

    TimeoutException(String message, String idempotencyKey, Throwable cause) {
        super(message, null, idempotencyKey, cause);
    }
}
