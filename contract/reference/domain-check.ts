// The domain check endpoint in the reference.
import { Type } from 'typebox'
import { checkResults, type domainCheck } from '../domain-check.ts'
import { count, type EndpointReference, envelopeOf, object, oneOf, text } from '../reference.ts'

const { passes, blocked, invalid, failed } = checkResults

export const checkedDomains = object({
  all_urls: Type.Array(
    object(
      {
        url: Type.String(text('网址，与提交的文本一致', 'URL as submitted')),
        type: oneOf(
          ['original', 'random'],
          '提交的网址或随机子域名',
          'Whether it was submitted or is a random subdomain',
        ),
      },
      '一个网址',
      'A URL',
    ),
    text(
      '检测的网址：先是提交的，后是随机子域名',
      'Checked URLs: first the submitted ones, then the random subdomains',
    ),
  ),
  results: Type.Array(
    oneOf([passes, blocked, invalid, failed], '结果', 'A result'),
    text('与 all_urls 逐项对应的结果', 'One result per item of all_urls, in the same order'),
  ),
  remaining_credits: count('剩余检测额度', 'Remaining domain check credits'),
})

export const domainCheckReference: EndpointReference<typeof domainCheck> = {
  check: {
    price: { name: 'domain', apiType: 'domain_check', per: { zh: '每个网址', en: 'each URL' } },
    notes: [
      {
        zh: 'check_random 为 true 时，每个网址另检测一个随机子域名，同样计费。结果为“请求失败”的项目退回额度。',
        en: 'With check_random, a random subdomain of each URL is checked and charged as well. Items with the result 请求失败 are refunded.',
      },
      {
        zh: '不会访问所提交的网站。结果：未拦截、已拦截、无效URL、请求失败。',
        en: 'The submitted sites are never contacted. Results: 未拦截 not blocked, 已拦截 blocked, 无效URL invalid URL, 请求失败 check failed.',
      },
    ],
    response: envelopeOf(checkedDomains),
    errors: [
      {
        code: 1001,
        status: 400,
        when: { zh: 'urls 缺失或为空', en: 'urls is missing or empty' },
      },
      {
        code: 1002,
        status: 400,
        when: { zh: '网址过多，或参数类型有误', en: 'Too many URLs, or a parameter of the wrong type' },
      },
      {
        code: 1004,
        status: 403,
        when: {
          zh: '额度少于待检测的项目数，或账户已过期',
          en: 'Fewer credits than items, or the account has expired',
        },
      },
      {
        code: 1005,
        status: 502,
        when: {
          zh: '检测整体无法进行，额度全部退回',
          en: 'The whole check failed; all credits are refunded',
        },
      },
    ],
    examples: [
      {
        title: { zh: '检测', en: 'Check' },
        values: { urls: ['example.com', 'blocked.test'] },
        status: 200,
        response: {
          code: 0,
          message: 'success',
          data: {
            all_urls: [
              { url: 'example.com', type: 'original' },
              { url: 'blocked.test', type: 'original' },
            ],
            results: ['未拦截', '已拦截'],
            remaining_credits: 998,
          },
        },
      },
      {
        title: { zh: '同时检测随机子域名', en: 'With random subdomains' },
        values: { urls: ['https://example.com/page', 'not-a-domain'], check_random: true },
        status: 200,
        response: {
          code: 0,
          message: 'success',
          data: {
            all_urls: [
              { url: 'https://example.com/page', type: 'original' },
              { url: 'not-a-domain', type: 'original' },
              { url: 'https://k3x9w2ab.example.com/page', type: 'random' },
              { url: 'm8q2t5zr.not-a-domain', type: 'random' },
            ],
            results: ['未拦截', '无效URL', '未拦截', '无效URL'],
            remaining_credits: 994,
          },
        },
        varies: ['data.all_urls.2.url', 'data.all_urls.3.url'],
      },
      {
        title: {
          zh: '平台无响应（沙箱域名），退回额度',
          en: 'No response (sandbox domain), credit refunded',
        },
        sandbox: true,
        values: { urls: ['down.test'] },
        status: 200,
        response: {
          code: 0,
          message: 'success',
          data: {
            all_urls: [{ url: 'down.test', type: 'original' }],
            results: ['请求失败'],
            remaining_credits: 994,
          },
        },
      },
      {
        title: { zh: '缺少参数', en: 'Missing parameter' },
        values: {},
        status: 400,
        response: { code: 1001, message: 'urls 缺失' },
      },
      {
        title: { zh: '额度不足', en: 'Not enough credits' },
        values: { urls: ['example.com'] },
        caller: 'without credits',
        status: 403,
        response: { code: 1004, message: '调用次数不足' },
      },
      {
        title: { zh: '参数类型有误', en: 'Wrong parameter type' },
        values: { urls: ['example.com'], check_random: 'perhaps' },
        status: 400,
        response: { code: 1002, message: 'check_random 必须是 true 或 false' },
      },
    ],
  },
}
