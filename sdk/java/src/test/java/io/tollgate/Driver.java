package io.tollgate;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs calls for the test of all clients: one JSON object per line in, one out. */
public final class Driver {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<String, Object> answer = new HashMap<>();
            try {
                answer.put("result", plain(run(object(Json.parse(line)))));
            } catch (TollgateException | IllegalArgumentException error) {
                answer.put("error", describe(error));
            }
            out.println(Json.write(answer));
        }
    }

    private static Object run(Map<String, Object> request) throws Exception {
        Map<String, Object> params = object(request.get("params"));
        String call = (String) request.get("call");
        if (call.equals("webhooks.verify")) {
            Map<String, String> headers = new HashMap<>();
            object(params.get("headers")).forEach((name, value) -> headers.put(name, (String) value));
            byte[] body = ((String) params.get("body")).getBytes(StandardCharsets.UTF_8);
            return Webhook.verify((String) params.get("secret"), headers, body).orElse(null);
        }
        String[] parts = call.split("\\.");
        String group = parts[0].equals("shortlink") ? "shortLinks" : parts[0];
        Object operations = Tollgate.class.getMethod(group).invoke(client(object(request.get("client"))));
        Object key = object(request.get("options")).get("idempotency_key");
        CallOptions options = key == null ? CallOptions.NONE : CallOptions.idempotencyKey((String) key);
        String name = camel(parts[1]);
        try {
            return name.equals("templates") || name.equals("signatures")
                    ? operations.getClass().getMethod(name, CallOptions.class).invoke(operations, options)
                    : operations.getClass().getMethod(name, Map.class, CallOptions.class).invoke(operations, params, options);
        } catch (java.lang.reflect.InvocationTargetException error) {
            throw (Exception) error.getCause();
        }
    }

    private static Tollgate client(Map<String, Object> given) {
        Tollgate.Builder builder =
                Tollgate.builder((String) given.get("base_url"), (String) given.get("username"), (String) given.get("api_key"));
        if (given.get("timeout") != null) builder.timeout(seconds(given.get("timeout")));
        if (given.get("max_wait") != null) builder.maxWait(seconds(given.get("max_wait")));
        if (given.get("retries") != null) builder.retries(((Number) given.get("retries")).intValue());
        if (given.get("language") != null) builder.language((String) given.get("language"));
        return builder.build();
    }

    private static Duration seconds(Object value) {
        return Duration.ofMillis((long) (((Number) value).doubleValue() * 1000));
    }

    private static String camel(String name) {
        StringBuilder out = new StringBuilder();
        for (String part : name.split("_")) {
            out.append(out.length() == 0 ? part : Character.toUpperCase(part.charAt(0)) + part.substring(1));
        }
        return out.toString();
    }

    private static Object plain(Object value) {
        if (value instanceof Result) return ((Result) value).toMap();
        if (!(value instanceof List)) return value;
        List<Object> list = new ArrayList<>();
        for (Object item : (List<?>) value) list.add(plain(item));
        return list;
    }

    private static Map<String, Object> describe(RuntimeException error) {
        Map<String, Object> out = new HashMap<>();
        out.put("kind", error.getClass().getSimpleName().replace("Exception", "").toLowerCase());
        out.put("message", error.getMessage());
        if (error instanceof TollgateException) {
            out.put("request_id", ((TollgateException) error).getRequestId());
            out.put("idempotency_key", ((TollgateException) error).getIdempotencyKey());
        }
        if (error instanceof ApiException) {
            ApiException api = (ApiException) error;
            out.put("status", api.getStatus());
            out.put("code", api.getCode() == 0 ? null : api.getCode());
            out.put("retry_after", api.getRetryAfter());
        }
        return out;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> object(Object value) {
        return value == null ? Collections.emptyMap() : (Map<String, Object>) value;
    }

    private Driver() {}
}
