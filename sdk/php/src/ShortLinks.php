<?php

declare(strict_types=1);

namespace Tollgate;

/** Short links. Where one link is needed, pass one of `link_id`, `short_code` and `external_id`. */
final class ShortLinks
{
    private const PATH = '/api/shortlink_api.php';

    private Caller $caller;

    /** @internal */
    public function __construct(Caller $caller)
    {
        $this->caller = $caller;
    }

    /**
     * Creates a link: `target_url`, `title` and the optional parameters. Costs short link credits.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function generate(
        #[\SensitiveParameter]
        array $parameters,
        array $options = []
    ): array {
        return $this->caller->data(self::PATH, 'generate', $parameters, true, $options);
    }

    /**
     * Creates 1 to 100 `links`, all or none. Costs short link credits.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function generateBatch(
        #[\SensitiveParameter]
        array $parameters,
        array $options = []
    ): array {
        return $this->caller->data(self::PATH, 'generate_batch', $parameters, true, $options);
    }

    /**
     * Changes a link: `link_id`, `target_url` and what else changes. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function update(
        #[\SensitiveParameter]
        array $parameters,
        array $options = []
    ): array {
        return $this->caller->data(self::PATH, 'update', $parameters, false, $options);
    }

    /**
     * Gives the link a new code and new addresses: `link_id`, `short_code`. Costs short link credits.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function executeUpdate(array $parameters, array $options = []): array
    {
        return $this->caller->data(self::PATH, 'execute_update', $parameters, true, $options);
    }

    /**
     * Returns a link with its clicks. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function get(array $parameters, array $options = []): array
    {
        return $this->caller->data(self::PATH, 'get', $parameters, false, $options);
    }

    /**
     * Returns `links`, newest first, and `next_cursor`: `tag`, `state`, `q`, `limit`, `cursor`. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function list(array $parameters = [], array $options = []): array
    {
        return $this->caller->data(self::PATH, 'list', $parameters, false, $options);
    }

    /**
     * Returns the clicks of a link or a `tag`: `start_date`, `end_date`, `by`. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function stats(array $parameters, array $options = []): array
    {
        return $this->caller->data(self::PATH, 'stats', $parameters, false, $options);
    }

    /**
     * Stops a link: it answers 410 until it is resumed. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function pause(array $parameters, array $options = []): array
    {
        return $this->caller->data(self::PATH, 'pause', $parameters, false, $options);
    }

    /**
     * Resumes a paused link. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function resume(array $parameters, array $options = []): array
    {
        return $this->caller->data(self::PATH, 'resume', $parameters, false, $options);
    }

    /**
     * Deletes a link permanently. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function delete(array $parameters, array $options = []): array
    {
        return $this->caller->data(self::PATH, 'delete', $parameters, false, $options);
    }
}
