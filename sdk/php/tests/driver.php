<?php

// Runs calls for the test of all clients: one JSON object per line in, one out.

declare(strict_types=1);

require __DIR__ . '/../src/autoload.php';

use Tollgate\ApiException;
use Tollgate\Client;
use Tollgate\ConnectionException;
use Tollgate\TimeoutException;
use Tollgate\TollgateException;
use Tollgate\Webhook;

function camel(string $name): string
{
    return lcfirst(str_replace('_', '', ucwords($name, '_')));
}

function run(array $request)
{
    $params = $request['params'] ?? [];
    if ($request['call'] === 'webhooks.verify') {
        return Webhook::verify($params['secret'], $params['headers'], $params['body']);
    }
    $given = $request['client'];
    $client = new Client($given['base_url'], $given['username'], $given['api_key'], $given);
    [$group, $name] = explode('.', $request['call']);
    $options = $request['options'] ?? [];
    if (in_array($name, ['templates', 'signatures'], true)) {
        return $client->$group->$name($options);
    }
    return $client->$group->{camel($name)}($params, $options);
}

function describe(Throwable $error): array
{
    $kinds = [ApiException::class => 'api', TimeoutException::class => 'timeout', ConnectionException::class => 'connection'];
    $isApi = $error instanceof ApiException;
    $isOurs = $error instanceof TollgateException;
    return [
        'kind' => $kinds[get_class($error)] ?? get_class($error),
        'message' => $error->getMessage(),
        'status' => $isApi ? $error->getStatus() : null,
        'code' => $isApi && $error->getCode() !== 0 ? $error->getCode() : null,
        'retry_after' => $isApi ? $error->getRetryAfter() : null,
        'request_id' => $isOurs ? $error->getRequestId() : null,
        'idempotency_key' => $isOurs ? $error->getIdempotencyKey() : null,
    ];
}

while (($line = fgets(STDIN)) !== false) {
    try {
        $answer = ['result' => run(json_decode($line, true))];
    } catch (TollgateException | InvalidArgumentException $error) {
        $answer = ['error' => describe($error)];
    }
    echo json_encode($answer, JSON_THROW_ON_ERROR), "\n";
}
