package io.tollgate;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies webhooks: Standard Webhooks 1.0 signatures. */
public final class Webhook {
    /** How far the time of a request may differ from ours. */
    private static final long TOLERANCE_SECONDS = 300;

    /** Of Standard Webhooks. With a shorter key, or none, anybody could sign. */
    private static final int MIN_KEY_BYTES = 24;

    private Webhook() {}

    /**
     * Returns the event if the request was signed with the secret within the last five minutes. {@code body} is the raw body;
     * header names may have any case.
     *
     * @throws IllegalArgumentException if {@code secret} is not a secret of a webhook
     */
    public static Optional<Result> verify(String secret, Map<String, String> headers, byte[] body) {
        byte[] key = readKey(secret);
        Map<String, String> lower = new TreeMap<>();
        headers.forEach((name, value) -> {
            if (name != null && value != null) lower.put(name.toLowerCase(Locale.ROOT), value);
        });
        String timestamp = lower.getOrDefault("webhook-timestamp", "");
        if (!timestamp.matches("[0-9]{1,12}")) return Optional.empty();
        long age = System.currentTimeMillis() / 1000 - Long.parseLong(timestamp);
        if (Math.abs(age) > TOLERANCE_SECONDS) return Optional.empty();
        String prefix = lower.getOrDefault("webhook-id", "") + "." + timestamp + ".";
        byte[] expected = ("v1," + sign(key, prefix, body)).getBytes(StandardCharsets.UTF_8);
        boolean signed = false;
        for (String signature : lower.getOrDefault("webhook-signature", "").split(" ")) {
            signed |= MessageDigest.isEqual(signature.getBytes(StandardCharsets.UTF_8), expected);
        }
        if (!signed) return Optional.empty();
        return Optional.of(Result.of(Json.parse(new String(body, StandardCharsets.UTF_8))));
    }

    private static byte[] readKey(String secret) {
        byte[] key = {};
        try {
            if (secret != null) {
                key = Base64.getDecoder().decode(secret.startsWith("whsec_") ? secret.substring(6) : secret);
            }
        } catch (IllegalArgumentException error) {
            // Not base64: reported below.
        }
        if (key.length < MIN_KEY_BYTES) {
            throw new IllegalArgumentException(
                    "the webhook secret is missing or incomplete: copy it from the console (whsec_…)");
        }
        return key;
    }

    private static String sign(byte[] key, String prefix, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            mac.update(prefix.getBytes(StandardCharsets.UTF_8));
            return Base64.getEncoder().encodeToString(mac.doFinal(body));
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
    }
}
