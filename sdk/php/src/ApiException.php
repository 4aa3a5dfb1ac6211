<?php

declare(strict_types=1);

namespace Tollgate;

/** The service returned an error. `getCode()` is the documented code, 0 for short links, whose errors have only a status. */
final class ApiException extends TollgateException
{
    private int $status;
    private ?float $retryAfter;

    public function __construct(
        string $message,
        int $status,
        int $code,
        ?float $retryAfter,
        ?string $requestId,
        ?string $idempotencyKey
    ) {
        parent::__construct($message, $requestId, $idempotencyKey, $code);
        $this->status = $status;
        $this->retryAfter = $retryAfter;
    }

    /** With everything that support needs, for logs and uncaught errors. */
    public function __toString(): string
    {
        $facts = ["HTTP {$this->status}"];
        if ($this->getCode() !== 0) {
            $facts[] = "code {$this->getCode()}";
        }
        if ($this->retryAfter !== null) {
            $facts[] = "retry after {$this->retryAfter} s";
        }
        if ($this->getRequestId() !== null) {
            $facts[] = "request {$this->getRequestId()}";
        }
        return self::class . ": {$this->getMessage()} (" . implode(', ', $facts) . ")\n{$this->getTraceAsString()}";
    }

    /** HTTP status. */
    public function getStatus(): int
    {
        return $this->status;
    }

    /** Seconds to wait before a retry. */
    public function getRetryAfter(): ?float
    {
        return $this->retryAfter;
    }
}
