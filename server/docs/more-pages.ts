// The short documentation pages: one for each error code, and the changes of the interface.
import { errorCodes, type ErrorCode, errorExplanations, statusOfCode } from '../../contract/codes.ts'
import { documentedEndpoints, interfaceChanges, sharedErrors } from '../../contract/reference/interface.ts'
import type { Language, Text } from '../../contract/text.ts'
import { type Html, html, table } from './html.ts'
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
    <p>${meaning[language]} (HTTP ${statusOfCode[code]})</p>
    <h2>${zh ? '处理方法' : 'What to do'}</h2>
    <p>${advice[language]}</p>
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
