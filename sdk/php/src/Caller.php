<?php

declare(strict_types=1);

namespace Tollgate;

/**
 * Adds what every operation of an account sends.
 *
 * @internal
 */
final class Caller
{
    private Transport $transport;
    private string $username;

    public function __construct(Transport $transport, string $username)
    {
        $this->transport = $transport;
        $this->username = $username;
    }

    /**
     * The whole body, for lists whose cursor is beside `data`.
     *
     * @param array<string, mixed> $values
     * @param array<string, mixed> $options
     * @return array<string, mixed>
     */
    public function page(
        string $path,
        ?string $action,
        #[\SensitiveParameter]
        array $values,
        bool $paid,
        array $options
    ): array {
        $common = $action === null ? ['username' => $this->username] : ['username' => $this->username, 'action' => $action];
        return $this->transport->call($path, $common + $values, $paid, $options, ['data']);
    }

    /**
     * @param array<string, mixed> $values
     * @param array<string, mixed> $options
     * @return array<mixed>
     */
    public function data(
        string $path,
        ?string $action,
        #[\SensitiveParameter]
        array $values,
        bool $paid,
        array $options
    ): array {
        return (array) $this->page($path, $action, $values, $paid, $options)['data'];
    }

    /**
     * The whole body, of an operation that does not name the account.
     *
     * @param array<string, mixed> $values
     * @param array<string, mixed> $options
     * @param list<string> $required
     * @return array<string, mixed>
     */
    public function body(
        string $path,
        #[\SensitiveParameter]
        array $values,
        bool $paid,
        array $options,
        array $required
    ): array {
        return $this->transport->call($path, $values, $paid, $options, $required);
    }
}
