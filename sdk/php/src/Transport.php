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
    /** Free operations whose repetition has another result: retried only if the service says that it executed nothing. */
    private const ONCE_ACTIONS = ['check_code', 'cancel_batch', 'delete'];
    private const NOT_EXECUTED_STATUSES = [429, 503];
    /** No response of the service is as large as this. */
    private const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
    /** curl was connected when it failed. */
    private const LOST_CONNECTION = [CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR];
    private const INTERNAL_ERROR = 5000;

    private string $baseUrl;
    private string $apiKey;
    private float $timeout;
    private int $retries;
    private float $maxWait;
    private string $language;

    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter]
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
     * What `var_dump` and `print_r` show of a client: everything but the key.
     *
     * @return array<string, mixed>
     */
    public function __debugInfo(): array
    {
        return ['apiKey' => '***'] + get_object_vars($this);
    }

    /**
     * Returns the body of a success, which has the required fields; throws a TollgateException otherwise.
     *
     * @param array<string, mixed> $values
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @param list<string> $required
     * @return array<string, mixed>
     */
    public function call(
        string $path,
        #[\SensitiveParameter]
        array $values,
        bool $paid,
        array $options,
        array $required
    ): array {
        $key = $paid ? (string) ($options['idempotency_key'] ?? bin2hex(random_bytes(16))) : null;
        if ($key !== null && preg_match('/^[\x21-\x7e]{1,255}$/D', $key) !== 1) {
            throw new \InvalidArgumentException('idempotency_key must have 1 to 255 visible ASCII characters');
        }
        $timeout = (float) ($options['timeout'] ?? $this->timeout);
        $isOnce = in_array($values['action'] ?? null, self::ONCE_ACTIONS, true);
        for ($attempt = 0; ; $attempt++) {
            try {
                return $this->attempt($path, $values, $key, $timeout, $required);
            } catch (TollgateException $error) {
                $delay = $attempt < $this->retries ? self::retryDelay($error, $attempt, $isOnce) : null;
                if ($delay === null || $delay > $this->maxWait) {
                    throw $error;
                }
                usleep((int) ($delay * 1_000_000));
            }
        }
    }

    /**
     * @param array<string, mixed> $values
     * @param list<string> $required
     * @return array<string, mixed>
     */
    private function attempt(
        string $path,
        #[\SensitiveParameter]
        array $values,
        ?string $key,
        float $timeout,
        array $required
    ): array {
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
        $text = '';
        $isTooLarge = false;
        $handle = curl_init($this->baseUrl . $path);
        curl_setopt_array($handle, [
            CURLOPT_POST => true,
            CURLOPT_POSTFIELDS => self::encode($values),
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_USERAGENT => 'tollgate-php/1.0.0',
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
            CURLOPT_WRITEFUNCTION => static function ($handle, string $part) use (&$text, &$isTooLarge): int {
                $isTooLarge = strlen($text) + strlen($part) > self::MAX_RESPONSE_BYTES;
                $text .= $isTooLarge ? '' : $part;
                return $isTooLarge ? 0 : strlen($part);
            },
        ]);
        curl_exec($handle);
        $error = curl_errno($handle);
        $status = (int) curl_getinfo($handle, CURLINFO_RESPONSE_CODE);
        if ($error === CURLE_OPERATION_TIMEDOUT) {
            $message = "no response from {$this->baseUrl} within $timeout s; the call may have been executed";
            throw new TimeoutException($message, null, $key);
        }
        if ($error !== 0 && !$isTooLarge) {
            $reason = curl_error($handle);
            throw new ConnectionException(
                in_array($error, self::LOST_CONNECTION, true)
                    ? "the connection to {$this->baseUrl} was lost before the response was complete: $reason"
                    : "the service at {$this->baseUrl} could not be reached: $reason",
                null,
                $key
            );
        }
        return $this->readResponse($status, $received, $isTooLarge ? null : $text, $key, $required);
    }

    /**
     * @param array<string, string> $headers
     * @param ?string $text null if it is too large
     * @param list<string> $required
     * @return array<string, mixed>
     */
    private function readResponse(
        int $status,
        array $headers,
        #[\SensitiveParameter]
        ?string $text,
        ?string $key,
        array $required
    ): array {
        $requestId = $headers['x-request-id'] ?? null;
        $foreign = function () use ($status, $headers, $text, $requestId, $key): ConnectionException {
            $message = "not a response of Tollgate: HTTP $status from {$this->baseUrl}" . $this->describeBody($headers, $text);
            return new ConnectionException($message, $requestId, $key);
        };
        $body = json_decode($text ?? '', true);
        $isObject = is_array($body) && strncmp(ltrim($text), '{', 1) === 0;
        if (!$isObject) {
            throw $foreign();
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
        $missing = array_filter($required, static fn (string $name): bool => !isset($body[$name]));
        if ($status >= 300 || $missing !== []) {
            throw $foreign();
        }
        return $body;
    }

    /**
     * What helps to find a wrong base URL or a proxy that responds itself.
     *
     * @param array<string, string> $headers
     */
    private function describeBody(array $headers, ?string $text): string
    {
        if ($text === null) {
            return ', larger than ' . self::MAX_RESPONSE_BYTES . ' bytes';
        }
        if (isset($headers['location'])) {
            return ", redirect to {$headers['location']}";
        }
        $text = preg_replace('/\s+/', ' ', trim(str_replace($this->apiKey, '***', $text))) ?? '';
        // Up to 100 whole characters of UTF-8.
        preg_match('/^(?:[\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]{1,3}){0,100}/', $text, $found);
        $start = $found[0] ?? '';
        return $start === '' ? ', empty or not text' : ": $start";
    }

    /**
     * JSON_THROW_ON_ERROR would put the values in the stack trace.
     *
     * @param array<string, mixed> $values
     */
    private static function encode(
        #[\SensitiveParameter]
        array $values
    ): string {
        // An empty list would become [], which is not an object.
        $json = json_encode((object) $values, JSON_UNESCAPED_UNICODE);
        if ($json === false) {
            throw new \JsonException(json_last_error_msg(), json_last_error());
        }
        return $json;
    }

    /** Seconds to wait before a retry; null if a retry is useless. */
    private static function retryDelay(TollgateException $error, int $attempt, bool $isOnce): ?float
    {
        $backoff = 0.25 * 2 ** $attempt * (0.5 + mt_rand() / mt_getrandmax());
        if (!$error instanceof ApiException) {
            return $isOnce ? null : $backoff;
        }
        // A service may be configured to return HTTP 200 for errors; then the code and the header decide.
        $canRetry = $error->getRetryAfter() !== null
            || in_array($error->getStatus(), $isOnce ? self::NOT_EXECUTED_STATUSES : self::RETRY_STATUSES, true)
            || (!$isOnce && $error->getCode() === self::INTERNAL_ERROR);
        return $canRetry ? ($error->getRetryAfter() ?? $backoff) : null;
    }
}
