package tollgate

import "context"

// Identity has the operation of identity verification.
type Identity struct{ c *Client }

// Verification is the result of an identity verification. Success is false if there is no record or the provider failed; the
// credit is refunded.
type Verification struct {
	Success bool           `json:"success"`
	Message string         `json:"message"`
	Matched bool           `json:"matched"`
	Extra   map[string]any `json:"extra"`
}

// verdict tells an absent field from a false one.
type verdict struct {
	Success *bool          `json:"success"`
	Message string         `json:"message"`
	Matched *bool          `json:"matched"`
	Extra   map[string]any `json:"extra"`
}

func (v *verdict) isComplete() bool { return v.Success != nil && v.Matched != nil }

// Verify checks whether name and number match. It costs a credit, which is refunded if there is no result.
func (i *Identity) Verify(ctx context.Context, name string, idcard string, options ...CallOption) (*Verification, error) {
	values := struct {
		Name   string `json:"name"`
		IDCard string `json:"idcard"`
	}{name, idcard}
	var out verdict
	if err := i.c.call(ctx, identityPath, values, true, &out, options); err != nil {
		return nil, err
	}
	return &Verification{Success: *out.Success, Message: out.Message, Matched: *out.Matched, Extra: out.Extra}, nil
}

// Domains has the operation of the domain block check.
type Domains struct{ c *Client }

// CheckedDomains has one result per item of AllURLs, in the same order.
type CheckedDomains struct {
	AllURLs []struct {
		URL  string `json:"url"`
		Type string `json:"type"`
	} `json:"all_urls"`
	Results          []string `json:"results"`
	RemainingCredits int64    `json:"remaining_credits"`
}

// Check checks which URLs are blocked; checkRandom also checks a random subdomain of each. It costs a credit for each item; failed
// items are refunded.
func (d *Domains) Check(ctx context.Context, urls []string, checkRandom bool, options ...CallOption) (*CheckedDomains, error) {
	values := struct {
		common
		URLs        []string `json:"urls"`
		CheckRandom bool     `json:"check_random"`
	}{d.c.common(""), urls, checkRandom}
	return data[CheckedDomains](ctx, d.c, domainsPath, values, true, options)
}
