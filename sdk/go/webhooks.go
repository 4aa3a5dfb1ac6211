package tollgate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// How far the time of a request may differ from ours.
const toleranceSeconds = 300

// Of Standard Webhooks. With a shorter key, or none, anybody could sign.
const minKeyBytes = 24

// ErrInvalidSignature says that a request was not signed with the secret within the last five minutes.
var ErrInvalidSignature = errors.New("tollgate: the webhook was not signed with this secret within the last five minutes")

// ErrInvalidSecret says that the secret given to [VerifyWebhook] is not one of a webhook, for example because it is empty.
var ErrInvalidSecret = errors.New("tollgate: the webhook secret is missing or incomplete: copy it from the console (whsec_…)")

// Event is what a webhook reports.
type Event struct {
	Type string `json:"type"`
	// Timestamp says when the event happened, ISO 8601.
	Timestamp string         `json:"timestamp"`
	Data      map[string]any `json:"data"`
}

// VerifyWebhook returns the event of a request that was signed with the secret (Standard Webhooks 1.0) within the last five
// minutes. body is the raw body.
func VerifyWebhook(secret string, header http.Header, body []byte) (*Event, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) < minKeyBytes {
		return nil, ErrInvalidSecret
	}
	timestamp := header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return nil, ErrInvalidSignature
	}
	if age := time.Now().Unix() - seconds; age > toleranceSeconds || age < -toleranceSeconds {
		return nil, ErrInvalidSignature
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header.Get("Webhook-Id") + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	signed := false
	for _, signature := range strings.Split(header.Get("Webhook-Signature"), " ") {
		signed = hmac.Equal([]byte(signature), expected) || signed
	}
	if !signed {
		return nil, ErrInvalidSignature
	}
	var event Event
	if err := json.Unmarshal(body, &event); err != nil {
		return nil, err
	}
	return &event, nil
}
