package tollgate

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	mathrand "math/rand"
	"net"
	"net/http"
	"strconv"
	"time"
)

// No response of the service is as large as this.
const maxResponseBytes = 64 << 20

// CallOption changes one call.
type CallOption func(*callOptions)

type callOptions struct {
	idempotencyKey string
	timeout        time.Duration
}

// WithIdempotencyKey replaces the random key of an operation that costs credits, for example by an order number. A call with a
// key that was used before returns the stored response and costs nothing.
func WithIdempotencyKey(key string) CallOption {
	return func(o *callOptions) { o.idempotencyKey = key }
}

// WithTimeout replaces the timeout of each attempt.
func WithTimeout(timeout time.Duration) CallOption {
	return func(o *callOptions) { o.timeout = timeout }
}

// call sends the values, retries what is safe to retry, and decodes the response into out.
func (c *Client) call(ctx context.Context, path string, values any, paid bool, out any, options []CallOption) error {
	given := callOptions{timeout: c.timeout}
	for _, option := range options {
		option(&given)
	}
	body, err := json.Marshal(values)
	if err != nil {
		return err
	}
	key := ""
	if paid {
		if key = given.idempotencyKey; key == "" {
			key = newIdempotencyKey()
		}
	}
	for attempt := 0; ; attempt++ {
		err := c.attempt(ctx, path, body, key, given.timeout, out)
		if err == nil || ctx.Err() != nil || attempt >= c.retries {
			return err
		}
		delay, ok := retryDelay(err, attempt)
		if !ok || delay > c.maxWait {
			return err
		}
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

func (c *Client) attempt(ctx context.Context, path string, body []byte, key string, timeout time.Duration, out any) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(limited, http.MethodPost, c.baseURL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Accept-Language", c.language)
	request.Header.Set("Api-Key", c.apiKey)
	request.Header.Set("User-Agent", "tollgate-go/"+Version)
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return networkError(ctx, err, key)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponseBytes))
	if err != nil {
		return networkError(ctx, err, key)
	}
	return readResponse(response, text, key, out)
}

func networkError(ctx context.Context, err error, key string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &timeout) && timeout.Timeout()) {
		return &TimeoutError{IdempotencyKey: key, Err: err}
	}
	// The error of net/http names the address and the reason.
	return &ConnectionError{Message: "the service could not be reached: " + err.Error(), IdempotencyKey: key, Err: err}
}

func readResponse(response *http.Response, text []byte, key string, out any) error {
	requestID := response.Header.Get("X-Request-Id")
	foreign := &ConnectionError{
		Message:        fmt.Sprintf("HTTP %d without a response of the service", response.StatusCode),
		RequestID:      requestID,
		IdempotencyKey: key,
	}
	var envelope struct {
		Code    *int   `json:"code"`
		Message string `json:"message"`
	}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) || json.Unmarshal(text, &envelope) != nil {
		return foreign
	}
	failed := response.StatusCode >= 400
	code := 0
	if envelope.Code != nil {
		code = *envelope.Code
		failed = code != 0
	}
	if failed {
		message := envelope.Message
		if message == "" {
			message = fmt.Sprintf("HTTP %d", response.StatusCode)
		}
		return &APIError{
			Message:        message,
			Status:         response.StatusCode,
			Code:           code,
			RetryAfter:     readSeconds(response.Header.Get("Retry-After")),
			RequestID:      requestID,
			IdempotencyKey: key,
		}
	}
	if response.StatusCode >= 300 || json.Unmarshal(text, out) != nil {
		return foreign
	}
	return nil
}

// retryDelay returns false if a retry is useless.
func retryDelay(err error, attempt int) (time.Duration, bool) {
	backoff := time.Duration(float64(250*time.Millisecond) * math.Pow(2, float64(attempt)) * (0.5 + mathrand.Float64()))
	var api *APIError
	if !errors.As(err, &api) {
		var timeout *TimeoutError
		var connection *ConnectionError
		return backoff, errors.As(err, &timeout) || errors.As(err, &connection)
	}
	switch {
	case api.RetryAfter != nil:
		return time.Duration(*api.RetryAfter * float64(time.Second)), true
	// A service may be configured to return HTTP 200 for errors; then the code decides.
	case api.Code == CodeInternal:
		return backoff, true
	}
	switch api.Status {
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable:
		return backoff, true
	}
	return 0, false
}

func readSeconds(header string) *float64 {
	seconds, err := strconv.ParseFloat(header, 64)
	if err != nil || seconds < 0 || seconds > 1e6 {
		return nil
	}
	return &seconds
}

func newIdempotencyKey() string {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		panic(err) // The operating system has no random numbers: nothing can be sent safely.
	}
	return hex.EncodeToString(random)
}
