package tollgate

import "context"

// SMS has the operations of template SMS, and the credit balances of all products.
type SMS struct{ c *Client }

// Message is an SMS. PhoneNumber and TemplateCode are required.
type Message struct {
	PhoneNumber    string            `json:"phone_number"`
	TemplateCode   string            `json:"template_code"`
	TemplateParams map[string]string `json:"template_params,omitempty"`
	SignName       string            `json:"sign_name,omitempty"`
}

// SentMessage is an SMS that was sent.
type SentMessage struct {
	PhoneNumber      string `json:"phone_number"`
	BizID            string `json:"biz_id"`
	SendTime         string `json:"send_time"`
	RemainingCredits int64  `json:"remaining_credits"`
}

// BatchMessage is one message of a batch.
type BatchMessage struct {
	PhoneNumber    string            `json:"phone_number"`
	TemplateParams map[string]string `json:"template_params,omitempty"`
}

// Batch has 1 to 1,000 messages: PhoneNumbers with the same TemplateParams, or Messages. SendAt is `YYYY-MM-DD HH:MM:SS`,
// Asia/Shanghai; empty: immediately.
type Batch struct {
	TemplateCode   string            `json:"template_code"`
	SignName       string            `json:"sign_name,omitempty"`
	PhoneNumbers   []string          `json:"phone_numbers,omitempty"`
	TemplateParams map[string]string `json:"template_params,omitempty"`
	Messages       []BatchMessage    `json:"messages,omitempty"`
	SendAt         string            `json:"send_at,omitempty"`
}

// AcceptedBatch is the response to a batch.
type AcceptedBatch struct {
	BatchID  string `json:"batch_id"`
	Accepted int    `json:"accepted"`
	Rejected []struct {
		Index        int    `json:"index"`
		PhoneNumber  string `json:"phone_number"`
		ErrorMessage string `json:"error_message"`
	} `json:"rejected"`
	SendAt           string `json:"send_at"`
	RemainingCredits int64  `json:"remaining_credits"`
}

// BatchStatus is the progress of a batch and a page of its messages.
type BatchStatus struct {
	BatchID     string       `json:"batch_id"`
	State       string       `json:"state"`
	SendAt      string       `json:"send_at"`
	Total       int          `json:"total"`
	Succeeded   int          `json:"succeeded"`
	Failed      int          `json:"failed"`
	Pending     int          `json:"pending"`
	CreditsUsed int64        `json:"credits_used"`
	Items       []SendRecord `json:"items"`
	NextCursor  *string      `json:"next_cursor"`
}

// CancelledBatch says how many messages of a batch were cancelled.
type CancelledBatch struct {
	BatchID          string `json:"batch_id"`
	Cancelled        int    `json:"cancelled"`
	RemainingCredits int64  `json:"remaining_credits"`
}

// VerificationCode asks the service to make and send a code. PhoneNumber and TemplateCode are required.
type VerificationCode struct {
	PhoneNumber  string `json:"phone_number"`
	TemplateCode string `json:"template_code"`
	SignName     string `json:"sign_name,omitempty"`
	Length       int    `json:"length,omitempty"`
	TTLSeconds   int    `json:"ttl_s,omitempty"`
	Purpose      string `json:"purpose,omitempty"`
}

// SentCode is a code that was sent.
type SentCode struct {
	SentMessage
	ExpiresAt string `json:"expires_at"`
}

// CodeCheck is a code that a user typed.
type CodeCheck struct {
	PhoneNumber string `json:"phone_number"`
	Code        string `json:"code"`
	Purpose     string `json:"purpose,omitempty"`
}

// CheckedCode is the result of a check.
type CheckedCode struct {
	Verified     bool `json:"verified"`
	AttemptsLeft int  `json:"attempts_left"`
}

// Template is a template of the account.
type Template struct {
	TemplateCode    string `json:"template_code"`
	TemplateName    string `json:"template_name"`
	TemplateContent string `json:"template_content"`
	Status          string `json:"status"`
}

// Signature is a signature of the account.
type Signature struct {
	SignName  string `json:"sign_name"`
	State     string `json:"state"`
	IsDefault bool   `json:"is_default"`
}

// Credits is a credit balance.
type Credits struct {
	APIType        string  `json:"api_type"`
	APITypeName    string  `json:"api_type_name"`
	Total          int64   `json:"total"`
	Used           int64   `json:"used"`
	Remaining      int64   `json:"remaining"`
	PercentageUsed float64 `json:"percentage_used"`
}

// SendFilter selects send records: at least one of BizID, PhoneNumber and StartDate.
type SendFilter struct {
	BizID       string `json:"biz_id,omitempty"`
	PhoneNumber string `json:"phone_number,omitempty"`
	StartDate   string `json:"start_date,omitempty"`
	EndDate     string `json:"end_date,omitempty"`
	Limit       int    `json:"limit,omitempty"`
	Cursor      string `json:"cursor,omitempty"`
}

// SendRecord is the record of a message.
type SendRecord struct {
	PhoneNumber    string            `json:"phone_number"`
	TemplateCode   string            `json:"template_code"`
	TemplateParams map[string]string `json:"template_params"`
	SignName       string            `json:"sign_name"`
	BizID          string            `json:"biz_id"`
	Success        bool              `json:"success"`
	CreatedAt      string            `json:"created_at"`
	ErrorMessage   string            `json:"error_message"`
	State          string            `json:"state"`
	ReceiptTime    string            `json:"receipt_time"`
	ReceiptCode    string            `json:"receipt_code"`
	BatchID        string            `json:"batch_id"`
}

