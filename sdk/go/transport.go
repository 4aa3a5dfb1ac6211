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
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// No response of the service is as large as this.
const maxResponseBytes = 16 << 20

// The package json replaces bytes that are not UTF-8 by this escape, and would send and charge a text that nobody wrote. It writes a
// valid U+FFFD as it is, and a backslash of a text as two.
var invalidUTF8 = regexp.MustCompile(`[^\\](\\\\)*\\ufffd`)

// result is what a response is decoded into.
type result interface {
	// isComplete returns false if a field is absent that every response of the service has.
	isComplete() bool
}

// CallOption changes one call.
type CallOption func(*callOptions)

type callOptions struct {
	idempotencyKey *string
	timeout        time.Duration
	once           bool
}

// once marks a free operation whose repetition has another result: it is retried only if the service says that it executed nothing.
func once(options []CallOption) []CallOption {
	return append([]CallOption{func(o *callOptions) { o.once = true }}, options...)
}

// WithIdempotencyKey replaces the random key of an operation that costs credits, for example by an order number. A call with a
// key that was used before returns the stored response and costs nothing.
func WithIdempotencyKey(key string) CallOption {
	return func(o *callOptions) { o.idempotencyKey = &key }
}

// WithTimeout replaces the timeout of each attempt.
func WithTimeout(timeout time.Duration) CallOption {
	return func(o *callOptions) { o.timeout = timeout }
}

// call sends the values, retries what is safe to retry, and decodes the response into out.
func (c *Client) call(ctx context.Context, path string, values any, paid bool, out result, options []CallOption) error {
	given := callOptions{timeout: c.timeout}
	for _, option := range options {
		option(&given)
	}
	body, err := json.Marshal(values)
	if err != nil {
		return err
	}
	if invalidUTF8.Match(body) {
		return errors.New("tollgate: a text is not valid UTF-8: convert it first, for example from GBK")
	}
	key := ""
	if paid {
		if given.idempotencyKey == nil {
			key = newIdempotencyKey()
		} else {
			key = *given.idempotencyKey
		}
		if key == "" || len(key) > 255 || !isVisibleASCII(key) {
			return errors.New("tollgate: the idempotency key must have 1 to 255 visible ASCII characters")
		}
	}
	for attempt := 0; ; attempt++ {
		err := c.attempt(ctx, path, body, key, given.timeout, out)
		if err == nil || ctx.Err() != nil || attempt >= c.retries {
			return err
		}
		delay, ok := retryDelay(err, attempt, given.once)
		if !ok || delay > c.maxWait {
			return err
		}
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
			return canceled(ctx, key)
		case <-timer.C:
		}
	}
}

func (c *Client) attempt(ctx context.Context, path string, body []byte, key string, timeout time.Duration, out result) error {
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
		return c.networkError(ctx, err, key, timeout)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponseBytes+1))
	if err != nil {
		return c.networkError(ctx, err, key, timeout)
	}
	return c.readResponse(response, text, key, out)
}

func (c *Client) networkError(ctx context.Context, err error, key string, timeout time.Duration) error {
	if ctx.Err() != nil {
		return canceled(ctx, key)
	}
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &network) && network.Timeout()) {
		message := fmt.Sprintf("no response from %s within %v; the call may have been executed", c.baseURL, timeout)
		return &TimeoutError{Message: message, IdempotencyKey: key, Err: err}
	}
	reason := err
	var whole *url.Error
	if errors.As(err, &whole) {
		reason = whole.Err
	}
	format := "the service at %s could not be reached: %v"
	var operation *net.OpError
	isLost := errors.As(err, &operation) && (operation.Op == "read" || operation.Op == "write")
	if isLost || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		format = "the connection to %s was lost before the response was complete: %v"
	}
	return &ConnectionError{Message: fmt.Sprintf(format, c.baseURL, reason), IdempotencyKey: key, Err: err}
}

func canceled(ctx context.Context, key string) error {
	message := fmt.Sprintf("the context of the call ended; the call may have been executed: %v", ctx.Err())
	return &CanceledError{Message: message, IdempotencyKey: key, Err: ctx.Err()}
}

func (c *Client) readResponse(response *http.Response, text []byte, key string, out result) error {
	requestID := response.Header.Get("X-Request-Id")
	foreign := func() error {
		message := fmt.Sprintf("not a response of Tollgate: HTTP %d from %s%s", response.StatusCode, c.baseURL,
			c.describeBody(response, text))
		return &ConnectionError{Message: message, RequestID: requestID, IdempotencyKey: key}
	}
	var envelope struct {
		Code    *int   `json:"code"`
		Message string `json:"message"`
	}
	if len(text) > maxResponseBytes || !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) || json.Unmarshal(text, &envelope) != nil {
		return foreign()
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
	if response.StatusCode >= 300 || json.Unmarshal(text, out) != nil || !out.isComplete() {
		return foreign()
	}
	return nil
}

// describeBody returns what helps to find a wrong base URL or a proxy that responds itself.
func (c *Client) describeBody(response *http.Response, text []byte) string {
	if len(text) > maxResponseBytes {
		return fmt.Sprintf(", larger than %d bytes", maxResponseBytes)
	}
	if location := response.Header.Get("Location"); location != "" {
		return ", redirect to " + location
	}
	start := strings.ReplaceAll(strings.ToValidUTF8(string(text), "?"), c.apiKey, "***")
	start = strings.Join(strings.Fields(start), " ")
	if characters := []rune(start); len(characters) > 100 {
		start = string(characters[:100])
	}
	if start == "" {
		return ", empty"
	}
	return ": " + start
}

// retryDelay returns false if a retry is useless.
func retryDelay(err error, attempt int, once bool) (time.Duration, bool) {
	backoff := time.Duration(float64(250*time.Millisecond) * math.Pow(2, float64(attempt)) * (0.5 + mathrand.Float64()))
	var api *APIError
	if !errors.As(err, &api) {
		var timeout *TimeoutError
		var connection *ConnectionError
		return backoff, !once && (errors.As(err, &timeout) || errors.As(err, &connection))
	}
	switch {
	case api.RetryAfter != nil:
		return time.Duration(*api.RetryAfter * float64(time.Second)), true
	case api.Status == http.StatusTooManyRequests || api.Status == http.StatusServiceUnavailable:
		return backoff, true
	case once:
		return 0, false
	// A service may be configured to return HTTP 200 for errors; then the code decides.
	case api.Code == CodeInternal || api.Status == http.StatusConflict || api.Status == http.StatusInternalServerError:
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

func isVisibleASCII(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] < 0x21 || text[i] > 0x7e {
			return false
		}
	}
	return true
}

func newIdempotencyKey() string {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		panic(err) // The operating system has no random numbers: nothing can be sent safely.
	}
	return hex.EncodeToString(random)
}
