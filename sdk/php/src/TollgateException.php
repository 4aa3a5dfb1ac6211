<?php

declare(strict_types=1);

namespace Tollgate;

/** Base of all exceptions of the client. */
class TollgateException extends \RuntimeException
{
    private ?string $requestId;
    private ?string $idempotencyKey;

    public function __construct(
        string $message,
        ?string $requestId = null,
        ?string $idempotencyKey = null,
        int $code = 0
    ) {
        parent::__construct($message, $code);
        $this->requestId = $requestId;
        $this->idempotencyKey = $idempotencyKey;
    }

    /** `X-Request-Id` of the response; null without a response. */
    public function getRequestId(): ?string
    {
        return $this->requestId;
    }

    /** The idempotency key of the call: a retry with it is not charged twice. */
    public function getIdempotencyKey(): ?string
    {
        return $this->idempotencyKey;
    }
}
