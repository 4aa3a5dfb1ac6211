// The errors of the client.
/** The documented codes. Short links have no codes: `code` is undefined, check `status`. */
export const codes = {
    missingParameters: 1001,
    wrongParameters: 1002,
    wrongCredentials: 1003,
    notAllowedOrNoCredits: 1004,
    operationFailed: 1005,
    smsNotEnabled: 1006,
    noSuchTemplate: 1007,
    tooFrequent: 429,
    internal: 5000,
};
export class TollgateError extends Error {
    /** `X-Request-Id` of the response; undefined without a response. */
    requestId;
    /** The idempotency key of the call: a retry with it is not charged twice. */
    idempotencyKey;
    constructor(message, details = {}) {
        super(message, details.cause === undefined ? {} : { cause: details.cause });
        this.name = 'TollgateError';
        this.requestId = details.requestId;
        this.idempotencyKey = details.idempotencyKey;
    }
}
/** The service returned an error. */
export class TollgateApiError extends TollgateError {
    status;
    code;
    /** Seconds to wait before a retry. */
    retryAfter;
    constructor(message, response, details = {}) {
        super(message, details);
        this.name = 'TollgateApiError';
        this.status = response.status;
        this.code = response.code;
        this.retryAfter = response.retryAfter;
    }
    /** With everything that support needs, for logs. */
    toString() {
        const code = this.code === undefined ? '' : `, code ${this.code}`;
        const wait = this.retryAfter === undefined ? '' : `, retry after ${this.retryAfter} s`;
        const id = this.requestId === undefined ? '' : `, request ${this.requestId}`;
        return `${this.name}: ${this.message} (HTTP ${this.status}${code}${wait}${id})`;
    }
}
/** No response in time. The call may or may not have been executed. */
export class TollgateTimeoutError extends TollgateError {
    constructor(message, details = {}) {
        super(message, details);
        this.name = 'TollgateTimeoutError';
    }
}
/** The signal of the call was aborted; its reason is the `cause`. The call may or may not have been executed. */
export class TollgateAbortError extends TollgateError {
    constructor(details) {
        const { cause } = details;
        const reason = cause instanceof Error ? cause.message : String(cause);
        super(`the call was aborted; it may have been executed: ${reason}`, details);
        // Programs recognize an aborted call by the name of the reason: AbortError, or TimeoutError of AbortSignal.timeout.
        this.name = cause instanceof Error ? cause.name : 'AbortError';
    }
}
/** The service could not be reached, the connection was lost, or the response did not come from the service. */
export class TollgateConnectionError extends TollgateError {
    constructor(message, details = {}) {
        super(message, details);
        this.name = 'TollgateConnectionError';
    }
}
