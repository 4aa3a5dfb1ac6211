// The short link endpoint in the reference.
import { Type } from 'typebox'
import {
  count,
  type EndpointReference,
  type ErrorCase,
  object,
  oneOf,
  shortlinkResponseOf,
  text,
  time,
} from '../reference.ts'
import { ruleConditions } from '../link-rules.ts'
import { createMoreReference } from './shortlink-more.ts'
import { linkLimits, linkStates, redirectTypes, type shortlink, shortCodePattern } from '../shortlink.ts'

const { os, device, app } = ruleConditions

const linkId = Type.Integer({
  minimum: 1,
  ...text('短链接编号，修改与刷新时使用', 'ID of the link, for update and execute_update'),
})
const shortCode = Type.String({ pattern: shortCodePattern, ...text('短码', 'Short code') })
const aUrl = Type.String(text('主访问地址', 'Primary address'))
const bUrl = Type.String(text('备用访问地址', 'Secondary address'))
const balance = count('剩余短链接额度', 'Remaining short link credits')
const message = Type.String(text('结果说明', 'Description of the result'))

export const generatedLink = object({
  link_id: linkId,
  short_code: shortCode,
  a_url: aUrl,
  b_url: bUrl,
  remaining_balance: balance,
})

export const updatedLink = object({ link_id: linkId, message })

export const refreshedLink = object({
  link_id: linkId,
  new_a_url: Type.String(text('新的主访问地址', 'New primary address')),
  new_b_url: Type.String(text('新的备用访问地址', 'New secondary address')),
  short_code: shortCode,
  remaining_balance: balance,
  message,
})

const ruleSchema = object(
  {
    when: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
      ...text(
        '条件，全部满足时匹配；值可为列表',
        'Conditions, all of which must match; a value may be a list',
      ),
    }),
    target_url: Type.String(text('匹配时的跳转地址', 'Target when it matches')),
  },
  '跳转规则',
  'Redirect rule',
)

export const linkDetails = object({
  link_id: linkId,
  short_code: shortCode,
  a_url: aUrl,
  b_url: bUrl,
  target_url: Type.String(text('目标地址', 'Target URL')),
  title: Type.String(text('标题', 'Title')),
  redirect_type: oneOf(redirectTypes, '跳转方式', 'Redirect type'),
  redirect_url_a: Type.String(text('a_url 的跳转地址，未设置时为空', 'Target of a_url; empty when not set')),
  created_at: time('创建时间（北京时间）', 'Creation time, Asia/Shanghai'),
  clicks: count('真人访问数', 'Visits by people'),
  bot_clicks: count('机器人访问数', 'Visits by bots'),
  preview_clicks: count('链接预览次数', 'Link previews'),
  state: oneOf(linkStates, '状态', 'State'),
  expires_at: Type.String(
    text('到期时间（北京时间），未设置时为空', 'Expiry, Asia/Shanghai; empty when not set'),
  ),
  expired_url: Type.String(text('到期后的跳转地址，未设置时为空', 'Target after expiry; empty when not set')),
  max_clicks: Type.Union([Type.Integer(), Type.Null()], {
    ...text('访问次数上限，未设置时为 null', 'Maximum number of visits; null when not set'),
  }),
  remaining_clicks: Type.Union([Type.Integer(), Type.Null()], {
    ...text('剩余访问次数，未设置上限时为 null', 'Visits left; null without a limit'),
  }),
  has_password: Type.Boolean(text('是否设有访问密码', 'Whether the link has a password')),
  tags: Type.Array(Type.String(), text('标签', 'Tags')),
  external_id: Type.String(text('外部编号，未设置时为空', 'Your own ID; empty when not set')),
  domain: Type.String(text('a_url 所用的自有域名，未设置时为空', 'Own domain of a_url; empty when not set')),
  rules: Type.Array(ruleSchema, text('跳转规则', 'Redirect rules')),
})

const expired: ErrorCase = {
  code: 1004,
  status: 400,
  when: { zh: '账户已过期', en: 'The account has expired' },
}
const notFound: ErrorCase = {
  code: 1002,
  status: 400,
  when: {
    zh: '链接不存在或无权修改',
    en: 'The link does not exist or belongs to another account',
  },
}
const missing: ErrorCase = {
  code: 1001,
  status: 400,
  when: {
    zh: '缺少该操作的必要参数，消息中逐一列出',
    en: 'Required parameters are missing; the message names all of them',
  },
}
const invalid: ErrorCase = {
  code: 1002,
  status: 400,
  when: {
    zh: '参数不合要求：地址不是 http/https、超长、含用户名或指向本平台短链接域名，标题超长，或 redirect_type 未知',
    en: 'A parameter is invalid: a URL that is not http or https, is too long, contains a user name or leads to a link domain of this platform; a title that is too long; an unknown redirect_type',
  },
}

