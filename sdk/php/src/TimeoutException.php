<?php

declare(strict_types=1);

namespace Tollgate;

/** No response in time. The call may or may not have been executed. */
final class TimeoutException extends TollgateException
{
}
