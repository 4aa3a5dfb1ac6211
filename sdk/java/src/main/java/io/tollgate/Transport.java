package io.tollgate;

import java.io.IOException;
import java.math.BigDecimal;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;

/** One call over HTTP: timeout, retries, and reading the response. */
final class Transport {
    /** Safe to retry: nothing was executed, or the idempotency key prevents a second execution. */
    private static final Set<Integer> RETRY_STATUSES = Set.of(409, 429, 500, 503);

    private static final int INTERNAL_ERROR = 5000;

    /** Free operations whose repetition has another result: retried only if the service says that it executed nothing. */
    private static final Set<String> ONCE_ACTIONS = Set.of("check_code", "cancel_batch", "delete");

    private static final Set<Integer> NOT_EXECUTED_STATUSES = Set.of(429, 503);

    /** No response of the service is as large as this. */
    private static final int MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

    private final Tollgate.Builder settings;
    private final HttpClient http;

    Transport(Tollgate.Builder settings) {
        this.settings = settings;
        this.http =
                settings.httpClient != null
                        ? settings.httpClient
                        : HttpClient.newBuilder()
                                .version(HttpClient.Version.HTTP_1_1)
                                .followRedirects(HttpClient.Redirect.NEVER)
                                .connectTimeout(settings.timeout)
                                .build();
    }

    /** Returns the body of a success, which has the required fields; throws a TollgateException otherwise. */
    Map<String, Object> call(
            String path, Map<String, Object> values, boolean paid, CallOptions options, List<String> required) {
        String key = null;
        if (paid) key = options.idempotencyKey != null ? options.idempotencyKey : UUID.randomUUID().toString();
        if (key != null && !key.matches("[\\x21-\\x7e]{1,255}")) {
            throw new IllegalArgumentException("the idempotency key must have 1 to 255 visible ASCII characters");
        }
        Duration timeout = options.timeout != null ? options.timeout : settings.timeout;
        boolean isOnce = ONCE_ACTIONS.contains(String.valueOf(values.get("action")));
        String body = Json.write(values);
        for (int attempt = 0; ; attempt++) {
            try {
                return attempt(path, body, key, timeout, required);
            } catch (TollgateException error) {
                Double delay = attempt < settings.retries ? retryDelay(error, attempt, isOnce) : null;
                if (delay == null || delay * 1000 > settings.maxWait.toMillis()) throw error;
                sleep((long) (delay * 1000), error);
            }
        }
    }