const varying = ['data.short_code', 'data.a_url', 'data.b_url']

export const shortlinkReference: EndpointReference<typeof shortlink> = {
  generate: {
    price: { name: 'generate', apiType: 'short_link', per: { zh: '每条短链接', en: 'each link' } },
    notes: [
      {
        zh: 'a_url 与 b_url 是同一短码在两组域名上的地址。传入 redirect_url_a 时，a_url 跳转到该地址；b_url 始终跳转到 target_url。',
        en: 'a_url and b_url are the same code on two sets of domains. If redirect_url_a is set, a_url redirects there; b_url always redirects to target_url.',
      },
      {
        zh: 'direct 为 302 跳转，permanent 为 301 跳转，page 先显示目标地址，点击后前往。',
        en: 'direct responds with 302, permanent with 301, page with a page that shows the target and links to it.',
      },
      {
        zh: '设有 expires_at、max_clicks、password 或 rules 的链接不能为 permanent。依次检查：封禁、暂停、到期、次数用完、密码、规则。',
        en: 'A link with expires_at, max_clicks, password or rules cannot be permanent. Checked in this order: banned, paused, expired, visits used up, password, rules.',
      },
      {
        zh: 'max_clicks 只统计真人访问，恰好允许该次数的访问到达目标地址；链接预览和机器人不计。设有密码时，输入正确密码才计一次。',
        en: 'max_clicks counts only visits by people: exactly that many reach the target; link previews and bots are not counted. With a password, a visit is counted when the correct password is entered.',
      },
      {
        zh: `设有密码的链接先显示密码页；每个 IP 地址对每条链接每分钟最多尝试 ${linkLimits.passwordAttempts.perNetwork} 次，超出返回 429。`,
        en: `A link with a password shows a form first. Each IP address has ${linkLimits.passwordAttempts.perNetwork} attempts per minute and link; further attempts return 429.`,
      },
      {
        zh: `规则条件：os（${os.values.join('、')}），device（${device.values.join('、')}），app（${app.values.join('、')}），country（ISO 3166-1 两位代码），province（ISO 3166-2，不含 CN-，如 GD），language（Accept-Language 首个语言的两位代码）。同一条规则的条件必须全部满足，对 a_url 与 b_url 均生效。`,
        en: `Conditions of a rule: os (${os.values.join(', ')}), device (${device.values.join(', ')}), app (${app.values.join(', ')}), country (ISO 3166-1, two letters), province (ISO 3166-2 without CN-, such as GD), language (two letters, the first of Accept-Language). All conditions of a rule must match; rules apply to a_url and b_url.`,
      },
    ],
    response: shortlinkResponseOf(generatedLink),
    errors: [
      missing,
      invalid,
      expired,
      { code: 1002, status: 400, when: { zh: '短码已被占用', en: 'The short code is or was in use' } },
      {
        code: 1002,
        status: 400,
        when: {
          zh: '短码不可用（保留路径或不当词语）',
          en: 'The short code is reserved or an offensive word',
        },
      },
      {
        code: 1002,
        status: 400,
        when: { zh: 'external_id 已被使用', en: 'Another link has this external_id' },
      },
      { code: 1004, status: 400, when: { zh: '生成次数不足', en: 'Not enough short link credits' } },
    ],
    examples: [
      {
        title: { zh: '生成', en: 'Create' },
        values: { target_url: 'https://example.com/landing', title: '活动页' },
        status: 200,
        response: {
          success: true,
          data: {
            link_id: 1,
            short_code: 'aBcD234',
            a_url: 'https://api.example.com/aBcD234',
            b_url: 'https://api.example.com/b/aBcD234',
            remaining_balance: 999,
          },
        },
        varies: varying,
      },
      {
        title: { zh: '缺少参数', en: 'Missing parameter' },
        values: { target_url: 'https://example.com/landing' },
        status: 400,
        response: { success: false, message: '生成短链接缺少必要参数：title' },
      },
      {
        title: { zh: '次数不足', en: 'Not enough credits' },
        values: { target_url: 'https://example.com/landing', title: '活动页' },
        caller: 'without credits',
        status: 400,
        response: { success: false, message: '生成次数不足' },
      },
      {
        title: { zh: '目标地址有误', en: 'Invalid target' },
        values: { target_url: 'ftp://example.com/', title: '活动页' },
        status: 400,
        response: { success: false, message: 'target_url 必须是 http:// 或 https:// 开头的完整网址' },
      },
      {
        title: { zh: '短码不可用', en: 'Code not available' },
        values: { target_url: 'https://example.com/landing', title: '活动页', short_code: 'console' },
        status: 400,
        response: { success: false, message: '短码不可用' },
      },
    ],
  },
  update: {
    notes: [
      {
        zh: '下一次访问即生效。不传的参数保持不变。',
        en: 'Takes effect on the next visit. Omitted parameters stay unchanged.',
      },
      {
        zh: '新的 max_clicks 只替换上限，不清零已用次数；用 clear 清除后重新设置，则从零开始计数。clear 不能与同一字段的新值同时传入。',
        en: 'A new max_clicks replaces the limit and keeps the count; after clear, a new limit counts from zero. clear cannot be combined with a new value of the same field.',
      },
    ],
    response: shortlinkResponseOf(updatedLink),
    errors: [missing, invalid, expired, notFound],
    examples: [
      {
        title: { zh: '修改', en: 'Update' },
        values: { link_id: 1, target_url: 'https://example.com/new', title: '新标题' },
        status: 200,
        response: { success: true, data: { link_id: 1, message: '短链接已更新' } },
      },
      {
        title: { zh: '链接不存在', en: 'Unknown link' },
        values: { link_id: 999_999, target_url: 'https://example.com/new' },
        status: 400,
        response: { success: false, message: '链接不存在或无权修改' },
      },
      {
        title: { zh: '缺少参数', en: 'Missing parameter' },
        values: { target_url: 'https://example.com/new' },
        status: 400,
        response: { success: false, message: '更新短链接缺少必要参数：link_id' },
      },
    ],
  },
  execute_update: {
    price: { name: 'execute_update', apiType: 'short_link', per: { zh: '每次刷新', en: 'each refresh' } },
    notes: [
      {
        zh: '链接更换为新的短码和下一组域名，link_id 不变。',
        en: 'The link gets a new code and moves to the next domains; link_id does not change.',
      },
    ],
    response: shortlinkResponseOf(refreshedLink),
    errors: [
      missing,
      expired,
      notFound,
      {
        code: 1004,
        status: 400,
        when: { zh: '余额不足，无法执行更新', en: 'Not enough short link credits' },
      },
    ],
    examples: [
      {
        title: { zh: '刷新', en: 'Refresh' },
        values: { link_id: 1 },
        status: 200,
        response: {
          success: true,
          data: {
            link_id: 1,
            new_a_url: 'https://api.example.com/eFgH567',
            new_b_url: 'https://api.example.com/b/eFgH567',
            short_code: 'eFgH567',
            remaining_balance: 998,
            message: '访问地址已刷新',
          },
        },
        varies: ['data.new_a_url', 'data.new_b_url', 'data.short_code'],
      },
      {
        title: { zh: '缺少参数', en: 'Missing parameter' },
        values: {},
        status: 400,
        response: { success: false, message: '执行更新缺少必要参数：link_id' },
      },
      {
        title: { zh: '链接不存在', en: 'Unknown link' },
        values: { link_id: 999_999 },
        status: 400,
        response: { success: false, message: '链接不存在或无权修改' },
      },
    ],
  },
  get: {
    notes: [
      {
        zh: 'short_code、link_id、external_id 传入其一即可。',
        en: 'Pass short_code, link_id or external_id.',
      },
      {
        zh: '访问按真人、机器人、链接预览分别计数。',
        en: 'Visits by people, bots and link previews are counted separately.',
      },
    ],
    response: shortlinkResponseOf(linkDetails, {
      status: oneOf(['success'], '固定为 success', 'Always success'),
    }),
    errors: [missing, notFound],
    examples: [
      {
        title: { zh: '查询', en: 'Get' },
        values: { link_id: 1 },
        status: 200,
        response: {
          success: true,
          status: 'success',
          data: {
            link_id: 1,
            short_code: 'eFgH567',
            a_url: 'https://api.example.com/eFgH567',
            b_url: 'https://api.example.com/b/eFgH567',
            target_url: 'https://example.com/new',
            title: '新标题',
            redirect_type: 'direct',
            redirect_url_a: '',
            created_at: '2026-01-02 03:04:05',
            clicks: 0,
            bot_clicks: 0,
            preview_clicks: 0,
            state: 'active',
            expires_at: '',
            expired_url: '',
            max_clicks: null,
            remaining_clicks: null,
            has_password: false,
            tags: [],
            external_id: '',
            domain: '',
            rules: [],
          },
        },
        varies: [...varying, 'data.created_at'],
      },
      {
        title: { zh: '缺少参数', en: 'Missing parameter' },
        values: {},
        status: 400,
        response: { success: false, message: '查询短链接缺少必要参数：short_code、link_id' },
      },
      {
        title: { zh: '链接不存在', en: 'Unknown link' },
        values: { link_id: 999_999 },
        status: 400,
        response: { success: false, message: '链接不存在或无权修改' },
      },
    ],
  },
  ...createMoreReference(linkDetails, { missing, invalid, expired, notFound }),
}
