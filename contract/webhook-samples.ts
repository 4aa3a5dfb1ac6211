// Code that verifies the signature of a webhook. Tests run each sample against real signatures.
export const verifySampleLanguages = ['PHP', 'Python', 'Java', 'Node.js', 'Go'] as const

export type VerifySampleLanguage = (typeof verifySampleLanguages)[number]

export const verifySamples: Readonly<Record<VerifySampleLanguage, string>> = {
  PHP: `<?php
function verify_webhook(string $secret, array $headers, string $body): bool {
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $key = base64_decode(substr($secret, strlen('whsec_')));
    if (strlen($key) < 24) {
        throw new InvalidArgumentException('the webhook secret is missing or incomplete');
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}
`,
  Python: `import base64, hashlib, hmac, time

def verify_webhook(secret: str, headers: dict, body: bytes) -> bool:
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    message_id, timestamp, signatures = (headers.get(name) or "" for name in names)
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if len(key) < 24:
        raise ValueError("the webhook secret is missing or incomplete")
    signed = f"{message_id}.{timestamp}.".encode("utf-8", "replace") + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = signatures.encode("utf-8", "replace").split(b" ")
    return any(hmac.compare_digest(expected, one) for one in given)
`,
  Java: `import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Webhooks {
    static boolean verify(String secret, Map<String, String> headers, byte[] body) throws Exception {
        // An absent header is the text "null", which nobody signed.
        String timestamp = String.valueOf(headers.get("webhook-timestamp"));
        if (!timestamp.matches("\\\\d{1,12}")
                || Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(timestamp)) > 300) {
            return false;
        }
        byte[] key = Base64.getDecoder().decode(secret.substring("whsec_".length()));
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        mac.update((headers.get("webhook-id") + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
        byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body)))
                .getBytes(StandardCharsets.UTF_8);
        for (String signature : String.valueOf(headers.get("webhook-signature")).split(" ")) {
            if (MessageDigest.isEqual(expected, signature.getBytes(StandardCharsets.UTF_8))) {
                return true;
            }
        }
        return false;
    }
}
`,
  'Node.js': `import { createHmac, timingSafeEqual } from 'node:crypto'

export function verifyWebhook(secret, headers, body) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  if (!/^\\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  if (key.length < 24) throw new TypeError('the webhook secret is missing or incomplete')
  const hmac = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(body)
  const expected = Buffer.from('v1,' + hmac.digest('base64'))
  return (headers['webhook-signature'] ?? '').split(' ').some((one) => {
    const given = Buffer.from(one)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}
`,
  Go: `package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func Verify(secret string, header http.Header, body []byte) bool {
	timestamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) < 24 {
		panic("the webhook secret is missing or incomplete")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header.Get("webhook-id") + "." + timestamp + "."))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(expected), []byte(signature)) {
			return true
		}
	}
	return false
}
`,
}
