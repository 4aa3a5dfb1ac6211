export interface TransportOptions {
    readonly baseUrl: string;
    readonly apiKey: string;
    readonly timeoutMs: number;
    readonly retries: number;
    readonly longestWaitMs: number;
    readonly language: 'zh' | 'en';
    readonly fetch: typeof fetch;
}
export interface ApiRequest {
    readonly path: string;
    readonly values: Readonly<Record<string, unknown>>;
    /** Costs credits: sent with an idempotency key, so that a retry is not charged twice. */
    readonly paid: boolean;
    /** Reads the body of a success; returns undefined for any other body. */
    readonly read: (body: Record<string, unknown>) => unknown;
}
export interface CallOptions {
    /** For example an order number; random by default. Only for operations that cost credits. */
    readonly idempotencyKey?: string;
    /** Aborts the call, including waits and retries, with a `TollgateAbortError`. */
    readonly signal?: AbortSignal;
    readonly timeoutMs?: number;
}
export declare function call<T>(transport: TransportOptions, request: ApiRequest, options?: CallOptions): Promise<T>;
