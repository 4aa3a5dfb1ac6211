<?php

declare(strict_types=1);

namespace Tollgate;

/** The service could not be reached, the connection was lost, or the response did not come from the service. */
final class ConnectionException extends TollgateException
{
}
