// The short link endpoint as the documents show it.
import { type EndpointReference, type ErrorCase, type Field, inSuccess } from '../reference.ts'
import { redirectTypes, type shortlink, shortCodePattern } from '../shortlink.ts'

const linkId: Field = {
  type: 'integer',
  least: 1,
  text: { zh: '短链接编号，修改与刷新时使用', en: 'Identifier of the link, for update and execute_update' },
}
const shortCode: Field = {
  type: 'string',
  pattern: shortCodePattern,
  text: { zh: '短码', en: 'The code' },
}
const aUrl: Field = { type: 'string', text: { zh: '主访问地址', en: 'Primary access address' } }
const bUrl: Field = { type: 'string', text: { zh: '备用访问地址', en: 'Secondary access address' } }
const balance: Field = {
  type: 'integer',
  least: 0,
  text: { zh: '剩余短链接额度', en: 'Short link credits left' },
}
const message: Field = { type: 'string', text: { zh: '结果说明', en: 'What was done, in words' } }
const count = (zh: string, en: string): Field => ({ type: 'integer', least: 0, text: { zh, en } })

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
    en: 'There is no such link, or it belongs to another account',
  },
}
const missing: ErrorCase = {
  code: 1001,
  status: 400,
  when: {
    zh: '缺少该操作的必要参数，消息逐一指出',
    en: 'Parameters of the action are missing; all are named',
  },
}
const wrong: ErrorCase = {
  code: 1002,
  status: 400,
  when: {
    zh: '参数不合要求：地址不是 http/https、超长、含用户名，指向本平台短链域名，标题超长，或 redirect_type 未知',
    en: 'A parameter is wrong: no http/https address, too long, with a user part, leading to our own link domains, an overlong title, or an unknown redirect_type',
  },
}

const made = ['data.short_code', 'data.a_url', 'data.b_url']

