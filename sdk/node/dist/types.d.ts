export type ApiType = 'short_link' | 'sms' | 'id_verification' | 'domain_check';
export type RedirectType = 'direct' | 'permanent' | 'page';
export interface GenerateLink {
    readonly target_url: string;
    readonly title: string;
    readonly redirect_type?: RedirectType;
    readonly redirect_url_a?: string;
    /** A chosen code: 3–32 letters, digits, `_` and `-`. */
    readonly short_code?: string;
    /** One of the account's own verified domains. */
    readonly domain?: string;
    /** `YYYY-MM-DD HH:MM:SS`, Asia/Shanghai. */
    readonly expires_at?: string;
    readonly expired_url?: string;
    readonly max_clicks?: number;
    readonly password?: string;
    readonly tags?: readonly string[];
    readonly external_id?: string;
    readonly rules?: readonly LinkRule[];
}
export interface GenerateLinks {
    /** At most 100. */
    readonly links: readonly GenerateLink[];
}
export interface GeneratedLinks {
    readonly links: readonly {
        readonly index: number;
        readonly link_id: number;
        readonly short_code: string;
        readonly a_url: string;
        readonly b_url: string;
    }[];
    readonly remaining_balance: number;
}
export interface GeneratedLink {
    readonly link_id: number;
    readonly short_code: string;
    readonly a_url: string;
    readonly b_url: string;
    readonly remaining_balance: number;
}
export interface UpdateLink {
    readonly link_id: number;
    readonly target_url: string;
    readonly title?: string;
    readonly redirect_url_a?: string;
    readonly redirect_type?: RedirectType;
    readonly expires_at?: string;
    readonly expired_url?: string;
    readonly max_clicks?: number;
    readonly password?: string;
    readonly tags?: readonly string[];
    readonly external_id?: string;
    readonly rules?: readonly LinkRule[];
    /** Names of fields to remove. */
    readonly clear?: readonly string[];
}
export interface UpdatedLink {
    readonly link_id: number;
    readonly message: string;
}
export interface RefreshLink {
    readonly link_id: number;
    /** A chosen new code. */
    readonly short_code?: string;
}
export interface RefreshedLink {
    readonly link_id: number;
    readonly new_a_url: string;
    readonly new_b_url: string;
    readonly short_code: string;
    readonly remaining_balance: number;
    readonly message: string;
}
/** One of them; several must name the same link. */
export type GetLink = {
    readonly short_code: string;
    readonly link_id?: number;
    readonly external_id?: string;
} | {
    readonly link_id: number;
    readonly short_code?: string;
    readonly external_id?: string;
} | {
    readonly external_id: string;
    readonly link_id?: number;
    readonly short_code?: string;
};
export interface ListLinks {
    readonly cursor?: string;
    /** 1–100, default 20. */
    readonly limit?: number;
    readonly tag?: string;
    readonly state?: LinkState;
    /** Text in title, target or code. */
    readonly q?: string;
}
export interface LinkPage {
    readonly links: readonly Link[];
    readonly next_cursor: string | null;
}
/** A link or a tag. */
export interface LinkStatsQuery {
    readonly link_id?: number;
    readonly short_code?: string;
    readonly external_id?: string;
    readonly tag?: string;
    /** `YYYY-MM-DD`; the last 30 days by default. */
    readonly start_date?: string;
    readonly end_date?: string;
    readonly by?: 'day' | 'hour' | 'country' | 'province' | 'device' | 'os' | 'browser' | 'app' | 'referrer';
}
export interface LinkStats {
    readonly start_date: string;
    readonly end_date: string;
    readonly clicks: number;
    readonly bot_clicks: number;
    readonly preview_clicks: number;
    readonly visitors: number;
    readonly items: readonly {
        readonly value: string;
        readonly clicks: number;
    }[];
}
export interface LinkStateChange {
    readonly link_id: number;
    readonly state: LinkState;
    readonly message: string;
}
export interface DeletedLink {
    readonly link_id: number;
    readonly message: string;
}
export interface Link {
    readonly link_id: number;
    readonly short_code: string;
    readonly a_url: string;
    readonly b_url: string;
    readonly target_url: string;
    readonly title: string;
    readonly redirect_type: RedirectType;
    /** Empty when not set. */
    readonly redirect_url_a: string;
    /** `YYYY-MM-DD HH:MM:SS`, Asia/Shanghai. */
    readonly created_at: string;
    readonly clicks: number;
    readonly bot_clicks: number;
    readonly preview_clicks: number;
    readonly state: LinkState;
    /** `YYYY-MM-DD HH:MM:SS`, Asia/Shanghai; empty when not set. */
    readonly expires_at: string;
    readonly expired_url: string;
    readonly max_clicks: number | null;
    readonly remaining_clicks: number | null;
    readonly has_password: boolean;
    readonly tags: readonly string[];
    readonly external_id: string;
    readonly domain: string;
    readonly rules: readonly LinkRule[];
}
export type LinkState = 'active' | 'paused' | 'expired' | 'exhausted' | 'banned';
/** The first rule whose conditions all match decides where a visitor goes. */
export interface LinkRule {
    /** `os`, `device`, `app`, `country`, `province` or `language`. */
    readonly when: Readonly<Record<string, string | readonly string[]>>;
    readonly target_url: string;
}
export interface SendSms {
    readonly phone_number: string;
    readonly template_code: string;
    readonly template_params?: Readonly<Record<string, string | number>>;
    readonly sign_name?: string;
}
export interface SentSms {
    readonly phone_number: string;
    readonly biz_id: string;
    /** `YYYY-MM-DD HH:MM:SS`, Asia/Shanghai. */
    readonly send_time: string;
    readonly remaining_credits: number;
}
export interface SmsTemplate {
    readonly template_code: string;
    readonly template_name: string;
    readonly template_content: string;
    readonly status: '审核中' | '审核通过' | '审核不通过';
}
export interface CreditsQuery {
    readonly api_type?: ApiType;
}
export interface Credits {
    readonly api_type: ApiType;
    readonly api_type_name: string;
    readonly total: number;
    readonly used: number;
    readonly remaining: number;
    /** 0 to 100. */
    readonly percentage_used: number;
}
/** At least one of `biz_id`, `phone_number` and `start_date`. Days are `YYYY-MM-DD`, Asia/Shanghai, inclusive. */
export interface SmsLogsQuery {
    readonly biz_id?: string;
    readonly phone_number?: string;
    readonly start_date?: string;
    readonly end_date?: string;
    /** `next_cursor` of the previous page. */
    readonly cursor?: string;
    /** 1 to 100, 20 by default. */
    readonly limit?: number;
}
/** A page of a list, newest first. */
export interface Page<Item> {
    readonly items: readonly Item[];
    /** Null on the last page. */
    readonly next_cursor: string | null;
}
export interface SmsRecord {
    readonly phone_number: string;
    readonly template_code: string;
    readonly template_params: Readonly<Record<string, string>>;
    readonly sign_name: string;
    readonly biz_id: string;
    readonly success: boolean;
    readonly created_at: string;
    /** Empty when there is no error. */
    readonly error_message: string;
    readonly state: 'scheduled' | 'sending' | 'sent' | 'delivered' | 'failed' | 'unknown' | 'cancelled';
    /** Empty without a receipt. */
    readonly receipt_time: string;
    readonly receipt_code: string;
    /** Empty for a single message. */
    readonly batch_id: string;
}
export interface SmsSignature {
    readonly sign_name: string;
    readonly state: '审核中' | '审核通过' | '审核不通过';
    readonly is_default: boolean;
}
/** The variables of the template are `code` and optionally `minutes`. */
export interface SendCode {
    readonly phone_number: string;
    readonly template_code: string;
    readonly sign_name?: string;
    /** Digits, 4 to 8; 6 by default. */
    readonly length?: number;
    /** Seconds, 60 to 1800; 300 by default. */
    readonly ttl_s?: number;
    readonly purpose?: string;
}
export interface SentCode extends SentSms {
    readonly expires_at: string;
}
export interface CheckCode {
    readonly phone_number: string;
    readonly code: string;
    readonly purpose?: string;
}
export interface CheckedCode {
    readonly verified: boolean;
    readonly attempts_left: number;
}
export interface SmsRepliesQuery {
    readonly phone_number?: string;
    readonly start_date?: string;
    readonly end_date?: string;
    readonly cursor?: string;
    readonly limit?: number;
}
export interface SmsReply {
    readonly phone_number: string;
    readonly content: string;
    readonly sign_name: string;
    readonly biz_id: string;
    readonly received_at: string;
}
export interface VerifyIdentity {
    readonly name: string;
    readonly idcard: string;
}
/** `success` is false if there is no record or the upstream failed; the credit is refunded. */
export interface IdentityOutcome {
    readonly success: boolean;
    readonly message: string;
    readonly matched: boolean;
    readonly extra: {
        readonly sex?: '男' | '女';
        readonly birthday?: string;
        readonly age?: number;
        readonly address?: string;
        readonly nation?: string;
        readonly province?: string;
        readonly city?: string;
        readonly district?: string;
    };
}
export interface CheckDomains {
    readonly urls: readonly string[];
    readonly check_random?: boolean;
}
export type CheckResult = '未拦截' | '已拦截' | '无效URL' | '请求失败';
export interface CheckedDomains {
    readonly all_urls: readonly {
        readonly url: string;
        readonly type: 'original' | 'random';
    }[];
    /** One result per item of `all_urls`, in the same order. */
    readonly results: readonly CheckResult[];
    readonly remaining_credits: number;
}
export interface BatchMessage {
    readonly phone_number: string;
    readonly template_params?: Readonly<Record<string, string | number>>;
}
/** Either phone_numbers, which share template_params, or messages. */
export interface SendBatch {
    readonly template_code: string;
    readonly phone_numbers?: readonly string[];
    readonly template_params?: Readonly<Record<string, string | number>>;
    readonly messages?: readonly BatchMessage[];
    readonly sign_name?: string;
    /** `YYYY-MM-DD HH:MM:SS`, Asia/Shanghai, at most 30 days ahead. */
    readonly send_at?: string;
}
export interface AcceptedBatch {
    readonly batch_id: string;
    readonly accepted: number;
    readonly rejected: readonly {
        readonly index: number;
        readonly phone_number: string;
        readonly error_message: string;
    }[];
    /** Empty if sent as soon as possible. */
    readonly send_at: string;
    readonly remaining_credits: number;
}
export interface GetBatch {
    readonly batch_id: string;
    readonly cursor?: string;
    readonly limit?: number;
}
export interface SmsBatch {
    readonly batch_id: string;
    readonly state: 'waiting' | 'sending' | 'finished' | 'cancelled';
    readonly send_at: string;
    readonly total: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly cancelled: number;
    readonly pending: number;
    readonly credits_used: number;
    readonly items: readonly SmsRecord[];
    readonly next_cursor: string | null;
}
export interface CancelBatch {
    readonly batch_id: string;
}
export interface CancelledBatch {
    readonly batch_id: string;
    readonly cancelled: number;
    readonly remaining_credits: number;
}
