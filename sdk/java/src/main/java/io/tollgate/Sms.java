package io.tollgate;

import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Template SMS, and the credit balances of all products. */
public final class Sms {
    private static final String PATH = "/api/sms_api.php";

    private final Tollgate client;

    Sms(Tollgate client) {
        this.client = client;
    }

    /** Sends a message: {@code phone_number}, {@code template_code}, {@code template_params}, {@code sign_name}. Costs SMS credits. */
    public Result send(Map<String, ?> parameters) {
        return send(parameters, CallOptions.NONE);
    }

    /** Sends a message: {@code phone_number}, {@code template_code}, {@code template_params}, {@code sign_name}. Costs SMS credits. */
    public Result send(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "send_sms", parameters, true, options).get("data"));
    }

    /** Sends 1 to 1,000 messages without waiting for the gateways. Costs SMS credits. */
    public Result sendBatch(Map<String, ?> parameters) {
        return sendBatch(parameters, CallOptions.NONE);
    }

    /** Sends 1 to 1,000 messages without waiting for the gateways. Costs SMS credits. */
    public Result sendBatch(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "send_batch", parameters, true, options).get("data"));
    }

    /** Returns the progress of a batch and a page of its messages: {@code batch_id}, {@code limit}, {@code cursor}. Free. */
    public Result getBatch(Map<String, ?> parameters) {
        return getBatch(parameters, CallOptions.NONE);
    }

    /** Returns the progress of a batch and a page of its messages: {@code batch_id}, {@code limit}, {@code cursor}. Free. */
    public Result getBatch(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "get_batch", parameters, false, options).get("data"));
    }

    /** Cancels what has not started of {@code batch_id}; its credits come back. Free. */
    public Result cancelBatch(Map<String, ?> parameters) {
        return cancelBatch(parameters, CallOptions.NONE);
    }

    /** Cancels what has not started of {@code batch_id}; its credits come back. Free. */
    public Result cancelBatch(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "cancel_batch", parameters, false, options).get("data"));
    }

    /** Sends a verification code that the service makes. Costs SMS credits. */
    public Result sendCode(Map<String, ?> parameters) {
        return sendCode(parameters, CallOptions.NONE);
    }

    /** Sends a verification code that the service makes. Costs SMS credits. */
    public Result sendCode(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "send_code", parameters, true, options).get("data"));
    }

    /** Checks a verification code: {@code phone_number}, {@code code}, {@code purpose}. Single use. Free. */
    public Result checkCode(Map<String, ?> parameters) {
        return checkCode(parameters, CallOptions.NONE);
    }

    /** Checks a verification code: {@code phone_number}, {@code code}, {@code purpose}. Single use. Free. */
    public Result checkCode(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "check_code", parameters, false, options).get("data"));
    }

    /** Returns the templates. Free. */
    public List<Result> templates() {
        return templates(CallOptions.NONE);
    }

    /** Returns the templates. Free. */
    public List<Result> templates(CallOptions options) {
        return Result.listOf(client.callAs(PATH, "get_templates", Collections.emptyMap(), false, options).get("data"));
    }

    /** Returns the signatures. Free. */
    public List<Result> signatures() {
        return signatures(CallOptions.NONE);
    }

    /** Returns the signatures. Free. */
    public List<Result> signatures(CallOptions options) {
        return Result.listOf(client.callAs(PATH, "get_signatures", Collections.emptyMap(), false, options).get("data"));
    }

    /** Returns a credit balance: {@code api_type}. Free. */
    public Result credits() {
        return credits(Collections.emptyMap());
    }

    /** Returns a credit balance: {@code api_type}. Free. */
    public Result credits(Map<String, ?> parameters) {
        return credits(parameters, CallOptions.NONE);
    }

    /** Returns a credit balance: {@code api_type}. Free. */
    public Result credits(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "get_credits", parameters, false, options).get("data"));
    }

    /** Returns {@code data}, the latest send records, and {@code next_cursor} if limit or cursor was given. Free. */
    public Result logs() {
        return logs(Collections.emptyMap());
    }

    /** Returns {@code data}, the latest send records, and {@code next_cursor} if limit or cursor was given. Free. */
    public Result logs(Map<String, ?> parameters) {
        return logs(parameters, CallOptions.NONE);
    }

    /** Returns {@code data}, the latest send records, and {@code next_cursor} if limit or cursor was given. Free. */
    public Result logs(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "get_status", parameters, false, options));
    }

    /** Returns {@code data}, the latest replies, and {@code next_cursor}. Free. */
    public Result replies() {
        return replies(Collections.emptyMap());
    }

    /** Returns {@code data}, the latest replies, and {@code next_cursor}. Free. */
    public Result replies(Map<String, ?> parameters) {
        return replies(parameters, CallOptions.NONE);
    }

    /** Returns {@code data}, the latest replies, and {@code next_cursor}. Free. */
    public Result replies(Map<String, ?> parameters, CallOptions options) {
        return Result.of(client.callAs(PATH, "get_replies", parameters, false, options));
    }
}