export const shortlinkReference: EndpointReference<typeof shortlink> = {
  generate: {
    price: { name: 'generate', apiType: 'short_link', per: { zh: '每条短链接', en: 'a link' } },
    notes: [
      {
        zh: 'a_url 与 b_url 是同一短码在两组域名上的地址。给出 redirect_url_a 时，a_url 跳往它，b_url 始终跳往 target_url。',
        en: 'a_url and b_url are one code on two sets of domains. With redirect_url_a given, a_url leads there; b_url always leads to target_url.',
      },
      {
        zh: 'direct 为 302 跳转，permanent 为 301，page 先显示目标地址，点击后前往。',
        en: 'direct is a 302, permanent a 301, page first shows the destination and goes on at a click.',
      },
    ],
    answer: inSuccess({
      link_id: linkId,
      short_code: shortCode,
      a_url: aUrl,
      b_url: bUrl,
      remaining_balance: balance,
    }),
    errors: [
      missing,
      wrong,
      expired,
      { code: 1004, status: 400, when: { zh: '生成次数不足', en: 'Not enough short link credits' } },
    ],
    examples: [
      {
        title: { zh: '生成', en: 'Create' },
        values: { target_url: 'https://example.com/landing', title: '活动页' },
        status: 200,
        answer: {
          success: true,
          data: {
            link_id: 1,
            short_code: 'aBcD234',
            a_url: 'https://api.example.com/aBcD234',
            b_url: 'https://api.example.com/b/aBcD234',
            remaining_balance: 999,
          },
        },
        varies: made,
      },
      {
        title: { zh: '缺少参数', en: 'A parameter is missing' },
        values: { target_url: 'https://example.com/landing' },
        status: 400,
        answer: { success: false, message: '生成短链接缺少必要参数：title' },
      },
      {
        title: { zh: '次数不足', en: 'No credits left' },
        values: { target_url: 'https://example.com/landing', title: '活动页' },
        caller: 'without credits',
        status: 400,
        answer: { success: false, message: '生成次数不足' },
      },
      {
        title: { zh: '目标地址有误', en: 'Wrong destination' },
        values: { target_url: 'ftp://example.com/', title: '活动页' },
        status: 400,
        answer: { success: false, message: 'target_url 须为 http:// 或 https:// 开头的完整网址' },
      },
    ],
  },
  update: {
    notes: [
      {
        zh: '下一次访问即生效。不传的参数保持不变。',
        en: 'Holds from the next visit on. What is left out stays as it is.',
      },
    ],
    answer: inSuccess({ link_id: linkId, message }),
    errors: [missing, wrong, expired, notFound],
    examples: [
      {
        title: { zh: '修改', en: 'Change' },
        values: { link_id: 1, target_url: 'https://example.com/new', title: '新标题' },
        status: 200,
        answer: { success: true, data: { link_id: 1, message: '短链接已更新' } },
      },
      {
        title: { zh: '链接不存在', en: 'No such link' },
        values: { link_id: 999_999, target_url: 'https://example.com/new' },
        status: 400,
        answer: { success: false, message: '链接不存在或无权修改' },
      },
      {
        title: { zh: '缺少参数', en: 'A parameter is missing' },
        values: { target_url: 'https://example.com/new' },
        status: 400,
        answer: { success: false, message: '更新短链接缺少必要参数：link_id' },
      },
    ],
  },
  execute_update: {
    price: { name: 'execute_update', apiType: 'short_link', per: { zh: '每次刷新', en: 'a refresh' } },
    notes: [
      {
        zh: '链接得到新的短码和下一组域名，link_id 不变。',
        en: 'The link gets a new code and the next domains; link_id stays.',
      },
    ],
    answer: inSuccess({
      link_id: linkId,
      new_a_url: { type: 'string', text: { zh: '新的主访问地址', en: 'New primary address' } },
      new_b_url: { type: 'string', text: { zh: '新的备用访问地址', en: 'New secondary address' } },
      short_code: shortCode,
      remaining_balance: balance,
      message,
    }),
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
        answer: {
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
        title: { zh: '缺少参数', en: 'A parameter is missing' },
        values: {},
        status: 400,
        answer: { success: false, message: '执行更新缺少必要参数：link_id' },
      },
      {
        title: { zh: '链接不存在', en: 'No such link' },
        values: { link_id: 999_999 },
        status: 400,
        answer: { success: false, message: '链接不存在或无权修改' },
      },
    ],
  },
  get: {
    notes: [
      { zh: 'short_code 与 link_id 给出一个即可。', en: 'Give short_code or link_id.' },
      {
        zh: '访问按真人、机器人、链接预览分别计数。',
        en: 'Visits of people, bots and link previews are counted apart.',
      },
    ],
    answer: inSuccess(
      {
        link_id: linkId,
        short_code: shortCode,
        a_url: aUrl,
        b_url: bUrl,
        target_url: { type: 'string', text: { zh: '目标地址', en: 'Destination' } },
        title: { type: 'string', text: { zh: '标题', en: 'Title' } },
        redirect_type: {
          type: 'string',
          values: redirectTypes,
          text: { zh: '跳转方式', en: 'How it redirects' },
        },
        redirect_url_a: {
          type: 'string',
          text: { zh: 'a_url 的跳转地址，未设置时为空', en: 'Where a_url leads; empty when not set' },
        },
        created_at: {
          type: 'string',
          pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$',
          text: { zh: '创建时间（北京时间）', en: 'Made at, Asia/Shanghai' },
        },
        clicks: count('真人访问数', 'Visits of people'),
        bot_clicks: count('机器人访问数', 'Visits of bots'),
        preview_clicks: count('链接预览次数', 'Link previews'),
      },
      {
        status: {
          type: 'string',
          values: ['success'],
          text: { zh: '固定为 success', en: 'always success' },
        },
      },
    ),
    errors: [missing, notFound],
    examples: [
      {
        title: { zh: '查询', en: 'Look up' },
        values: { link_id: 1 },
        status: 200,
        answer: {
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
          },
        },
        varies: [...made, 'data.created_at'],
      },
      {
        title: { zh: '缺少参数', en: 'A parameter is missing' },
        values: {},
        status: 400,
        answer: { success: false, message: '查询短链接缺少必要参数：short_code、link_id' },
      },
      {
        title: { zh: '链接不存在', en: 'No such link' },
        values: { link_id: 999_999 },
        status: 400,
        answer: { success: false, message: '链接不存在或无权修改' },
      },
    ],
  },
}
