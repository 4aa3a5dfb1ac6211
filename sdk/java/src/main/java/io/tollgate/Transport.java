package io.tollgate;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** One call over HTTP: timeout, retries, and reading the response. */
final class Transport {
    /** Safe to retry: nothing was executed, or the idempotency key prevents a second execution. */
    private static final Set<Integer> RETRY_STATUSES = Set.of(409, 429, 500, 503);

    private static final int INTERNAL_ERROR = 5000;

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

    /** Returns the body of a success; throws a TollgateException otherwise. */
    Map<String, Object> call(String path, Map<String, Object> values, boolean paid, CallOptions options) {
        String key = null;
        if (paid) key = options.idempotencyKey != null ? options.idempotencyKey : UUID.randomUUID().toString();
        Duration timeout = options.timeout != null ? options.timeout : settings.timeout;
        String body = Json.write(values);
        for (int attempt = 0; ; attempt++) {
            try {
                return attempt(path, body, key, timeout);
            } catch (TollgateException error) {
                Double delay = attempt < settings.retries ? retryDelay(error, attempt) : null;
                if (delay == null || delay * 1000 > settings.maxWait.toMillis()) throw error;
                sleep((long) (delay * 1000), error);
            }
        }
    }

    private Map<String, Object> attempt(String path, String body, String key, Duration timeout) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(settings.baseUrl + path))
                        .timeout(timeout)
                        .header("Content-Type", "application/json")
                        .header("Accept", "application/json")
                        .header("Accept-Language", settings.language)
                        .header("Api-Key", settings.apiKey)
                        .header("User-Agent", "tollgate-java/0.2.0")
                        .POST(HttpRequest.BodyPublishers.ofString(body, StandardCharsets.UTF_8));
        if (key != null) request.header("Idempotency-Key", key);
        HttpResponse<String> response;
        try {
            response = http.send(request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        } catch (HttpTimeoutException error) {
            throw new TimeoutException("no response within " + timeout.toMillis() + " ms", key, error);
        } catch (IOException error) {
            String reason = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
            throw new ConnectionException(
                    "the service at " + settings.baseUrl + " could not be reached: " + reason, null, key, error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new ConnectionException("the call was interrupted", null, key, error);
        }
        return readResponse(response, key);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> readResponse(HttpResponse<String> response, String key) {
        String requestId = response.headers().firstValue("X-Request-Id").orElse(null);
        Object parsed = null;
        try {
            parsed = Json.parse(response.body());
        } catch (IllegalArgumentException error) {
            // Handled below: parsed is not a map.
        }
        int status = response.statusCode();
        if (!(parsed instanceof Map)) throw foreign(status, requestId, key);
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
        if (status >= 300) throw foreign(status, requestId, key);
        return body;
    }

    private static ConnectionException foreign(int status, String requestId, String key) {
        return new ConnectionException("HTTP " + status + " without a response of the service", requestId, key, null);
    }

    /** Seconds to wait before a retry; null if a retry is useless. */
    private static Double retryDelay(TollgateException error, int attempt) {
        if (Thread.currentThread().isInterrupted()) return null;
        double backoff = 0.25 * Math.pow(2, attempt) * (0.5 + ThreadLocalRandom.current().nextDouble());
        if (!(error instanceof ApiException)) return backoff;
        ApiException api = (ApiException) error;
        if (api.getRetryAfter() != null) return api.getRetryAfter();
        // A service may be configured to return HTTP 200 for errors; then the code decides.
        boolean canRetry = RETRY_STATUSES.contains(api.getStatus()) || api.getCode() == INTERNAL_ERROR;
        return canRetry ? backoff : null;
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
