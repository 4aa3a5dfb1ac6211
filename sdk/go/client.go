// Package tollgate is a client for the Tollgate open platform: short links, SMS, identity verification, domain block check.
package tollgate

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Version of the client.
const Version = "1.0.0"

const (
	shortLinkPath = "/api/shortlink_api.php"
	smsPath       = "/api/sms_api.php"
	identityPath  = "/api/id_verification_api.php"
	domainsPath   = "/api/video_platform_check.php"
)

// Options of a [Client]. BaseURL, Username and APIKey are required.
type Options struct {
	// BaseURL of the service, for example https://api.example.com.
	BaseURL  string
	Username string
	APIKey   string
	// Timeout of one attempt; default 30 seconds.
	Timeout time.Duration
	// Retries after a timeout, a lost connection, 409, 429, 500 or 503; default 2, negative for none.
	Retries int
	// MaxWait: if the service requires a longer wait, the error is returned instead; default 10 seconds.
	MaxWait time.Duration
	// Language of the messages: zh (default) or en.
	Language string
	// HTTPClient replaces the default one, for example to use a proxy.
	HTTPClient *http.Client
}

// Client calls the service for one account. It is safe for concurrent use.
type Client struct {
	baseURL  string
	username string
	apiKey   string
	timeout  time.Duration
	retries  int
	maxWait  time.Duration
	language string
	http     *http.Client

	ShortLinks *ShortLinks
	SMS        *SMS
	Identity   *Identity
	Domains    *Domains
}

// New returns a client for one account.
func New(options Options) (*Client, error) {
	if options.Username == "" {
		return nil, errors.New("tollgate: Username is missing")
	}
	if options.APIKey == "" {
		return nil, errors.New("tollgate: APIKey is missing")
	}
	if !strings.HasPrefix(options.BaseURL, "http://") && !strings.HasPrefix(options.BaseURL, "https://") {
		return nil, errors.New("tollgate: BaseURL must begin with http:// or https://")
	}
	if !isVisibleASCII(options.APIKey) {
		return nil, errors.New("tollgate: APIKey has a space, a line break or another character that no key contains")
	}
	c := &Client{
		baseURL:  strings.TrimRight(options.BaseURL, "/"),
		username: options.Username,
		apiKey:   options.APIKey,
		timeout:  options.Timeout,
		retries:  options.Retries,
		maxWait:  options.MaxWait,
		language: options.Language,
		http:     &http.Client{},
	}
	if c.timeout == 0 {
		c.timeout = 30 * time.Second
	}
	if c.retries == 0 {
		c.retries = 2
	}
	if c.maxWait == 0 {
		c.maxWait = 10 * time.Second
	}
	if c.language == "" {
		c.language = "zh"
	}
	if options.HTTPClient != nil {
		copied := *options.HTTPClient
		c.http = &copied
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.ShortLinks = &ShortLinks{c}
	c.SMS = &SMS{c}
	c.Identity = &Identity{c}
	c.Domains = &Domains{c}
	return c, nil
}

// String names the service and the account, so that a printed client does not show the key.
func (c Client) String() string { return "tollgate.Client(" + c.baseURL + ", " + c.username + ")" }

// GoString is what %#v prints.
func (c Client) GoString() string { return c.String() }

// common is what every operation with an action sends.
type common struct {
	Username string `json:"username"`
	Action   string `json:"action,omitempty"`
}

func (c *Client) common(action string) common { return common{c.username, action} }

type withData[T any] struct {
	Data *T `json:"data"`
}

func (w *withData[T]) isComplete() bool { return w.Data != nil }

// data calls an operation whose result is in `data`.
func data[T any](ctx context.Context, c *Client, path string, values any, paid bool, options []CallOption) (*T, error) {
	var out withData[T]
	if err := c.call(ctx, path, values, paid, &out, options); err != nil {
		return nil, err
	}
	return out.Data, nil
}
