// Batches, lists, statistics and states of links in the reference of the short link endpoint.
import { type TSchema, Type } from 'typebox'
import {
  count,
  type ErrorCase,
  object,
  oneOf,
  type OperationReference,
  shortlinkResponseOf,
  text,
} from '../reference.ts'
import { linkStates } from '../shortlink.ts'

const linkId = Type.Integer({ minimum: 1, ...text('短链接编号', 'ID of the link') })
const message = Type.String(text('结果说明', 'Description of the result'))

export const generatedLinks = object({
  links: Type.Array(
    object(
      {
        index: count('在请求中的位置，从 0 开始', 'Position in the request, from zero'),
        link_id: linkId,
        short_code: Type.String(text('短码', 'Short code')),
        a_url: Type.String(text('主访问地址', 'Primary address')),
        b_url: Type.String(text('备用访问地址', 'Secondary address')),
      },
      '生成的短链接',
      'A created link',
    ),
    text('生成的短链接，顺序与请求相同', 'Created links, in the order of the request'),
  ),
  remaining_balance: count('剩余短链接额度', 'Remaining short link credits'),
})

function linkPageOf<T extends TSchema>(record: T) {
  return object({
    links: Type.Array(record, text('短链接，新的在前', 'Links, newest first')),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      ...text('下一页的 cursor，没有更多时为 null', 'Cursor of the next page; null after the last one'),
    }),
  })
}

export const linkStats = object({
  start_date: Type.String(text('开始日期', 'First day')),
  end_date: Type.String(text('结束日期（含）', 'Last day, inclusive')),
  clicks: count('真人访问数', 'Visits by people'),
  bot_clicks: count('机器人访问数', 'Visits by bots'),
  preview_clicks: count('链接预览次数', 'Link previews'),
  visitors: count('每日独立访客数之和', 'Distinct visitors per day, summed over the days'),
  items: Type.Array(
    object(
      {
        value: Type.String(text('分组的值，未知时为空', 'Value of the group; empty when unknown')),
        clicks: count('真人访问数', 'Visits by people'),
      },
      '一组',
      'One group',
    ),
    text('按 by 分组的真人访问数', "People's visits by group"),
  ),
})

export const linkStateChange = object({
  link_id: linkId,
  state: oneOf(linkStates, '变更后的状态', 'State after the change'),
  message,
})

export const deletedLink = object({ link_id: linkId, message })

interface SharedErrors {
  readonly missing: ErrorCase
  readonly invalid: ErrorCase
  readonly expired: ErrorCase
  readonly notFound: ErrorCase
}

