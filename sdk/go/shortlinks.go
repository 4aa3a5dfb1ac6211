package tollgate

import "context"

// ShortLinks has the operations of short links.
type ShortLinks struct{ c *Client }

// Rule sends the visitors that match When to TargetURL. A value of When is a string or a list of strings.
type Rule struct {
	When      map[string]any `json:"when"`
	TargetURL string         `json:"target_url"`
}

// LinkParameters are the parameters of a new link. TargetURL and Title are required.
type LinkParameters struct {
	TargetURL    string   `json:"target_url"`
	Title        string   `json:"title"`
	RedirectType string   `json:"redirect_type,omitempty"`
	RedirectURLA string   `json:"redirect_url_a,omitempty"`
	ShortCode    string   `json:"short_code,omitempty"`
	ExpiresAt    string   `json:"expires_at,omitempty"`
	ExpiredURL   string   `json:"expired_url,omitempty"`
	MaxClicks    int64    `json:"max_clicks,omitempty"`
	Password     string   `json:"password,omitempty"`
	Tags         []string `json:"tags,omitempty"`
	ExternalID   string   `json:"external_id,omitempty"`
	Domain       string   `json:"domain,omitempty"`
	Rules        []Rule   `json:"rules,omitempty"`
}

// LinkUpdate changes a link. LinkID and TargetURL are required; empty fields stay as they are. Clear names fields to remove.
type LinkUpdate struct {
	LinkID       int64    `json:"link_id"`
	TargetURL    string   `json:"target_url"`
	Title        string   `json:"title,omitempty"`
	RedirectType string   `json:"redirect_type,omitempty"`
	RedirectURLA string   `json:"redirect_url_a,omitempty"`
	ExpiresAt    string   `json:"expires_at,omitempty"`
	ExpiredURL   string   `json:"expired_url,omitempty"`
	MaxClicks    int64    `json:"max_clicks,omitempty"`
	Password     string   `json:"password,omitempty"`
	Tags         []string `json:"tags,omitempty"`
	ExternalID   string   `json:"external_id,omitempty"`
	Rules        []Rule   `json:"rules,omitempty"`
	Clear        []string `json:"clear,omitempty"`
}

// LinkRef names a link by one of its fields.
type LinkRef struct {
	LinkID     int64  `json:"link_id,omitempty"`
	ShortCode  string `json:"short_code,omitempty"`
	ExternalID string `json:"external_id,omitempty"`
}

// GeneratedLink is a new link.
type GeneratedLink struct {
	LinkID           int64  `json:"link_id"`
	ShortCode        string `json:"short_code"`
	AURL             string `json:"a_url"`
	BURL             string `json:"b_url"`
	RemainingBalance int64  `json:"remaining_balance"`
}

// GeneratedLinks are the links of a batch.
type GeneratedLinks struct {
	Links []struct {
		Index     int    `json:"index"`
		LinkID    int64  `json:"link_id"`
		ShortCode string `json:"short_code"`
		AURL      string `json:"a_url"`
		BURL      string `json:"b_url"`
	} `json:"links"`
	RemainingBalance int64 `json:"remaining_balance"`
}

// ChangedLink is the result of a change. State is empty for an update and a deletion.
type ChangedLink struct {
	LinkID  int64  `json:"link_id"`
	State   string `json:"state,omitempty"`
	Message string `json:"message"`
}

// RefreshedLink has the new addresses of a link.
type RefreshedLink struct {
	LinkID           int64  `json:"link_id"`
	NewAURL          string `json:"new_a_url"`
	NewBURL          string `json:"new_b_url"`
	ShortCode        string `json:"short_code"`
	RemainingBalance int64  `json:"remaining_balance"`
	Message          string `json:"message"`
}

// Link is the record of a link. Absent texts are empty, absent numbers nil.
type Link struct {
	LinkID          int64    `json:"link_id"`
	ShortCode       string   `json:"short_code"`
	AURL            string   `json:"a_url"`
	BURL            string   `json:"b_url"`
	TargetURL       string   `json:"target_url"`
	Title           string   `json:"title"`
	RedirectType    string   `json:"redirect_type"`
	RedirectURLA    string   `json:"redirect_url_a"`
	CreatedAt       string   `json:"created_at"`
	Clicks          int64    `json:"clicks"`
	BotClicks       int64    `json:"bot_clicks"`
	PreviewClicks   int64    `json:"preview_clicks"`
	State           string   `json:"state"`
	ExpiresAt       string   `json:"expires_at"`
	ExpiredURL      string   `json:"expired_url"`
	MaxClicks       *int64   `json:"max_clicks"`
	RemainingClicks *int64   `json:"remaining_clicks"`
	HasPassword     bool     `json:"has_password"`
	Tags            []string `json:"tags"`
	ExternalID      string   `json:"external_id"`
	Domain          string   `json:"domain"`
	Rules           []Rule   `json:"rules"`
}

