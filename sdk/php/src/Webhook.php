<?php

declare(strict_types=1);

namespace Tollgate;

/** Verifies webhooks: Standard Webhooks 1.0 signatures. */
final class Webhook
{
    /** How far the time of a request may differ from ours. */
    private const TOLERANCE_SECONDS = 300;
    /** Of Standard Webhooks. With a shorter key, or none, anybody could sign. */
    private const MIN_KEY_BYTES = 24;

    /**
     * Returns the event if the request was signed with the secret within the last five minutes, otherwise null. `$body` is the
     * raw body (`file_get_contents('php://input')`); header names may have any case, as in `getallheaders()`.
     *
     * @throws \InvalidArgumentException if `$secret` is not a secret of a webhook
     *
     * @param array<string, string> $headers
     * @return array<string, mixed>|null
     */
    public static function verify(
        #[\SensitiveParameter]
        string $secret,
        array $headers,
        #[\SensitiveParameter]
        string $body
    ): ?array {
        $key = base64_decode(strncmp($secret, 'whsec_', 6) === 0 ? substr($secret, 6) : $secret, true);
        if ($key === false || strlen($key) < self::MIN_KEY_BYTES) {
            throw new \InvalidArgumentException('the webhook secret is missing or incomplete: copy it from the console (whsec_…)');
        }
        $headers = array_change_key_case($headers, CASE_LOWER);
        $id = $headers['webhook-id'] ?? '';
        $timestamp = $headers['webhook-timestamp'] ?? '';
        if (preg_match('/^[0-9]{1,12}\z/', $timestamp) !== 1) {
            return null;
        }
        if (abs(time() - (int) $timestamp) > self::TOLERANCE_SECONDS) {
            return null;
        }
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        $isSigned = false;
        foreach (explode(' ', $headers['webhook-signature'] ?? '') as $signature) {
            $isSigned = hash_equals($expected, $signature) || $isSigned;
        }
        if (!$isSigned) {
            return null;
        }
        $event = json_decode($body, true);
        return is_array($event) ? $event : null;
    }
}
