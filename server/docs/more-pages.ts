// The short documentation pages: one for each error code, and the changes of the interface.
import { errorCodes, type ErrorCode, errorExplanations, statusOfCode } from '../../contract/codes.ts'
import { documentedEndpoints, interfaceChanges, sharedErrors } from '../../contract/reference/interface.ts'
import type { Language, Text } from '../../contract/text.ts'
import { codeBlock } from './highlight.ts'
import { type Html, html, sentence, table } from './html.ts'
import type { DocsPage } from './layout.ts'

function errorPage(code: ErrorCode): DocsPage {
  const { meaning } = errorExplanations[code]
  return {
    path: `errors/${code}`,
    title: { zh: `错误 ${code}：${meaning.zh}`, en: `Error ${code}: ${meaning.en}` },
    description: errorExplanations[code].advice,
    body: (_context, language) => errorBody(code, language),
  }
}

/** Whether the call cost credits, and how to send it again. */
const retryTexts: Readonly<Record<ErrorCode, Text>> = {
  1001: {
    zh: '未执行，未扣费。补全后可使用同一个 `Idempotency-Key` 重新发送。',
    en: 'Nothing was executed or charged. You can send the corrected call with the same `Idempotency-Key`.',
  },
  1002: {
    zh: '未执行，未扣费。修改后可使用同一个 `Idempotency-Key` 重新发送；HTTP 422 表示该键已用于其他参数，请换一个键。',
    en: 'Nothing was executed or charged. You can send the corrected call with the same `Idempotency-Key`; HTTP 422 means that the key was used with other parameters: use another key.',
  },
  1003: {
    zh: '未执行，未扣费。凭据正确之前重试没有意义，错误次数过多会被限制（429）。',
    en: 'Nothing was executed or charged. A retry with the same credentials fails again, and too many failures are limited (429).',
  },
  1004: {
    zh: '未执行，未扣费。补充额度或解除限制后可使用同一个 `Idempotency-Key` 重新发送。',
    en: 'Nothing was executed or charged. Add credits or have the restriction lifted, then send the call again; you can use the same `Idempotency-Key`.',
  },
  1005: {
    zh: '已扣的额度会退回；短信结果未知时先暂扣，确认后结算或退回，不会重复发送。该响应随 `Idempotency-Key` 保存 24 小时，再次尝试请换一个键。HTTP 409 除外：首次请求仍在处理，按 Retry-After 等待后用同一个键重试。',
    en: 'Credits that were charged are refunded; if it is unknown whether an SMS was sent, they are held until that is decided, and it is not sent again. The response is stored with its `Idempotency-Key` for 24 hours: use another key for another attempt. Except HTTP 409: the first call is still in progress, wait as long as Retry-After says and retry with the same key.',
  },
  1006: {
    zh: '未执行，未扣费。开通后重新发送。',
    en: 'Nothing was executed or charged. Send the call again when the service is enabled.',
  },
  1007: {
    zh: '未执行，未扣费。模板通过审核后可使用同一个 `Idempotency-Key` 重新发送。',
    en: 'Nothing was executed or charged. Send the call again when the template is approved; you can use the same `Idempotency-Key`.',
  },
  429: {
    zh: '未执行，未扣费。按响应头 Retry-After 的秒数等待后重试；平台提供的客户端会自动等待。',
    en: 'Nothing was executed or charged. Wait as many seconds as the header Retry-After says; the clients of the platform do so automatically.',
  },
  5000: {
    zh: 'HTTP 503 表示未执行，按 Retry-After 等待后重试。其他情况不确定是否已执行：带 `Idempotency-Key` 的请求可用同一个键重试，不会重复扣费；没有带键时请先查询余额或记录。',
    en: 'HTTP 503 means that nothing was executed: wait as long as Retry-After says, then retry. Otherwise the call may have been executed: retry with the same `Idempotency-Key`, and it is not charged twice. Without a key, check the balance or the records first.',
  },
}

/** A documented response with this code; tests call it. */
function exampleOf(code: ErrorCode): Html {
  const examples = documentedEndpoints.flatMap(({ reference }) =>
    Object.values(reference).flatMap((operation) => operation.examples),
  )
  const found = examples.find(({ response }) => (response as { readonly code?: unknown }).code === code)
  return found === undefined ? html`` : codeBlock(JSON.stringify(found.response, null, 2), 'json')
}

function errorBody(code: ErrorCode, language: Language): Html {
  const zh = language === 'zh'
  const { meaning, advice } = errorExplanations[code]
  const shared = sharedErrors.filter((one) => one.code === code)
  const own = documentedEndpoints.flatMap(({ endpoint, reference }) =>
    Object.entries(endpoint.operations).flatMap(([name, operation]) =>
      (reference[name]?.errors ?? [])
        .filter((one) => one.code === code)
        .map((one) => [operation.text[language], one.status, one.when[language]]),
    ),
  )
  return html`<h2>${zh ? '含义' : 'Meaning'}</h2>
    <p>${meaning[language]}${zh ? '（' : ' ('}HTTP ${statusOfCode[code]}${zh ? '）。' : ').'}</p>
    ${exampleOf(code)}
    <h2>${zh ? '处理方法' : 'What to do'}</h2>
    <p>${advice[language]}${zh ? '。' : '.'}</p>
    <h2>${zh ? '额度与重试' : 'Credits and retries'}</h2>
    <p>${sentence(retryTexts[code][language])}</p>
    <h2>${zh ? '原因' : 'Causes'}</h2>
    ${table(
      [zh ? '操作' : 'Operation', 'HTTP', zh ? '原因' : 'Cause'],
      [...shared.map(({ status, when }) => [zh ? '全部' : 'All', status, when[language]]), ...own],
    )}`
}

const changesTitle: Text = { zh: '接口变更', en: 'API changes' }

const changesPage: DocsPage = {
  path: 'changelog',
  title: changesTitle,
  description: changesTitle,
  body: (_context, language) =>
    html`${interfaceChanges.map(
      ({ version, date, changes }) =>
        html`<h2>${version}${date === undefined ? '' : html` <small>${date}</small>`}</h2>
          <ul>
            ${changes.map((change) => html`<li>${change[language]}</li>`)}
          </ul>`,
    )}`,
}

export const morePages: readonly DocsPage[] = [...errorCodes.map(errorPage), changesPage]
