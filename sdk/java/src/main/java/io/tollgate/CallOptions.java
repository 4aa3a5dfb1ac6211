package io.tollgate;

import java.time.Duration;

/** Options of one call. Instances are immutable. */
public final class CallOptions {
    static final CallOptions NONE = new CallOptions(null, null);

    final String idempotencyKey;
    final Duration timeout;

    private CallOptions(String idempotencyKey, Duration timeout) {
        this.idempotencyKey = idempotencyKey;
        this.timeout = timeout;
    }

    /** For example an order number; random by default. Only for operations that cost credits. */
    public static CallOptions idempotencyKey(String key) {
        return new CallOptions(key, null);
    }

    /** Replaces the timeout of each attempt. */
    public static CallOptions timeout(Duration timeout) {
        return new CallOptions(null, timeout);
    }

    public CallOptions withIdempotencyKey(String key) {
        return new CallOptions(key, timeout);
    }

    public CallOptions withTimeout(Duration newTimeout) {
        return new CallOptions(idempotencyKey, newTimeout);
    }
}
