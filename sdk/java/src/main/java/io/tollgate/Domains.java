package io.tollgate;

import java.util.Map;

/** Domain block check. */
public final class Domains {
    private static final String PATH = "/api/video_platform_check.php";

    private final Tollgate client;

    Domains(Tollgate client) {
        this.client = client;
    }

    /** Checks which {@code urls} are blocked. Costs a credit for each item; failed items are refunded. */
    public Result check(Map<String, ?> parameters) {
        return check(parameters, CallOptions.NONE);
    }

    /** Checks which {@code urls} are blocked. Costs a credit for each item; failed items are refunded. */
    public Result check(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, null, parameters, true, options).get("data"));
    }
}