// LinkFilter selects links of a list.
type LinkFilter struct {
	Tag    string `json:"tag,omitempty"`
	State  string `json:"state,omitempty"`
	Q      string `json:"q,omitempty"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// LinkPage is a page of a list. NextCursor is nil on the last page.
type LinkPage struct {
	Links      []Link  `json:"links"`
	NextCursor *string `json:"next_cursor"`
}

// StatsQuery names a link or a tag, and what to count by.
type StatsQuery struct {
	LinkRef
	Tag       string `json:"tag,omitempty"`
	StartDate string `json:"start_date,omitempty"`
	EndDate   string `json:"end_date,omitempty"`
	By        string `json:"by,omitempty"`
}

// Stats are the clicks of a link or a tag.
type Stats struct {
	StartDate     string `json:"start_date"`
	EndDate       string `json:"end_date"`
	Clicks        int64  `json:"clicks"`
	BotClicks     int64  `json:"bot_clicks"`
	PreviewClicks int64  `json:"preview_clicks"`
	Visitors      int64  `json:"visitors"`
	Items         []struct {
		Value  string `json:"value"`
		Clicks int64  `json:"clicks"`
	} `json:"items"`
}

// Generate creates a link. It costs short link credits.
func (s *ShortLinks) Generate(ctx context.Context, link LinkParameters, options ...CallOption) (*GeneratedLink, error) {
	values := struct {
		common
		LinkParameters
	}{s.c.common("generate"), link}
	return data[GeneratedLink](ctx, s.c, shortLinkPath, values, true, options)
}

// GenerateBatch creates 1 to 100 links, all or none. It costs short link credits.
func (s *ShortLinks) GenerateBatch(ctx context.Context, links []LinkParameters, options ...CallOption) (*GeneratedLinks, error) {
	values := struct {
		common
		Links []LinkParameters `json:"links"`
	}{s.c.common("generate_batch"), links}
	return data[GeneratedLinks](ctx, s.c, shortLinkPath, values, true, options)
}

// Update changes a link. It is free.
func (s *ShortLinks) Update(ctx context.Context, change LinkUpdate, options ...CallOption) (*ChangedLink, error) {
	values := struct {
		common
		LinkUpdate
	}{s.c.common("update"), change}
	return data[ChangedLink](ctx, s.c, shortLinkPath, values, false, options)
}

// ExecuteUpdate gives the link a new code and new addresses. An empty shortCode lets the service choose. It costs short link
// credits.
func (s *ShortLinks) ExecuteUpdate(ctx context.Context, linkID int64, shortCode string, options ...CallOption) (*RefreshedLink, error) {
	values := struct {
		common
		LinkRef
	}{s.c.common("execute_update"), LinkRef{LinkID: linkID, ShortCode: shortCode}}
	return data[RefreshedLink](ctx, s.c, shortLinkPath, values, true, options)
}

// Get returns a link with its clicks. It is free.
func (s *ShortLinks) Get(ctx context.Context, link LinkRef, options ...CallOption) (*Link, error) {
	return linkCall[Link](ctx, s.c, "get", link, options)
}

// List returns links, newest first. It is free.
func (s *ShortLinks) List(ctx context.Context, filter LinkFilter, options ...CallOption) (*LinkPage, error) {
	values := struct {
		common
		LinkFilter
	}{s.c.common("list"), filter}
	return data[LinkPage](ctx, s.c, shortLinkPath, values, false, options)
}

// Stats returns the clicks of a link or a tag. It is free.
func (s *ShortLinks) Stats(ctx context.Context, query StatsQuery, options ...CallOption) (*Stats, error) {
	values := struct {
		common
		StatsQuery
	}{s.c.common("stats"), query}
	return data[Stats](ctx, s.c, shortLinkPath, values, false, options)
}

// Pause stops a link: it answers 410 until it is resumed. It is free.
func (s *ShortLinks) Pause(ctx context.Context, link LinkRef, options ...CallOption) (*ChangedLink, error) {
	return linkCall[ChangedLink](ctx, s.c, "pause", link, options)
}

// Resume resumes a paused link. It is free.
func (s *ShortLinks) Resume(ctx context.Context, link LinkRef, options ...CallOption) (*ChangedLink, error) {
	return linkCall[ChangedLink](ctx, s.c, "resume", link, options)
}

// Delete deletes a link permanently. It is free.
func (s *ShortLinks) Delete(ctx context.Context, link LinkRef, options ...CallOption) (*ChangedLink, error) {
	return linkCall[ChangedLink](ctx, s.c, "delete", link, once(options))
}

func linkCall[T any](ctx context.Context, c *Client, action string, link LinkRef, options []CallOption) (*T, error) {
	values := struct {
		common
		LinkRef
	}{c.common(action), link}
	return data[T](ctx, c, shortLinkPath, values, false, options)
}
