package tollgate

import "fmt"

// The documented codes of [APIError]. Short links have no codes: Code is 0, check Status.
const (
	CodeMissingParameters     = 1001
	CodeWrongParameters       = 1002
	CodeWrongCredentials      = 1003
	CodeNotAllowedOrNoCredits = 1004
	CodeOperationFailed       = 1005
	CodeSMSNotEnabled         = 1006
	CodeNoSuchTemplate        = 1007
	CodeTooFrequent           = 429
	CodeInternal              = 5000
)

// APIError says that the service returned an error.
type APIError struct {
	Message string
	// Status is the HTTP status.
	Status int
	// Code is the documented code, 0 for short links.
	Code int
	// RetryAfter has the seconds to wait before a retry, nil if the service named none.
	RetryAfter *float64
	// RequestID is the X-Request-Id of the response.
	RequestID string
	// IdempotencyKey of the call: a retry with it is not charged twice.
	IdempotencyKey string
}

func (e *APIError) Error() string {
	facts := fmt.Sprintf("HTTP %d", e.Status)
	if e.Code != 0 {
		facts += fmt.Sprintf(", code %d", e.Code)
	}
	if e.RetryAfter != nil {
		facts += fmt.Sprintf(", retry after %g s", *e.RetryAfter)
	}
	if e.RequestID != "" {
		facts += ", request " + e.RequestID
	}
	return fmt.Sprintf("tollgate: %s (%s)", e.Message, facts)
}

// TimeoutError says that no response arrived in time. The call may or may not have been executed.
type TimeoutError struct {
	Message        string
	IdempotencyKey string
	Err            error
}

func (e *TimeoutError) Error() string { return "tollgate: " + e.Message }

func (e *TimeoutError) Unwrap() error { return e.Err }

// ConnectionError says that the service could not be reached, that the connection was lost, or that the response did not come
// from the service.
type ConnectionError struct {
	Message        string
	RequestID      string
	IdempotencyKey string
	Err            error
}

func (e *ConnectionError) Error() string { return "tollgate: " + e.Message }

func (e *ConnectionError) Unwrap() error { return e.Err }

// CanceledError says that the context of the call ended before a response arrived. The call may or may not have been executed.
// It wraps the error of the context: errors.Is(err, context.Canceled).
type CanceledError struct {
	Message        string
	IdempotencyKey string
	Err            error
}

func (e *CanceledError) Error() string { return "tollgate: " + e.Message }

func (e *CanceledError) Unwrap() error { return e.Err }
