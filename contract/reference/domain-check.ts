// The domain check endpoint as the documents show it.
import { checkResults, type domainCheck } from '../domain-check.ts'
import { type EndpointReference, inEnvelope } from '../reference.ts'

export const domainCheckReference: EndpointReference<typeof domainCheck> = {
  check: {
    price: { name: 'domain', apiType: 'domain_check', per: { zh: '每个网址', en: 'an address' } },
    notes: [
      {
        zh: 'check_random 为真时，每个网址再加一个随机子域名，各计 1 次。结果为“请求失败”的项目退回额度。',
        en: 'With check_random each address is joined by a random subdomain of it, which is paid for too. What ended in 请求失败 is given back.',
      },
      {
        zh: '提交的网站本身不会被访问。结果：未拦截、已拦截、无效URL、请求失败。',
        en: 'The submitted site itself is never contacted. Results: 未拦截 not blocked, 已拦截 blocked, 无效URL no valid address, 请求失败 could not be checked.',
      },
    ],
    answer: inEnvelope({
      type: 'object',
      text: { zh: '结果', en: 'The result' },
      fields: {
        all_urls: {
          type: 'list',
          text: {
            zh: '检测的网址：先是提交的，后是随机子域名',
            en: 'What was checked: the submitted ones first, then the random ones',
          },
          items: {
            type: 'object',
            text: { zh: '一个网址', en: 'An address' },
            fields: {
              url: {
                type: 'string',
                text: { zh: '网址，与提交的文本一致', en: 'The address, as submitted' },
              },
              type: {
                type: 'string',
                values: ['original', 'random'],
                text: { zh: '提交的或随机子域名', en: 'Submitted, or a random subdomain' },
              },
            },
          },
        },
        results: {
          type: 'list',
          text: {
            zh: '与 all_urls 逐项对应的结果',
            en: 'One result per item of all_urls, in the same order',
          },
          items: {
            type: 'string',
            values: Object.values(checkResults),
            text: { zh: '结果', en: 'A result' },
          },
        },
        remaining_credits: {
          type: 'integer',
          least: 0,
          text: { zh: '剩余检测额度', en: 'Domain check credits left' },
        },
      },
    }),
    errors: [
      {
        code: 1001,
        status: 400,
        when: { zh: 'urls 缺失或为空', en: 'urls is missing or empty' },
      },
      {
        code: 1002,
        status: 400,
        when: { zh: '网址过多，或参数类型有误', en: 'Too many addresses, or a parameter of the wrong type' },
      },
      {
        code: 1004,
        status: 403,
        when: {
          zh: '额度少于要检测的项目，或账户已过期',
          en: 'Fewer credits than items, or the account has expired',
        },
      },
      {
        code: 1005,
        status: 502,
        when: {
          zh: '检测整体无法进行，额度全部退回',
          en: 'The check as a whole could not run; everything is given back',
        },
      },
    ],
    examples: [
      {
        title: { zh: '检测', en: 'Check' },
        values: { urls: ['example.com', 'blocked.test'] },
        status: 200,
        answer: {
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
        title: { zh: '连同随机子域名', en: 'With random subdomains' },
        values: { urls: ['https://example.com/page', 'not a domain'], check_random: true },
        status: 200,
        answer: {
          code: 0,
          message: 'success',
          data: {
            all_urls: [
              { url: 'https://example.com/page', type: 'original' },
              { url: 'not a domain', type: 'original' },
              { url: 'https://k3x9w2ab.example.com/page', type: 'random' },
              { url: 'm8q2t5zr.not a domain', type: 'random' },
            ],
            results: ['未拦截', '无效URL', '未拦截', '无效URL'],
            remaining_credits: 994,
          },
        },
        varies: ['data.all_urls.2.url', 'data.all_urls.3.url'],
      },
      {
        title: { zh: '平台无应答（沙箱域名），退回额度', en: 'No answer (sandbox domain), credit back' },
        values: { urls: ['down.test'] },
        status: 200,
        answer: {
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
        title: { zh: '缺少参数', en: 'A parameter is missing' },
        values: {},
        status: 400,
        answer: { code: 1001, message: 'urls 缺失' },
      },
      {
        title: { zh: '额度不足', en: 'No credits left' },
        values: { urls: ['example.com'] },
        caller: 'without credits',
        status: 403,
        answer: { code: 1004, message: '调用次数不足' },
      },
      {
        title: { zh: '参数类型有误', en: 'A parameter of the wrong type' },
        values: { urls: ['example.com'], check_random: 'perhaps' },
        status: 400,
        answer: { code: 1002, message: 'check_random 必须是 true 或 false' },
      },
    ],
  },
}
