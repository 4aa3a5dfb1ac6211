// Runs calls for the test of all clients: one JSON object per line in, one out.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	tollgate "tollgate/sdk"
)

type request struct {
	Client struct {
		BaseURL  string  `json:"base_url"`
		Username string  `json:"username"`
		APIKey   string  `json:"api_key"`
		Timeout  float64 `json:"timeout"`
		Retries  *int    `json:"retries"`
		MaxWait  float64 `json:"max_wait"`
		Language string  `json:"language"`
	} `json:"client"`
	Call    string          `json:"call"`
	Params  json.RawMessage `json:"params"`
	Options struct {
		IdempotencyKey *string `json:"idempotency_key"`
	} `json:"options"`
}

func seconds(value float64) time.Duration { return time.Duration(value * float64(time.Second)) }

func read[T any](params json.RawMessage) T {
	var value T
	if len(params) > 0 {
		if err := json.Unmarshal(params, &value); err != nil {
			panic(err)
		}
	}
	return value
}

type webhook struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func verify(params json.RawMessage) (any, error) {
	given := read[webhook](params)
	header := http.Header{}
	for name, value := range given.Headers {
		header.Set(name, value)
	}
	event, err := tollgate.VerifyWebhook(given.Secret, header, []byte(given.Body))
	if errors.Is(err, tollgate.ErrInvalidSignature) {
		return nil, nil
	}
	return event, err
}

type fields struct {
	LinkID      int64                     `json:"link_id"`
	ShortCode   string                    `json:"short_code"`
	Links       []tollgate.LinkParameters `json:"links"`
	BatchID     string                    `json:"batch_id"`
	Cursor      string                    `json:"cursor"`
	Limit       int                       `json:"limit"`
	APIType     string                    `json:"api_type"`
	Name        string                    `json:"name"`
	IDCard      string                    `json:"idcard"`
	URLs        []string                  `json:"urls"`
	CheckRandom bool                      `json:"check_random"`
}

func run(r request) (any, error) {
	if r.Call == "webhooks.verify" {
		return verify(r.Params)
	}
	options := tollgate.Options{
		BaseURL:  r.Client.BaseURL,
		Username: r.Client.Username,
		APIKey:   r.Client.APIKey,
		Timeout:  seconds(r.Client.Timeout),
		MaxWait:  seconds(r.Client.MaxWait),
		Language: r.Client.Language,
	}
	if r.Client.Retries != nil {
		if options.Retries = *r.Client.Retries; options.Retries == 0 {
			options.Retries = -1
		}
	}
	c, err := tollgate.New(options)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	var with []tollgate.CallOption
	if r.Options.IdempotencyKey != nil {
		with = append(with, tollgate.WithIdempotencyKey(*r.Options.IdempotencyKey))
	}
	p := read[fields](r.Params)
	switch r.Call {
	case "shortlink.generate":
		return c.ShortLinks.Generate(ctx, read[tollgate.LinkParameters](r.Params), with...)
	case "shortlink.generate_batch":
		return c.ShortLinks.GenerateBatch(ctx, p.Links, with...)
	case "shortlink.update":
		return c.ShortLinks.Update(ctx, read[tollgate.LinkUpdate](r.Params), with...)
	case "shortlink.execute_update":
		return c.ShortLinks.ExecuteUpdate(ctx, p.LinkID, p.ShortCode, with...)
	case "shortlink.get":
		return c.ShortLinks.Get(ctx, read[tollgate.LinkRef](r.Params), with...)
	case "shortlink.list":
		return c.ShortLinks.List(ctx, read[tollgate.LinkFilter](r.Params), with...)
	case "shortlink.stats":
		return c.ShortLinks.Stats(ctx, read[tollgate.StatsQuery](r.Params), with...)
	case "shortlink.pause":
		return c.ShortLinks.Pause(ctx, read[tollgate.LinkRef](r.Params), with...)
	case "shortlink.resume":
		return c.ShortLinks.Resume(ctx, read[tollgate.LinkRef](r.Params), with...)
	case "shortlink.delete":
		return c.ShortLinks.Delete(ctx, read[tollgate.LinkRef](r.Params), with...)
	case "sms.send":
		return c.SMS.Send(ctx, read[tollgate.Message](r.Params), with...)
	case "sms.send_batch":
		return c.SMS.SendBatch(ctx, read[tollgate.Batch](r.Params), with...)
	case "sms.get_batch":
		return c.SMS.GetBatch(ctx, p.BatchID, p.Cursor, p.Limit, with...)
	case "sms.cancel_batch":
		return c.SMS.CancelBatch(ctx, p.BatchID, with...)
	case "sms.send_code":
		return c.SMS.SendCode(ctx, read[tollgate.VerificationCode](r.Params), with...)
	case "sms.check_code":
		return c.SMS.CheckCode(ctx, read[tollgate.CodeCheck](r.Params), with...)
	case "sms.templates":
		return c.SMS.Templates(ctx, with...)
	case "sms.signatures":
		return c.SMS.Signatures(ctx, with...)
	case "sms.credits":
		return c.SMS.Credits(ctx, p.APIType, with...)
	case "sms.logs":
		return c.SMS.Logs(ctx, read[tollgate.SendFilter](r.Params), with...)
	case "sms.replies":
		return c.SMS.Replies(ctx, read[tollgate.ReplyFilter](r.Params), with...)
	case "identity.verify":
		return c.Identity.Verify(ctx, p.Name, p.IDCard, with...)
	case "domains.check":
		return c.Domains.Check(ctx, p.URLs, p.CheckRandom, with...)
	}
	return nil, fmt.Errorf("unknown call %s", r.Call)
}

func text(value string) any {
	if value == "" {
		return nil
	}
	return value
}

func describe(err error) map[string]any {
	var api *tollgate.APIError
	var timeout *tollgate.TimeoutError
	var connection *tollgate.ConnectionError
	switch {
	case errors.As(err, &api):
		var code any
		if api.Code != 0 {
			code = api.Code
		}
		return map[string]any{"kind": "api", "message": api.Message, "status": api.Status, "code": code,
			"retry_after": api.RetryAfter, "request_id": text(api.RequestID), "idempotency_key": text(api.IdempotencyKey)}
	case errors.As(err, &timeout):
		return map[string]any{"kind": "timeout", "message": err.Error(), "idempotency_key": text(timeout.IdempotencyKey)}
	case errors.As(err, &connection):
		return map[string]any{"kind": "connection", "message": err.Error(), "request_id": text(connection.RequestID),
			"idempotency_key": text(connection.IdempotencyKey)}
	}
	return map[string]any{"kind": "other", "message": err.Error()}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic(err)
		}
		answer := map[string]any{}
		if result, err := run(r); err != nil {
			answer["error"] = describe(err)
		} else {
			answer["result"] = result
		}
		if err := out.Encode(answer); err != nil {
			panic(err)
		}
	}
}
