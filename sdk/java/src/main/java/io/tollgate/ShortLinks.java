package io.tollgate;

import java.util.Collections;
import java.util.Map;

/** Short links. Where one link is needed, pass one of {@code link_id}, {@code short_code} and {@code external_id}. */
public final class ShortLinks {
    private static final String PATH = "/api/shortlink_api.php";

    private final Tollgate client;

    ShortLinks(Tollgate client) {
        this.client = client;
    }

    /** Creates a link: {@code target_url}, {@code title} and the optional parameters. Costs short link credits. */
    public Result generate(Map<String, ?> parameters) {
        return generate(parameters, CallOptions.NONE);
    }

    /** Creates a link: {@code target_url}, {@code title} and the optional parameters. Costs short link credits. */
    public Result generate(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "generate", parameters, true, options).get("data"));
    }

    /** Creates 1 to 100 {@code links}, all or none. Costs short link credits. */
    public Result generateBatch(Map<String, ?> parameters) {
        return generateBatch(parameters, CallOptions.NONE);
    }

    /** Creates 1 to 100 {@code links}, all or none. Costs short link credits. */
    public Result generateBatch(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "generate_batch", parameters, true, options).get("data"));
    }

    /** Changes a link: {@code link_id}, {@code target_url} and what else changes. Free. */
    public Result update(Map<String, ?> parameters) {
        return update(parameters, CallOptions.NONE);
    }

    /** Changes a link: {@code link_id}, {@code target_url} and what else changes. Free. */
    public Result update(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "update", parameters, false, options).get("data"));
    }

    /** Gives the link a new code and new addresses. Costs short link credits. */
    public Result executeUpdate(Map<String, ?> parameters) {
        return executeUpdate(parameters, CallOptions.NONE);
    }

    /** Gives the link a new code and new addresses. Costs short link credits. */
    public Result executeUpdate(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "execute_update", parameters, true, options).get("data"));
    }

    /** Returns a link with its clicks. Free. */
    public Result get(Map<String, ?> parameters) {
        return get(parameters, CallOptions.NONE);
    }

    /** Returns a link with its clicks. Free. */
    public Result get(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "get", parameters, false, options).get("data"));
    }

    /** Returns {@code links}, newest first, and {@code next_cursor}. Free. */
    public Result list() {
        return list(Collections.emptyMap());
    }

    /** Returns {@code links}, newest first, and {@code next_cursor}. Free. */
    public Result list(Map<String, ?> parameters) {
        return list(parameters, CallOptions.NONE);
    }

    /** Returns {@code links}, newest first, and {@code next_cursor}. Free. */
    public Result list(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "list", parameters, false, options).get("data"));
    }

    /** Returns the clicks of a link or a {@code tag}. Free. */
    public Result stats(Map<String, ?> parameters) {
        return stats(parameters, CallOptions.NONE);
    }

    /** Returns the clicks of a link or a {@code tag}. Free. */
    public Result stats(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "stats", parameters, false, options).get("data"));
    }

    /** Stops a link: it answers 410 until it is resumed. Free. */
    public Result pause(Map<String, ?> parameters) {
        return pause(parameters, CallOptions.NONE);
    }

    /** Stops a link: it answers 410 until it is resumed. Free. */
    public Result pause(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "pause", parameters, false, options).get("data"));
    }

    /** Resumes a paused link. Free. */
    public Result resume(Map<String, ?> parameters) {
        return resume(parameters, CallOptions.NONE);
    }

    /** Resumes a paused link. Free. */
    public Result resume(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "resume", parameters, false, options).get("data"));
    }

    /** Deletes a link permanently. Free. */
    public Result delete(Map<String, ?> parameters) {
        return delete(parameters, CallOptions.NONE);
    }

    /** Deletes a link permanently. Free. */
    public Result delete(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "delete", parameters, false, options).get("data"));
    }
}
