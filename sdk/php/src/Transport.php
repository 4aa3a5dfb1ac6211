<?php

declare(strict_types=1);

namespace Tollgate;

/**
 * One call over HTTP: timeout, retries, and reading the response.
 *
 * @internal
 */
final class Transport
{
    /** Safe to retry: nothing was executed, or the idempotency key prevents a second execution. */
    private const RETRY_STATUSES = [409, 429, 500, 503];
    private const INTERNAL_ERROR = 5000;

    private string $baseUrl;
    private string $apiKey;
    private float $timeout;
    private int $retries;
    private float $maxWait;
    private string $language;

    public function __construct(
        string $baseUrl,
        string $apiKey,
        float $timeout,
        int $retries,
        float $maxWait,
        string $language
    ) {
        $this->baseUrl = rtrim($baseUrl, '/');
        $this->apiKey = $apiKey;
        $this->timeout = $timeout;
        $this->retries = $retries;
        $this->maxWait = $maxWait;
        $this->language = $language;
    }

    /**
     * Returns the body of a success; throws a TollgateException otherwise.
     *
     * @param array<string, mixed> $values
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<string, mixed>
     */
    public function call(string $path, array $values, bool $paid, array $options): array
    {
        $key = $paid ? ($options['idempotency_key'] ?? bin2hex(random_bytes(16))) : null;
        $timeout = (float) ($options['timeout'] ?? $this->timeout);
        for ($attempt = 0; ; $attempt++) {
            try {
                return $this->attempt($path, $values, $key, $timeout);
            } catch (TollgateException $error) {
                $delay = $attempt < $this->retries ? self::retryDelay($error, $attempt) : null;
                if ($delay === null || $delay > $this->maxWait) {
                    throw $error;
                }
                usleep((int) ($delay * 1_000_000));
            }
        }
    }

    /**
     * @param array<string, mixed> $values
     * @return array<string, mixed>
     */
    private function attempt(string $path, array $values, ?string $key, float $timeout): array
    {
        $headers = [
            'Content-Type: application/json',
            'Accept: application/json',
            'Accept-Language: ' . $this->language,
            'Api-Key: ' . $this->apiKey,
            'Expect:',
        ];
        if ($key !== null) {
            $headers[] = 'Idempotency-Key: ' . $key;
        }
        $received = [];
        $handle = curl_init($this->baseUrl . $path);
        curl_setopt_array($handle, [
            CURLOPT_POST => true,
            // An empty list would become [], which is not an object.
            CURLOPT_POSTFIELDS => json_encode((object) $values, JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR),
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_USERAGENT => 'tollgate-php/0.2.0',
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_TIMEOUT_MS => (int) ($timeout * 1000),
            CURLOPT_NOSIGNAL => true,
            CURLOPT_HEADERFUNCTION => static function ($handle, string $line) use (&$received): int {
                $parts = explode(':', $line, 2);
                if (count($parts) === 2) {
                    $received[strtolower(trim($parts[0]))] = trim($parts[1]);
                }
                return strlen($line);
            },
        ]);
        $text = curl_exec($handle);
        $error = curl_errno($handle);
        $status = (int) curl_getinfo($handle, CURLINFO_RESPONSE_CODE);
        if ($error === CURLE_OPERATION_TIMEDOUT) {
            throw new TimeoutException("no response within $timeout s", null, $key);
        }
        if ($error !== 0 || !is_string($text)) {
            $reason = curl_error($handle);
            throw new ConnectionException("the service at {$this->baseUrl} could not be reached: $reason", null, $key);
        }
        return self::readResponse($status, $received, $text, $key);
    }

    /**
     * @param array<string, string> $headers
     * @return array<string, mixed>
     */
    private static function readResponse(int $status, array $headers, string $text, ?string $key): array
    {
        $requestId = $headers['x-request-id'] ?? null;
        $body = json_decode($text, true);
        $isObject = is_array($body) && strncmp(ltrim($text), '{', 1) === 0;
        if (!$isObject) {
            throw new ConnectionException("HTTP $status without a response of the service", $requestId, $key);
        }
        $code = $body['code'] ?? null;
        $isError = is_int($code) ? $code !== 0 : $status >= 400;
        if ($isError) {
            $message = $body['message'] ?? null;
            $seconds = $headers['retry-after'] ?? '';
            throw new ApiException(
                is_string($message) ? $message : "HTTP $status",
                $status,
                is_int($code) ? $code : 0,
                is_numeric($seconds) && (float) $seconds >= 0 ? (float) $seconds : null,
                $requestId,
                $key
            );
        }
        if ($status >= 300) {
            throw new ConnectionException("HTTP $status without a response of the service", $requestId, $key);
        }
        return $body;
    }

    /** Seconds to wait before a retry; null if a retry is useless. */
    private static function retryDelay(TollgateException $error, int $attempt): ?float
    {
        $backoff = 0.25 * 2 ** $attempt * (0.5 + mt_rand() / mt_getrandmax());
        if (!$error instanceof ApiException) {
            return $backoff;
        }
        // A service may be configured to return HTTP 200 for errors; then the code and the header decide.
        $canRetry = in_array($error->getStatus(), self::RETRY_STATUSES, true)
            || $error->getCode() === self::INTERNAL_ERROR
            || $error->getRetryAfter() !== null;
        return $canRetry ? ($error->getRetryAfter() ?? $backoff) : null;
    }
}
