"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.verifyWebhook = verifyWebhook;
// Verifies webhooks: Standard Webhooks 1.0 signatures.
const node_crypto_1 = require("node:crypto");
/** How far the time of a request may differ from ours. */
const toleranceSeconds = 300;
/** Of Standard Webhooks. With a shorter key, or none, anybody could sign. */
const minKeyBytes = 24;
/**
 * Returns the event if the request was signed with the secret within the last five minutes, otherwise undefined. `body` is the
 * raw body; header names are in lower case, as in `request.headers` of Node.js. Throws a TypeError if `secret` is not a secret
 * of a webhook.
 */
function verifyWebhook(secret, headers, body) {
    const key = readKey(secret);
    const id = textOf(headers['webhook-id']);
    const timestamp = textOf(headers['webhook-timestamp']);
    if (!/^\d{1,12}$/.test(timestamp))
        return undefined;
    if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds)
        return undefined;
    const hmac = (0, node_crypto_1.createHmac)('sha256', key).update(`${id}.${timestamp}.`).update(body);
    const expected = Buffer.from(`v1,${hmac.digest('base64')}`);
    const isSigned = textOf(headers['webhook-signature'])
        .split(' ')
        .some((signature) => {
        const given = Buffer.from(signature);
        return given.length === expected.length && (0, node_crypto_1.timingSafeEqual)(given, expected);
    });
    if (!isSigned)
        return undefined;
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
}
/** Programs in JavaScript may pass a variable that is not set. */
function readKey(secret) {
    const text = typeof secret === 'string' ? secret.replace(/^whsec_/, '') : '';
    const key = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0);
    if (key.length < minKeyBytes)
        throw new TypeError('the webhook secret is missing or incomplete: copy it from the console (whsec_…)');
    return key;
}
function textOf(value) {
    return typeof value === 'string' ? value : (value?.[0] ?? '');
}
