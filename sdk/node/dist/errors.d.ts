/** The documented codes. Short links have no codes: `code` is undefined, check `status`. */
export declare const codes: {
    readonly missingParameters: 1001;
    readonly wrongParameters: 1002;
    readonly wrongCredentials: 1003;
    readonly notAllowedOrNoCredits: 1004;
    readonly operationFailed: 1005;
    readonly smsNotEnabled: 1006;
    readonly noSuchTemplate: 1007;
    readonly tooFrequent: 429;
    readonly internal: 5000;
};
export type Code = (typeof codes)[keyof typeof codes];
export interface ErrorDetails {
    readonly requestId?: string | undefined;
    readonly idempotencyKey?: string | undefined;
    readonly cause?: unknown;
}
export declare class TollgateError extends Error {
    /** `X-Request-Id` of the response; undefined without a response. */
    readonly requestId: string | undefined;
    /** The idempotency key of the call: a retry with it is not charged twice. */
    readonly idempotencyKey: string | undefined;
    constructor(message: string, details?: ErrorDetails);
}
/** The service returned an error. */
export declare class TollgateApiError extends TollgateError {
    readonly status: number;
    readonly code: Code | undefined;
    /** Seconds to wait before a retry. */
    readonly retryAfter: number | undefined;
    constructor(message: string, response: {
        readonly status: number;
        readonly code?: Code | undefined;
        readonly retryAfter?: number | undefined;
    }, details?: ErrorDetails);
    /** With everything that support needs, for logs. */
    toString(): string;
}
/** No response in time. The call may or may not have been executed. */
export declare class TollgateTimeoutError extends TollgateError {
    constructor(message: string, details?: ErrorDetails);
}
/** The signal of the call was aborted; its reason is the `cause`. The call may or may not have been executed. */
export declare class TollgateAbortError extends TollgateError {
    constructor(details: ErrorDetails);
}
/** The service could not be reached, the connection was lost, or the response did not come from the service. */
export declare class TollgateConnectionError extends TollgateError {
    constructor(message: string, details?: ErrorDetails);
}
