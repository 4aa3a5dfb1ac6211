<?php

declare(strict_types=1);

namespace Tollgate;

/** Domain block check. */
final class Domains
{
    private const PATH = '/api/video_platform_check.php';

    private Caller $caller;

    /** @internal */
    public function __construct(Caller $caller)
    {
        $this->caller = $caller;
    }

    /**
     * Checks which `urls` are blocked; `check_random`. Costs a credit for each item; failed items are refunded.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function check(array $parameters, array $options = []): array
    {
        return $this->caller->data(self::PATH, null, $parameters, true, $options);
    }
}
