package io.tollgate;

import java.math.BigDecimal;

/** The service returned an error. */
public final class ApiException extends TollgateException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final int code;
    private final Double retryAfter;

    ApiException(
            String message, int status, int code, Double retryAfter, String requestId, String idempotencyKey) {
        super(message, requestId, idempotencyKey, null);
        this.status = status;
        this.code = code;
        this.retryAfter = retryAfter;
    }

    /** With everything that support needs, for logs and uncaught errors. */
    @Override
    public String toString() {
        return super.toString()
                + " (HTTP "
                + status
                + (code == 0 ? "" : ", code " + code)
                + (retryAfter == null ? "" : ", retry after " + plain(retryAfter) + " s")
                + (getRequestId() == null ? "" : ", request " + getRequestId())
                + ")";
    }

    private static String plain(double seconds) {
        return BigDecimal.valueOf(seconds).stripTrailingZeros().toPlainString();
    }

    /** HTTP status. */
    public int getStatus() {
        return status;
    }

    /** The documented code, for example 1004; 0 for short links, whose errors have only a status. */
    public int getCode() {
        return code;
    }

    /** Seconds to wait before a retry; null if the service named none. */
    public Double getRetryAfter() {
        return retryAfter;
    }
}