export function createMoreReference(
  record: TSchema,
  { missing, invalid, expired, notFound }: SharedErrors,
): Record<'generate_batch' | 'list' | 'stats' | 'pause' | 'resume' | 'delete', OperationReference> {
  const unknownLink = {
    title: { zh: '链接不存在', en: 'Unknown link' },
    values: { link_id: 999_999 },
    status: 400,
    response: { success: false, message: '链接不存在或无权修改' },
  }
  return {
    generate_batch: {
      price: { name: 'generate', apiType: 'short_link', per: { zh: '每条短链接', en: 'each link' } },
      notes: [
        {
          zh: '先检查全部链接，所有问题一次指出，例如 links[3].target_url；有问题时不扣费。扣费与生成同时成功或同时不做。',
          en: 'All links are checked first and all problems are named at once, such as links[3].target_url; then nothing is charged. The links are charged and created together or not at all.',
        },
        {
          zh: '整个请求使用一个 Idempotency-Key。',
          en: 'One Idempotency-Key is for the whole call.',
        },
      ],
      response: shortlinkResponseOf(generatedLinks),
      errors: [
        missing,
        invalid,
        expired,
        { code: 1004, status: 400, when: { zh: '生成次数不足', en: 'Not enough short link credits' } },
      ],
      examples: [
        {
          title: { zh: '批量生成', en: 'Create two links' },
          values: {
            links: [
              { target_url: 'https://example.com/1', title: '一', tags: ['2026'] },
              { target_url: 'https://example.com/2', title: '二', expires_at: '2036-12-31 23:59:59' },
            ],
          },
          status: 200,
          response: {
            success: true,
            data: {
              links: [
                {
                  index: 0,
                  link_id: 2,
                  short_code: 'aBcD235',
                  a_url: 'https://api.example.com/aBcD235',
                  b_url: 'https://api.example.com/b/aBcD235',
                },
                {
                  index: 1,
                  link_id: 3,
                  short_code: 'aBcD236',
                  a_url: 'https://api.example.com/aBcD236',
                  b_url: 'https://api.example.com/b/aBcD236',
                },
              ],
              remaining_balance: 996,
            },
          },
          varies: ['data.links'],
        },
        {
          title: { zh: '参数有误', en: 'Invalid parameters' },
          values: { links: [{ target_url: 'ftp://example.com/', title: '一', max_clicks: 0 }] },
          status: 400,
          response: {
            success: false,
            message:
              'links[0].target_url 须为 http:// 或 https:// 开头的完整网址；links[0].max_clicks 须为 1 至 1000000000 的整数',
          },
        },
      ],
    },
    list: {
      notes: [
        {
          zh: '新的在前。cursor 只用于相同的筛选条件，limit 可以不同。没有更多时 next_cursor 为 null；筛选很少匹配时，一页可能不足 limit 条。',
          en: 'Newest first. A cursor belongs to its filters; limit may change. next_cursor is null after the last page; a page may have fewer links than limit when few match.',
        },
      ],
      response: shortlinkResponseOf(linkPageOf(record)),
      errors: [invalid],
      examples: [
        {
          title: { zh: '按标签查询', en: 'By tag' },
          values: { tag: '2026', limit: 10 },
          status: 200,
          response: { success: true, data: { links: [], next_cursor: null } },
          varies: ['data.links'],
        },
        {
          title: { zh: '状态有误', en: 'Unknown state' },
          values: { state: 'open' },
          status: 400,
          response: { success: false, message: 'state 只能是 active、paused、expired、exhausted、banned' },
        },
      ],
    },
    stats: {
      notes: [
        {
          zh: '传入 link_id、short_code、external_id 之一，或 tag。默认最近 30 天，按天。',
          en: 'Pass one of link_id, short_code and external_id, or tag. The last 30 days by day unless you say otherwise.',
        },
        {
          zh: '按天、小时时间升序，没有访问的也列出；其他按访问数降序，未知为空，过多的来源合并为 *。hour 最多 62 天，60 天前的小时合并为天。',
          en: 'Days and hours ascend in time, with zeros; everything else is largest first, unknown values are empty, and referrers beyond the stored ones are *. by=hour spans at most 62 days; hours older than 60 days are merged into days.',
        },
        {
          zh: '国家和省份由 IP 地址推断，仅供参考；不保存地址。',
          en: 'Country and province are estimated from the address, which is not stored.',
        },
      ],
      response: shortlinkResponseOf(linkStats),
      errors: [missing, invalid, notFound],
      examples: [
        {
          title: { zh: '按设备统计', en: 'By device' },
          values: { link_id: 1, start_date: '2026-01-01', end_date: '2026-01-31', by: 'device' },
          status: 200,
          response: {
            success: true,
            data: {
              start_date: '2026-01-01',
              end_date: '2026-01-31',
              clicks: 0,
              bot_clicks: 0,
              preview_clicks: 0,
              visitors: 0,
              items: [],
            },
          },
        },
        unknownLink,
      ],
    },
    pause: {
      notes: [{ zh: '暂停的短链接返回 410。', en: 'A paused link answers 410.' }],
      response: shortlinkResponseOf(linkStateChange),
      errors: [missing, expired, notFound],
      examples: [
        {
          title: { zh: '暂停', en: 'Pause' },
          values: { link_id: 1 },
          status: 200,
          response: { success: true, data: { link_id: 1, state: 'paused', message: '短链接已暂停' } },
        },
        unknownLink,
      ],
    },
    resume: {
      notes: [{ zh: '恢复后立即可访问。', en: 'The link works again immediately.' }],
      response: shortlinkResponseOf(linkStateChange),
      errors: [missing, expired, notFound],
      examples: [
        {
          title: { zh: '恢复', en: 'Resume' },
          values: { link_id: 1 },
          status: 200,
          response: { success: true, data: { link_id: 1, state: 'active', message: '短链接已恢复' } },
        },
        unknownLink,
      ],
    },
    delete: {
      notes: [
        {
          zh: '不可恢复：地址永久返回 410，短码不再发放，list 与 get 不再返回，访问统计删除。',
          en: 'Final: the addresses answer 410 for ever, the code is never issued again, list and get do not return the link, and its statistics are deleted.',
        },
      ],
      response: shortlinkResponseOf(deletedLink),
      errors: [missing, expired, notFound],
      examples: [
        {
          title: { zh: '删除', en: 'Delete' },
          values: { link_id: 3 },
          status: 200,
          response: { success: true, data: { link_id: 3, message: '短链接已删除' } },
        },
        unknownLink,
      ],
    },
  }
}
