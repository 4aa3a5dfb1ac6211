import { type CallOptions } from './transport.ts';
import type { CheckCode, CheckDomains, CheckedCode, CheckedDomains, Credits, CreditsQuery, GeneratedLink, DeletedLink, ListLinks, LinkStatsQuery, LinkStats, LinkStateChange, LinkPage, GenerateLinks, GeneratedLinks, GenerateLink, GetLink, IdentityOutcome, Link, RefreshedLink, RefreshLink, Page, SendCode, SendSms, SentCode, SentSms, SmsLogsQuery, AcceptedBatch, CancelBatch, CancelledBatch, GetBatch, SendBatch, SmsBatch, SmsRecord, SmsRepliesQuery, SmsReply, SmsSignature, SmsTemplate, UpdatedLink, UpdateLink, VerifyIdentity } from './types.ts';
export { type Code, codes, TollgateAbortError, TollgateApiError, TollgateConnectionError, TollgateError, TollgateTimeoutError, } from './errors.ts';
export type { CallOptions } from './transport.ts';
export type * from './types.ts';
export { verifyWebhook, type WebhookEvent, type WebhookHeaders } from './webhooks.ts';
export interface TollgateOptions {
    /** Base URL of the service, for example `https://api.example.com`. */
    readonly baseUrl: string;
    readonly username: string;
    readonly apiKey: string;
    /** Timeout of one attempt; default 30 seconds. */
    readonly timeoutMs?: number;
    /** Retries after a timeout, a lost connection, 409, 429, 500 or 503; default 2. */
    readonly retries?: number;
    /** If the service requires a longer wait, the error is thrown instead; default 10 seconds. */
    readonly longestWaitMs?: number;
    /** Language of the messages; default zh. */
    readonly language?: 'zh' | 'en';
    /** Replaces `fetch`, for example to use a proxy. */
    readonly fetch?: typeof fetch;
}
export declare class Tollgate {
    #private;
    constructor(options: TollgateOptions);
    readonly shortlink: {
        /** Creates a link. Costs short link credits. */
        generate: (link: GenerateLink, options?: CallOptions) => Promise<GeneratedLink>;
        /** Changes target or title. Free. */
        update: (change: UpdateLink, options?: CallOptions) => Promise<UpdatedLink>;
        /** Gives the link a new code and new addresses. Costs short link credits. */
        executeUpdate: (link: RefreshLink, options?: CallOptions) => Promise<RefreshedLink>;
        /** Returns the link with its clicks. Free. */
        get: (which: GetLink, options?: CallOptions) => Promise<Link>;
        /** Creates up to 100 links, all or none. Costs short link credits. */
        generateBatch: (batch: GenerateLinks, options?: CallOptions) => Promise<GeneratedLinks>;
        /** Returns a page of links, newest first. Free. */
        list: (query?: ListLinks, options?: CallOptions) => Promise<LinkPage>;
        /** Returns the clicks of a link or a tag. Free. */
        stats: (query: LinkStatsQuery, options?: CallOptions) => Promise<LinkStats>;
        /** A paused link answers 410. Free. */
        pause: (which: GetLink, options?: CallOptions) => Promise<LinkStateChange>;
        resume: (which: GetLink, options?: CallOptions) => Promise<LinkStateChange>;
        /** The link answers 410 from now on. Free. */
        delete: (which: GetLink, options?: CallOptions) => Promise<DeletedLink>;
    };
    readonly sms: {
        /** Sends a message. Costs SMS credits for each billed part. */
        send: (message: SendSms, options?: CallOptions) => Promise<SentSms>;
        templates: (options?: CallOptions) => Promise<readonly SmsTemplate[]>;
        credits: (which?: CreditsQuery, options?: CallOptions) => Promise<Credits>;
        signatures: (options?: CallOptions) => Promise<readonly SmsSignature[]>;
        /** Sends a one-time code. Costs SMS credits for each billed part. */
        sendCode: (code: SendCode, options?: CallOptions) => Promise<SentCode>;
        /** Checks a one-time code. A right one is used up. Free. */
        checkCode: (code: CheckCode, options?: CallOptions) => Promise<CheckedCode>;
        replies: (which?: SmsRepliesQuery, options?: CallOptions) => Promise<Page<SmsReply>>;
        /** Like `logs`, a page at a time. */
        logsPage: (which: SmsLogsQuery, options?: CallOptions) => Promise<Page<SmsRecord>>;
        /** Accepts up to 1,000 messages and does not wait for the gateways. Charged together, or not at all. */
        sendBatch: (batch: SendBatch, options?: CallOptions) => Promise<AcceptedBatch>;
        getBatch: (which: GetBatch, options?: CallOptions) => Promise<SmsBatch>;
        /** Cancels what has not started. */
        cancelBatch: (which: CancelBatch, options?: CallOptions) => Promise<CancelledBatch>;
        /** Returns the latest 20 matching records. */
        logs: (which: SmsLogsQuery, options?: CallOptions) => Promise<readonly SmsRecord[]>;
    };
    readonly identity: {
        /** Checks whether name and number match. Costs a credit, which is refunded if there is no result. */
        verify: (person: VerifyIdentity, options?: CallOptions) => Promise<IdentityOutcome>;
    };
    readonly domains: {
        /** Checks which URLs are blocked. Costs a credit for each item; failed items are refunded. */
        check: (domains: CheckDomains, options?: CallOptions) => Promise<CheckedDomains>;
    };
}