// SendRecords is a page of send records. NextCursor is set if Limit or Cursor was given and more follow.
type SendRecords struct {
	Data       []SendRecord `json:"data"`
	NextCursor *string      `json:"next_cursor,omitempty"`
}

func (r *SendRecords) isComplete() bool { return r.Data != nil }

// ReplyFilter selects replies.
type ReplyFilter struct {
	PhoneNumber string `json:"phone_number,omitempty"`
	StartDate   string `json:"start_date,omitempty"`
	EndDate     string `json:"end_date,omitempty"`
	Limit       int    `json:"limit,omitempty"`
	Cursor      string `json:"cursor,omitempty"`
}

// Reply is an SMS that a recipient sent back.
type Reply struct {
	PhoneNumber string `json:"phone_number"`
	Content     string `json:"content"`
	SignName    string `json:"sign_name"`
	BizID       string `json:"biz_id"`
	ReceivedAt  string `json:"received_at"`
}

// Replies is a page of replies. NextCursor is nil on the last page.
type Replies struct {
	Data       []Reply `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

func (r *Replies) isComplete() bool { return r.Data != nil }

// Send sends a message. It costs SMS credits for each billed part.
func (s *SMS) Send(ctx context.Context, message Message, options ...CallOption) (*SentMessage, error) {
	values := struct {
		common
		Message
	}{s.c.common("send_sms"), message}
	return data[SentMessage](ctx, s.c, smsPath, values, true, options)
}

// SendBatch sends 1 to 1,000 messages. It costs SMS credits and does not wait for the gateways.
func (s *SMS) SendBatch(ctx context.Context, batch Batch, options ...CallOption) (*AcceptedBatch, error) {
	values := struct {
		common
		Batch
	}{s.c.common("send_batch"), batch}
	return data[AcceptedBatch](ctx, s.c, smsPath, values, true, options)
}

// GetBatch returns the progress of a batch and a page of its messages. It is free.
func (s *SMS) GetBatch(ctx context.Context, batchID string, cursor string, limit int, options ...CallOption) (*BatchStatus, error) {
	values := struct {
		common
		BatchID string `json:"batch_id"`
		Cursor  string `json:"cursor,omitempty"`
		Limit   int    `json:"limit,omitempty"`
	}{s.c.common("get_batch"), batchID, cursor, limit}
	return data[BatchStatus](ctx, s.c, smsPath, values, false, options)
}

// CancelBatch cancels what has not started; its credits come back. It is free.
func (s *SMS) CancelBatch(ctx context.Context, batchID string, options ...CallOption) (*CancelledBatch, error) {
	values := struct {
		common
		BatchID string `json:"batch_id"`
	}{s.c.common("cancel_batch"), batchID}
	return data[CancelledBatch](ctx, s.c, smsPath, values, false, once(options))
}

// SendCode sends a verification code that the service makes. It costs SMS credits.
func (s *SMS) SendCode(ctx context.Context, code VerificationCode, options ...CallOption) (*SentCode, error) {
	values := struct {
		common
		VerificationCode
	}{s.c.common("send_code"), code}
	return data[SentCode](ctx, s.c, smsPath, values, true, options)
}

// CheckCode checks a verification code. A code is accepted once. It is free.
func (s *SMS) CheckCode(ctx context.Context, check CodeCheck, options ...CallOption) (*CheckedCode, error) {
	values := struct {
		common
		CodeCheck
	}{s.c.common("check_code"), check}
	return data[CheckedCode](ctx, s.c, smsPath, values, false, once(options))
}

// Templates returns the templates. It is free.
func (s *SMS) Templates(ctx context.Context, options ...CallOption) ([]Template, error) {
	list, err := data[[]Template](ctx, s.c, smsPath, s.c.common("get_templates"), false, options)
	if err != nil {
		return nil, err
	}
	return *list, nil
}

// Signatures returns the signatures. It is free.
func (s *SMS) Signatures(ctx context.Context, options ...CallOption) ([]Signature, error) {
	list, err := data[[]Signature](ctx, s.c, smsPath, s.c.common("get_signatures"), false, options)
	if err != nil {
		return nil, err
	}
	return *list, nil
}

// Credits returns a balance: of short_link, sms, id_verification or domain_check; sms if apiType is empty. It is free.
func (s *SMS) Credits(ctx context.Context, apiType string, options ...CallOption) (*Credits, error) {
	values := struct {
		common
		APIType string `json:"api_type,omitempty"`
	}{s.c.common("get_credits"), apiType}
	return data[Credits](ctx, s.c, smsPath, values, false, options)
}

// Logs returns the latest send records. It is free.
func (s *SMS) Logs(ctx context.Context, filter SendFilter, options ...CallOption) (*SendRecords, error) {
	values := struct {
		common
		SendFilter
	}{s.c.common("get_status"), filter}
	var out SendRecords
	if err := s.c.call(ctx, smsPath, values, false, &out, options); err != nil {
		return nil, err
	}
	return &out, nil
}

// Replies returns the latest replies. It is free.
func (s *SMS) Replies(ctx context.Context, filter ReplyFilter, options ...CallOption) (*Replies, error) {
	values := struct {
		common
		ReplyFilter
	}{s.c.common("get_replies"), filter}
	var out Replies
	if err := s.c.call(ctx, smsPath, values, false, &out, options); err != nil {
		return nil, err
	}
	return &out, nil
}
