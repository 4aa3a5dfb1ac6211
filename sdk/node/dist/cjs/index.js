"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Tollgate = exports.verifyWebhook = exports.TollgateTimeoutError = exports.TollgateError = exports.TollgateConnectionError = exports.TollgateApiError = exports.TollgateAbortError = exports.codes = void 0;
// The client: one instance per account, operations grouped as in the API reference.
const transport_ts_1 = require("./transport.js");
var errors_ts_1 = require("./errors.js");
Object.defineProperty(exports, "codes", { enumerable: true, get: function () { return errors_ts_1.codes; } });
Object.defineProperty(exports, "TollgateAbortError", { enumerable: true, get: function () { return errors_ts_1.TollgateAbortError; } });
Object.defineProperty(exports, "TollgateApiError", { enumerable: true, get: function () { return errors_ts_1.TollgateApiError; } });
Object.defineProperty(exports, "TollgateConnectionError", { enumerable: true, get: function () { return errors_ts_1.TollgateConnectionError; } });
Object.defineProperty(exports, "TollgateError", { enumerable: true, get: function () { return errors_ts_1.TollgateError; } });
Object.defineProperty(exports, "TollgateTimeoutError", { enumerable: true, get: function () { return errors_ts_1.TollgateTimeoutError; } });
var webhooks_ts_1 = require("./webhooks.js");
Object.defineProperty(exports, "verifyWebhook", { enumerable: true, get: function () { return webhooks_ts_1.verifyWebhook; } });
const paths = {
    shortlink: '/api/shortlink_api.php',
    sms: '/api/sms_api.php',
    identity: '/api/id_verification_api.php',
    domains: '/api/video_platform_check.php',
};
const dataOf = (body) => body['data'] ?? undefined;
const outcomeOf = (body) => typeof body['success'] === 'boolean' && typeof body['matched'] === 'boolean' ? body : undefined;
class Tollgate {
    #transport;
    #username;
    constructor(options) {
        for (const name of ['baseUrl', 'username', 'apiKey']) {
            if (typeof options[name] !== 'string' || options[name] === '')
                throw new TypeError(`${name} is missing`);
        }
        if (!/^https?:\/\//.test(options.baseUrl))
            throw new TypeError('baseUrl must begin with http:// or https://');
        if (!/^[\x21-\x7e]+$/.test(options.apiKey))
            throw new TypeError('apiKey has a space, a line break or another character that no key contains');
        this.#username = options.username;
        this.#transport = {
            baseUrl: options.baseUrl.replace(/\/+$/, ''),
            apiKey: options.apiKey,
            timeoutMs: options.timeoutMs ?? 30_000,
            retries: options.retries ?? 2,
            longestWaitMs: options.longestWaitMs ?? 10_000,
            language: options.language ?? 'zh',
            fetch: options.fetch ?? globalThis.fetch,
        };
    }
    shortlink = {
        /** Creates a link. Costs short link credits. */
        generate: (link, options) => this.#call(this.#request(paths.shortlink, 'generate', link, true), options),
        /** Changes target or title. Free. */
        update: (change, options) => this.#call(this.#request(paths.shortlink, 'update', change, false), options),
        /** Gives the link a new code and new addresses. Costs short link credits. */
        executeUpdate: (link, options) => this.#call(this.#request(paths.shortlink, 'execute_update', link, true), options),
        /** Returns the link with its clicks. Free. */
        get: (which, options) => this.#call(this.#request(paths.shortlink, 'get', which, false), options),
        /** Creates up to 100 links, all or none. Costs short link credits. */
        generateBatch: (batch, options) => this.#call(this.#request(paths.shortlink, 'generate_batch', batch, true), options),
        /** Returns a page of links, newest first. Free. */
        list: (query = {}, options) => this.#call(this.#request(paths.shortlink, 'list', query, false), options),
        /** Returns the clicks of a link or a tag. Free. */
        stats: (query, options) => this.#call(this.#request(paths.shortlink, 'stats', query, false), options),
        /** A paused link answers 410. Free. */
        pause: (which, options) => this.#call(this.#request(paths.shortlink, 'pause', which, false), options),
        resume: (which, options) => this.#call(this.#request(paths.shortlink, 'resume', which, false), options),
        /** The link answers 410 from now on. Free. */
        delete: (which, options) => this.#call(this.#request(paths.shortlink, 'delete', which, false), options),
    };
    sms = {
        /** Sends a message. Costs SMS credits for each billed part. */
        send: (message, options) => this.#call(this.#request(paths.sms, 'send_sms', message, true), options),
        templates: (options) => this.#call(this.#request(paths.sms, 'get_templates', {}, false), options),
        credits: (which = {}, options) => this.#call(this.#request(paths.sms, 'get_credits', which, false), options),
        signatures: (options) => this.#call(this.#request(paths.sms, 'get_signatures', {}, false), options),
        /** Sends a one-time code. Costs SMS credits for each billed part. */
        sendCode: (code, options) => this.#call(this.#request(paths.sms, 'send_code', code, true), options),
        /** Checks a one-time code. A right one is used up. Free. */
        checkCode: (code, options) => this.#call(this.#request(paths.sms, 'check_code', code, false), options),
        replies: (which = {}, options) => this.#page(paths.sms, 'get_replies', which, options),
        /** Like `logs`, a page at a time. */
        logsPage: (which, options) => this.#page(paths.sms, 'get_logs', { ...which, limit: which.limit ?? 20 }, options),
        /** Accepts up to 1,000 messages and does not wait for the gateways. Charged together, or not at all. */
        sendBatch: (batch, options) => this.#call(this.#request(paths.sms, 'send_batch', batch, true), options),
        getBatch: (which, options) => this.#call(this.#request(paths.sms, 'get_batch', which, false), options),
        /** Cancels what has not started. */
        cancelBatch: (which, options) => this.#call(this.#request(paths.sms, 'cancel_batch', which, false), options),
        /** Returns the latest 20 matching records. */
        logs: (which, options) => this.#call(this.#request(paths.sms, 'get_logs', which, false), options),
    };
    identity = {
        /** Checks whether name and number match. Costs a credit, which is refunded if there is no result. */
        verify: (person, options) => this.#call({ path: paths.identity, values: { ...person }, paid: true, read: outcomeOf }, options),
    };
    domains = {
        /** Checks which URLs are blocked. Costs a credit for each item; failed items are refunded. */
        check: (domains, options) => this.#call({
            path: paths.domains,
            values: { username: this.#username, ...domains },
            paid: true,
            read: dataOf,
        }, options),
    };
    #request(path, action, values, paid) {
        return { path, values: { username: this.#username, action, ...values }, paid, read: dataOf };
    }
    #page(path, action, values, options) {
        const read = (body) => Array.isArray(body['data'])
            ? { items: body['data'], next_cursor: body['next_cursor'] ?? null }
            : undefined;
        return this.#call({ ...this.#request(path, action, values, false), read }, options);
    }
    #call(request, options) {
        return (0, transport_ts_1.call)(this.#transport, request, options);
    }
}
exports.Tollgate = Tollgate;
