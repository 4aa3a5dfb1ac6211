<?php

declare(strict_types=1);

namespace Tollgate;

/**
 * The client: one instance per account, operations grouped as in the API reference. Parameters and results are arrays with
 * the names of the API reference. The last argument of every operation is an array of options: `idempotency_key` (only for
 * operations that cost credits) and `timeout` in seconds.
 */
final class Client
{
    public ShortLinks $shortlink;
    public Sms $sms;
    public Identity $identity;
    public Domains $domains;

    /**
     * @param array{timeout?: float, retries?: int, max_wait?: float, language?: string} $options
     *   timeout: seconds of one attempt, default 30. retries: after a timeout, a lost connection, 409, 429, 500 or 503, default 2.
     *   max_wait: if the service requires a longer wait, in seconds, the exception is thrown instead, default 10.
     *   language: zh (default) or en.
     */
    public function __construct(
        string $baseUrl,
        string $username,
        #[\SensitiveParameter]
        string $apiKey,
        array $options = []
    ) {
        foreach (['baseUrl' => $baseUrl, 'username' => $username, 'apiKey' => $apiKey] as $name => $value) {
            if ($value === '') {
                throw new \InvalidArgumentException("$name is missing");
            }
        }
        if (preg_match('#^https?://#', $baseUrl) !== 1) {
            throw new \InvalidArgumentException('baseUrl must begin with http:// or https://');
        }
        if (preg_match('/^[\x21-\x7e]+$/D', $apiKey) !== 1) {
            throw new \InvalidArgumentException('apiKey has a space, a line break or another character that no key contains');
        }
        $transport = new Transport(
            $baseUrl,
            $apiKey,
            (float) ($options['timeout'] ?? 30.0),
            (int) ($options['retries'] ?? 2),
            (float) ($options['max_wait'] ?? 10.0),
            ($options['language'] ?? 'zh') === 'en' ? 'en' : 'zh'
        );
        $caller = new Caller($transport, $username);
        $this->shortlink = new ShortLinks($caller);
        $this->sms = new Sms($caller);
        $this->identity = new Identity($caller);
        $this->domains = new Domains($caller);
    }
}
