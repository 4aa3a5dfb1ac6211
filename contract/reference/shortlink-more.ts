// Batches, lists, statistics and states of links in the reference of the short link endpoint.
import { type TSchema, Type } from 'typebox'
import { maxStatDays } from '../link-analytics.ts'
import {
  count,
  type ErrorCase,
  object,
  oneOf,
  type OperationReference,
  shortlinkResponseOf,
  text,
} from '../reference.ts'
import { linkLimits, linkStates } from '../shortlink.ts'

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
    links: Type.Array(record, text('短链接，按创建时间倒序', 'Links, newest first')),
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
    text('按 by 分组的真人访问数', 'Visits by people, by group'),
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
          zh: '先检查全部链接，一次指出所有问题，例如 links[3].target_url；有问题时不扣费。扣费与生成要么全部成功，要么全部不执行。',
          en: 'All links are checked first. One message names all problems, such as links[3].target_url, and nothing is charged. The links are charged and created together or not at all.',
        },
        {
          zh: '整个请求使用一个 Idempotency-Key。',
          en: 'One Idempotency-Key covers the whole call.',
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
              'links[0].target_url 必须是 http:// 或 https:// 开头的完整网址；links[0].max_clicks 必须是 1 至 1000000000 的整数',
          },
        },
      ],
    },
    list: {
      notes: [
        {
          zh: '按创建时间倒序。cursor 只能用于相同的筛选条件，limit 可以不同。没有更多时 next_cursor 为 null。',
          en: 'Newest first. A cursor is valid only with the same filters; limit may change. next_cursor is null after the last page.',
        },
        {
          zh: `按 q 或 state 筛选时，一页最多查找 ${linkLimits.searchedLinks.toLocaleString('en-US')} 条链接：匹配的较少时，一页可能不足 limit 条，甚至为空。请一直查询到 next_cursor 为 null。`,
          en: `With q or state, a page searches at most ${linkLimits.searchedLinks.toLocaleString('en-US')} links: when few match, it may have fewer links than limit, or none. Continue until next_cursor is null.`,
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
          zh: '传入 link_id、short_code、external_id 之一，或 tag。默认统计最近 30 天，按天分组。按标签统计时，同一访客同一天打开多个链接只计 1 人；一天超过 512 位访客时，该数可能为估算值（标准误差低于 6%）；各链接有访客的天数合计超过 100,000 时，其余链接的访客数直接相加。',
          en: 'Pass one of link_id, short_code and external_id, or tag. By default, the last 30 days are grouped by day. For a tag, a person who opens several of its links on one day is one visitor; with more than 512 visitors on a day, the number can be an estimate (standard error below 6 %); after 100,000 days with visitors of all links together, the visitors of the other links are added up.',
        },
        {
          zh: `按天或小时分组时按时间升序，没有访问的时段也会列出；其他分组按访问数降序，未知值为空，超出保存数量的来源合并为 *。by=hour 最多查询 ${maxStatDays.hour} 天；60 天前的数据不再按小时保存，只按天。`,
          en: `Days and hours are in ascending order and include those without visits; other groups are sorted by visits, largest first. Unknown values are empty, and referrers beyond the stored ones are merged into *. by=hour spans at most ${maxStatDays.hour} days; hours older than 60 days are merged into days.`,
        },
        {
          zh: '国家和省份由 IP 地址推断，仅供参考；不保存 IP 地址。',
          en: 'Country and province are estimated from the IP address, which is not stored.',
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
      notes: [{ zh: '暂停的短链接返回 410。', en: 'A paused link returns 410.' }],
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
          zh: '不可恢复：地址永久返回 410，短码不再分配，list 与 get 不再返回该链接，访问统计一并删除。',
          en: 'Cannot be undone: the addresses return 410 permanently, the code is never issued again, list and get do not return the link, and its statistics are deleted.',
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
