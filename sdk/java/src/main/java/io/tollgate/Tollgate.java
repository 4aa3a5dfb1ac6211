package io.tollgate;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The client: one instance per account, operations grouped as in the API reference. Parameters are maps with the names of the
 * API reference. Instances are safe for concurrent use.
 */
public final class Tollgate {
    private final Transport transport;
    private final String username;
    private final ShortLinks shortLinks = new ShortLinks(this);
    private final Sms sms = new Sms(this);
    private final Identity identity = new Identity(this);
    private final Domains domains = new Domains(this);

    private Tollgate(Builder settings) {
        this.transport = new Transport(settings);
        this.username = settings.username;
    }

    public static Builder builder(String baseUrl, String username, String apiKey) {
        return new Builder(baseUrl, username, apiKey);
    }

    public ShortLinks shortLinks() {
        return shortLinks;
    }

    public Sms sms() {
        return sms;
    }

    public Identity identity() {
        return identity;
    }

    public Domains domains() {
        return domains;
    }

    Map<String, Object> call(
            String path, Map<String, ?> parameters, boolean paid, CallOptions options, List<String> required) {
        return transport.call(path, new LinkedHashMap<>(parameters), paid, options, required);
    }

    /** Calls an operation that names the account; returns the whole body. */
    Map<String, Object> callAs(String path, String action, Map<String, ?> parameters, boolean paid, CallOptions options) {
        Map<String, Object> values = new LinkedHashMap<>(parameters);
        values.put("username", username);
        if (action != null) values.put("action", action);
        return transport.call(path, values, paid, options, List.of("data"));
    }

    /** Settings of a client. */
    public static final class Builder {
        final String baseUrl;
        final String username;
        final String apiKey;
        Duration timeout = Duration.ofSeconds(30);
        int retries = 2;
        Duration maxWait = Duration.ofSeconds(10);
        String language = "zh";
        HttpClient httpClient;

        private Builder(String baseUrl, String username, String apiKey) {
            if (baseUrl == null || !baseUrl.matches("https?://.+")) {
                throw new IllegalArgumentException("baseUrl must begin with http:// or https://");
            }
            if (username == null || username.isEmpty()) throw new IllegalArgumentException("username is missing");
            if (apiKey == null || apiKey.isEmpty()) throw new IllegalArgumentException("apiKey is missing");
            if (!apiKey.matches("[\\x21-\\x7e]+")) {
                throw new IllegalArgumentException(
                        "apiKey has a space, a line break or another character that no key contains");
            }
            this.baseUrl = baseUrl.replaceAll("/+$", "");
            this.username = username;
            this.apiKey = apiKey;
        }

        /** Timeout of one attempt; default 30 seconds. */
        public Builder timeout(Duration value) {
            timeout = value;
            return this;
        }

        /** Retries after a timeout, a lost connection, 409, 429, 500 or 503; default 2. */
        public Builder retries(int value) {
            retries = value;
            return this;
        }

        /** If the service requires a longer wait, the exception is thrown instead; default 10 seconds. */
        public Builder maxWait(Duration value) {
            maxWait = value;
            return this;
        }

        /** Language of the messages: zh (default) or en. */
        public Builder language(String value) {
            language = "en".equals(value) ? "en" : "zh";
            return this;
        }

        /**
         * Replaces the HTTP client, for example to use a proxy. It must not follow redirects, because it would send the key to
         * any address.
         *
         * @throws IllegalArgumentException if it follows redirects
         */
        public Builder httpClient(HttpClient value) {
            HttpClient.Redirect redirects = value == null ? null : value.followRedirects();
            if (redirects == HttpClient.Redirect.NORMAL || redirects == HttpClient.Redirect.ALWAYS) {
                throw new IllegalArgumentException("the HTTP client must not follow redirects: use Redirect.NEVER");
            }
            httpClient = value;
            return this;
        }

        public Tollgate build() {
            return new Tollgate(this);
        }
    }
}