    private Map<String, Object> attempt(String path, String body, String key, Duration timeout, List<String> required) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(settings.baseUrl + path))
                        .timeout(timeout)
                        .header("Content-Type", "application/json")
                        .header("Accept", "application/json")
                        .header("Accept-Language", settings.language)
                        .header("Api-Key", settings.apiKey)
                        .header("User-Agent", "tollgate-java/1.0.0")
                        .POST(HttpRequest.BodyPublishers.ofString(body, StandardCharsets.UTF_8));
        if (key != null) request.header("Idempotency-Key", key);
        // The timeout of a request ends with the headers of the response; this one includes the body.
        CompletableFuture<HttpResponse<byte[]>> sent =
                http.sendAsync(request.build(), response -> new LimitedBody(MAX_RESPONSE_BYTES));
        try {
            return readResponse(sent.get(timeout.toMillis(), TimeUnit.MILLISECONDS), key, required);
        } catch (java.util.concurrent.TimeoutException error) {
            sent.cancel(true);
            throw timedOut(timeout, key, error);
        } catch (ExecutionException error) {
            Throwable cause = error.getCause();
            if (cause instanceof HttpTimeoutException) throw timedOut(timeout, key, cause);
            if (!(cause instanceof IOException)) throw new IllegalStateException(cause);
            throw new ConnectionException(explain((IOException) cause), null, key, cause);
        } catch (InterruptedException error) {
            sent.cancel(true);
            Thread.currentThread().interrupt();
            throw new ConnectionException("the call was interrupted", null, key, error);
        }
    }

    private TimeoutException timedOut(Duration timeout, String key, Throwable cause) {
        String seconds = BigDecimal.valueOf(timeout.toMillis(), 3).stripTrailingZeros().toPlainString();
        return new TimeoutException(
                "no response from " + settings.baseUrl + " within " + seconds + " s; the call may have been executed",
                key,
                cause);
    }

    private String explain(IOException error) {
        boolean isUnreachable = error instanceof ConnectException || error instanceof SSLException;
        String reason = error.getMessage();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof UnresolvedAddressException) reason = "unknown host";
        }
        if (reason == null) reason = isUnreachable ? "connection refused" : error.getClass().getSimpleName();
        return isUnreachable
                ? "the service at " + settings.baseUrl + " could not be reached: " + reason
                : "the connection to " + settings.baseUrl + " was lost before the response was complete: " + reason;
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> readResponse(HttpResponse<byte[]> response, String key, List<String> required) {
        String requestId = response.headers().firstValue("X-Request-Id").orElse(null);
        String text = response.body() == null ? null : new String(response.body(), StandardCharsets.UTF_8);
        Object parsed = null;
        try {
            if (text != null) parsed = Json.parse(text);
        } catch (IllegalArgumentException error) {
            // Handled below: parsed is not a map.
        }
        int status = response.statusCode();
        if (!(parsed instanceof Map)) throw foreign(response, text, requestId, key);
        Map<String, Object> body = (Map<String, Object>) parsed;
        Object code = body.get("code");
        boolean failed = code instanceof Long ? (Long) code != 0 : status >= 400;
        if (failed) {
            Object message = body.get("message");
            throw new ApiException(
                    message instanceof String ? (String) message : "HTTP " + status,
                    status,
                    code instanceof Long ? ((Long) code).intValue() : 0,
                    readSeconds(response.headers().firstValue("Retry-After").orElse("")),
                    requestId,
                    key);
        }
        boolean isResult = required.stream().allMatch(name -> body.get(name) != null);
        if (status >= 300 || !isResult) throw foreign(response, text, requestId, key);
        return body;
    }

    /** Says what helps to find a wrong base URL or a proxy that responds itself. */
    private ConnectionException foreign(HttpResponse<?> response, String text, String requestId, String key) {
        String location = response.headers().firstValue("Location").orElse(null);
        String found;
        if (text == null) found = ", larger than " + MAX_RESPONSE_BYTES + " bytes";
        else if (location != null) found = ", redirect to " + location;
        else {
            String start = text.replace(settings.apiKey, "***").replaceAll("\\s+", " ").trim();
            int end = Math.min(start.length(), 100);
            found = start.isEmpty() ? ", empty" : ": " + start.substring(0, end);
        }
        return new ConnectionException(
                "not a response of Tollgate: HTTP " + response.statusCode() + " from " + settings.baseUrl + found,
                requestId,
                key,
                null);
    }

    /** Seconds to wait before a retry; null if a retry is useless. */
    private static Double retryDelay(TollgateException error, int attempt, boolean isOnce) {
        if (Thread.currentThread().isInterrupted()) return null;
        double backoff = 0.25 * Math.pow(2, attempt) * (0.5 + ThreadLocalRandom.current().nextDouble());
        if (!(error instanceof ApiException)) return isOnce ? null : Double.valueOf(backoff);
        ApiException api = (ApiException) error;
        if (api.getRetryAfter() != null) return api.getRetryAfter();
        if (isOnce) return NOT_EXECUTED_STATUSES.contains(api.getStatus()) ? Double.valueOf(backoff) : null;
        // A service may be configured to return HTTP 200 for errors; then the code decides.
        boolean canRetry = RETRY_STATUSES.contains(api.getStatus()) || api.getCode() == INTERNAL_ERROR;
        return canRetry ? Double.valueOf(backoff) : null;
    }

    private static Double readSeconds(String header) {
        if (!header.matches("[0-9]{1,9}(\\.[0-9]+)?")) return null;
        return Double.valueOf(header);
    }

    private static void sleep(long ms, TollgateException error) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw error;
        }
    }
}
