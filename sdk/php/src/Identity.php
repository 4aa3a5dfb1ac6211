<?php

declare(strict_types=1);

namespace Tollgate;

/** Identity verification. */
final class Identity
{
    private const PATH = '/api/id_verification_api.php';

    private Caller $caller;

    /** @internal */
    public function __construct(Caller $caller)
    {
        $this->caller = $caller;
    }

    /**
     * Checks whether `name` and `idcard` match. Costs a credit, which is refunded if there is no result.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<string, mixed>
     */
    public function verify(
        #[\SensitiveParameter]
        array $parameters,
        array $options = []
    ): array {
        return $this->caller->body(self::PATH, $parameters, true, $options, ['success', 'matched']);
    }
}
