"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.call = call;
// One call over HTTP: timeout, retries, and reading the response.
const node_crypto_1 = require("node:crypto");
const errors_ts_1 = require("./errors.js");
/** Safe to retry: nothing was executed, or the idempotency key prevents a second execution. */
const retryStatuses = new Set([409, 429, 500, 503]);
/** Free operations whose repetition has another result: retried only if the service says that it executed nothing. */
const onceActions = new Set(['check_code', 'cancel_batch', 'delete']);
const notExecutedStatuses = new Set([429, 503]);
/** No response of the service is as large as this. */
const maxResponseBytes = 16 * 1024 * 1024;
const userAgent = 'tollgate-node/1.0.0';
const knownCodes = new Set(Object.values(errors_ts_1.codes));
async function call(transport, request, options = {}) {
    const idempotencyKey = request.paid ? (options.idempotencyKey ?? (0, node_crypto_1.randomUUID)()) : undefined;
    if (idempotencyKey !== undefined && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey))
        throw new TypeError('idempotencyKey must have 1 to 255 visible ASCII characters');
    const body = JSON.stringify(request.values);
    for (let attempt = 0;; attempt += 1) {
        try {
            return (await attemptCall(transport, request, body, options, idempotencyKey));
        }
        catch (error) {
            if (options.signal?.aborted)
                throw aborted(options.signal, idempotencyKey);
            const waitMs = attempt < transport.retries ? retryDelay(error, request, attempt) : undefined;
            if (waitMs === undefined || waitMs > transport.longestWaitMs)
                throw error;
            await sleep(waitMs, options.signal);
            if (options.signal?.aborted)
                throw aborted(options.signal, idempotencyKey);
        }
    }
}
async function attemptCall(transport, request, body, options, idempotencyKey) {
    const timeoutMs = options.timeoutMs ?? transport.timeoutMs;
    const timeout = AbortSignal.timeout(timeoutMs);
    const stop = abortOnAny(options.signal, timeout);
    let response;
    let text;
    try {
        response = await transport.fetch(`${transport.baseUrl}${request.path}`, {
            method: 'POST',
            redirect: 'manual',
            headers: {
                'content-type': 'application/json',
                accept: 'application/json',
                'accept-language': transport.language,
                // Some proxies drop headers with underscores.
                'api-key': transport.apiKey,
                'user-agent': userAgent,
                ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
            },
            body,
            signal: stop.signal,
        });
        text = await readText(response);
    }
    catch (error) {
        if (options.signal?.aborted)
            throw error;
        const details = { idempotencyKey, cause: error };
        if (timeout.aborted) {
            throw new errors_ts_1.TollgateTimeoutError(`no response from ${transport.baseUrl} within ${timeoutMs / 1000} s; the call may have been executed`, details);
        }
        const { reason, wasConnected } = explain(error);
        throw new errors_ts_1.TollgateConnectionError(response || wasConnected
            ? `the connection to ${transport.baseUrl} was lost before the response was complete: ${reason}`
            : `the service at ${transport.baseUrl} could not be reached: ${reason}`, details);
    }
    finally {
        // Removes the listeners: a program may use one signal for all its calls.
        stop.abort();
    }
    return readResponse(transport, request, response, text, idempotencyKey);
}
/** Returns undefined if the body is too large. */
async function readText(response) {
    if (!response.body)
        return '';
    const reader = response.body.getReader();
    const chunks = [];
    let size = 0;
    for (;;) {
        const { value } = (await reader.read());
        if (!value)
            return new TextDecoder().decode(Buffer.concat(chunks));
        size += value.byteLength;
        if (size > maxResponseBytes) {
            await reader.cancel();
            return undefined;
        }
        chunks.push(value);
    }
}
/** `fetch` hides the reason in the cause of its error. */
function explain(error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    if (!(cause instanceof Error))
        return { reason: String(cause), wasConnected: false };
    const { code } = cause;
    return {
        // The message of OpenSSL has addresses of memory and lines of its source.
        reason: code?.startsWith('ERR_SSL_') ? code : cause.message || (code ?? cause.name),
        wasConnected: code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE',
    };
}
function readResponse(transport, request, response, text, idempotencyKey) {
    const details = { requestId: response.headers.get('x-request-id') ?? undefined, idempotencyKey };
    const foreign = () => new errors_ts_1.TollgateConnectionError(`not a response of Tollgate: HTTP ${response.status} from ${transport.baseUrl}${describeBody(transport, response, text)}`, details);
    const body = text === undefined ? undefined : parseObject(text);
    if (!body)
        throw foreign();
    const { code, message } = body;
    const isError = typeof code === 'number' ? code !== 0 : response.status >= 400;
    if (isError) {
        const error = {
            status: response.status,
            code: knownCodes.has(code) ? code : undefined,
            retryAfter: readSeconds(response.headers.get('retry-after')),
        };
        throw new errors_ts_1.TollgateApiError(typeof message === 'string' ? message : `HTTP ${response.status}`, error, details);
    }
    const result = response.status >= 300 ? undefined : request.read(body);
    if (result === undefined)
        throw foreign();
    return result;
}
/** What helps to find a wrong base URL or a proxy that responds itself. */
function describeBody(transport, response, text) {
    if (text === undefined)
        return `, larger than ${maxResponseBytes} bytes`;
    const location = response.headers.get('location');
    if (location !== null)
        return `, redirect to ${location}`;
    const start = text.replaceAll(transport.apiKey, '***').replace(/\s+/g, ' ').trim().slice(0, 100);
    return start === '' ? ', empty' : `: ${start}`;
}
/** Milliseconds to wait before a retry; undefined if a retry is useless. */
function retryDelay(error, request, attempt) {
    const backoff = 250 * 2 ** attempt * (0.5 + Math.random());
    const isOnce = onceActions.has(request.values['action']);
    if (isOnce && !(error instanceof errors_ts_1.TollgateApiError))
        return undefined;
    if (error instanceof errors_ts_1.TollgateTimeoutError || error instanceof errors_ts_1.TollgateConnectionError)
        return backoff;
    if (!(error instanceof errors_ts_1.TollgateApiError))
        return undefined;
    // A service may be configured to return HTTP 200 for errors; then the code and the header decide.
    const canRetry = error.retryAfter !== undefined ||
        (isOnce
            ? notExecutedStatuses.has(error.status)
            : retryStatuses.has(error.status) || error.code === errors_ts_1.codes.internal);
    if (!canRetry)
        return undefined;
    return error.retryAfter === undefined ? backoff : error.retryAfter * 1000;
}
function parseObject(text) {
    try {
        const value = JSON.parse(text);
        return typeof value === 'object' && value !== null && !Array.isArray(value)
            ? value
            : undefined;
    }
    catch {
        return undefined;
    }
}
function readSeconds(header) {
    const seconds = Number(header);
    return header !== null && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
/** AbortSignal.any requires Node 20. */
function abortOnAny(...signals) {
    const controller = new AbortController();
    for (const signal of signals) {
        if (!signal)
            continue;
        if (signal.aborted)
            controller.abort(signal.reason);
        signal.addEventListener('abort', () => controller.abort(signal.reason), {
            once: true,
            signal: controller.signal,
        });
    }
    return controller;
}
function aborted(signal, idempotencyKey) {
    return new errors_ts_1.TollgateAbortError({ idempotencyKey, cause: signal.reason });
}
/** Until the time is over or the signal is aborted. */
function sleep(ms, signal) {
    return new Promise((resolve) => {
        const end = () => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', end);
            resolve();
        };
        const timer = setTimeout(end, ms);
        signal?.addEventListener('abort', end);
    });
}
