package io.tollgate;

import java.util.List;
import java.util.Map;

/** Identity verification. */
public final class Identity {
    private static final String PATH = "/api/id_verification_api.php";

    private final Tollgate client;

    Identity(Tollgate client) {
        this.client = client;
    }

    /** Checks whether {@code name} and {@code idcard} match. Costs a credit, which is refunded if there is no result. */
    public Result verify(Map<String, ?> parameters) {
        return verify(parameters, CallOptions.NONE);
    }

    /** Checks whether {@code name} and {@code idcard} match. Costs a credit, which is refunded if there is no result. */
    public Result verify(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.call(PATH, parameters, true, options, List.of("success", "matched")));
    }
}
