<?php

declare(strict_types=1);

namespace Tollgate;

/** Template SMS, and the credit balances of all products. */
final class Sms
{
    private const PATH = '/api/sms_api.php';

    private Caller $caller;

    /** @internal */
    public function __construct(Caller $caller)
    {
        $this->caller = $caller;
    }

    /**
     * Sends a message: `phone_number`, `template_code`, `template_params`, `sign_name`. Costs SMS credits for each billed part.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function send(
        #[\SensitiveParameter]
        array $parameters,
        array $options = []
    ): array {
        return $this->caller->data(self::PATH, 'send_sms', $parameters, true, $options);
    }

    /**
     * Sends 1 to 1,000 messages: `template_code`, `phone_numbers` with `template_params` or `messages`, `sign_name`, `send_at`. Costs SMS credits.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function sendBatch(
        #[\SensitiveParameter]
        array $parameters,
        array $options = []
    ): array {
        return $this->caller->data(self::PATH, 'send_batch', $parameters, true, $options);
    }

    /**
     * Returns the progress of a batch and a page of its messages: `batch_id`, `limit`, `cursor`. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function getBatch(array $parameters, array $options = []): array
    {
        return $this->caller->data(self::PATH, 'get_batch', $parameters, false, $options);
    }

    /**
     * Cancels what has not started of `batch_id`; its credits come back. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function cancelBatch(array $parameters, array $options = []): array
    {
        return $this->caller->data(self::PATH, 'cancel_batch', $parameters, false, $options);
    }

    /**
     * Sends a verification code that the service makes: `phone_number`, `template_code`, `sign_name`, `length`, `ttl_s`, `purpose`. Costs SMS credits.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function sendCode(
        #[\SensitiveParameter]
        array $parameters,
        array $options = []
    ): array {
        return $this->caller->data(self::PATH, 'send_code', $parameters, true, $options);
    }

    /**
     * Checks a verification code: `phone_number`, `code`, `purpose`. Single use. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function checkCode(
        #[\SensitiveParameter]
        array $parameters,
        array $options = []
    ): array {
        return $this->caller->data(self::PATH, 'check_code', $parameters, false, $options);
    }

    /**
     * Returns the templates. Free.
     *
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function templates(array $options = []): array
    {
        return $this->caller->data(self::PATH, 'get_templates', [], false, $options);
    }

    /**
     * Returns the signatures. Free.
     *
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function signatures(array $options = []): array
    {
        return $this->caller->data(self::PATH, 'get_signatures', [], false, $options);
    }

    /**
     * Returns a credit balance: `api_type`. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function credits(array $parameters = [], array $options = []): array
    {
        return $this->caller->data(self::PATH, 'get_credits', $parameters, false, $options);
    }

    /**
     * Returns `data`, the latest send records, and `next_cursor` if `limit` or `cursor` was given: `biz_id`, `phone_number`, `start_date`, `end_date`. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function logs(
        #[\SensitiveParameter]
        array $parameters = [],
        array $options = []
    ): array {
        return $this->caller->page(self::PATH, 'get_status', $parameters, false, $options);
    }

    /**
     * Returns `data`, the latest replies, and `next_cursor`: `phone_number`, `start_date`, `end_date`, `limit`, `cursor`. Free.
     *
     * @param array<string, mixed> $parameters
     * @param array{idempotency_key?: string, timeout?: float} $options
     * @return array<mixed>
     */
    public function replies(
        #[\SensitiveParameter]
        array $parameters = [],
        array $options = []
    ): array {
        return $this->caller->page(self::PATH, 'get_replies', $parameters, false, $options);
    }
}
