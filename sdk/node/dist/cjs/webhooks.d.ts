export interface WebhookEvent {
    readonly type: string;
    /** ISO 8601: when the event happened. */
    readonly timestamp: string;
    readonly data: Readonly<Record<string, unknown>>;
}
export type WebhookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;
/**
 * Returns the event if the request was signed with the secret within the last five minutes, otherwise undefined. `body` is the
 * raw body; header names are in lower case, as in `request.headers` of Node.js. Throws a TypeError if `secret` is not a secret
 * of a webhook.
 */
export declare function verifyWebhook(secret: string, headers: WebhookHeaders, body: string | Uint8Array): WebhookEvent | undefined;
