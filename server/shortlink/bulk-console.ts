// Console routes for several links and for their names: changes of many links, the account's tags, free codes.
import { type BulkChange, linkRoutes } from '../../contract/console/shortlink.ts'
import { linkLimits, shortlink as endpoint } from '../../contract/shortlink.ts'
import type { Text } from '../../contract/text.ts'
import { callFromConsole, requireNotExpired } from '../console/call-from-console.ts'
import { invalidFields, toProblem } from '../console/problem.ts'
import type { SignedInRequest } from '../console/access.ts'
import type { Api } from '../console/routes.ts'
import type { Services } from '../services.ts'
import type { Shortlink } from './api.ts'
import { chosenCodeProblem, takenCode } from './codes/chosen.ts'
import { readTags } from './options/read.ts'
import { changeTag, type TagResult } from './options/tag-store.ts'

/** A change waits until every process knows it; those of one request wait together. */
const changesAtOnce = 10

export function linkBulkPages(api: Api, services: Services, links: Shortlink): void {
  async function changeOne(
    request: SignedInRequest,
    { action, tag }: { readonly action: BulkChange['action']; readonly tag: string },
    id: number,
  ): Promise<Text | undefined> {
    if (action === 'tag' || action === 'untag') {
      const isAdded = action === 'tag'
      const result = await services.db.write((tx) => changeTag(tx, request.account.id, id, { tag, isAdded }))
      return tagProblems[result]
    }
    const perform = { pause: links.pause, resume: links.resume, delete: links.remove }[action]
    try {
      await callFromConsole(services, request, { endpoint, action, parameters: { link_id: id } }, perform)
      return undefined
    } catch (error) {
      const problem = toProblem(error)
      if (problem.status < 500) return problem.text
      throw error
    }
  }

  api.account(linkRoutes.bulk, async (request, { action, tag = '', ids }) => {
    requireNotExpired(request.account)
    const named = action === 'tag' || action === 'untag' ? { action, tag: requireTag(tag) } : { action, tag }
    const items: { id: number; ok: boolean; message: string }[] = []
    const all = [...new Set(ids)]
    for (let start = 0; start < all.length; start += changesAtOnce) {
      const some = all.slice(start, start + changesAtOnce)
      const problems = await Promise.all(some.map((id) => changeOne(request, named, id)))
      for (const [index, problem] of problems.entries()) {
        items.push({ id: some[index]!, ok: !problem, message: problem?.[request.language] ?? '' })
      }
    }
    return { items }
  })

  api.account(linkRoutes.tags, async ({ account }) => ({ items: await links.list.tags(account.id) }))

  api.account(linkRoutes.code, async (request, { short_code: code }) => {
    const problem = chosenCodeProblem(code)?.text ?? ((await links.isCodeTaken(code)) ? takenCode : undefined)
    return { available: !problem, problem: problem?.[request.language] ?? '' }
  })
}

const tagProblems: Readonly<Record<TagResult, Text | undefined>> = {
  changed: undefined,
  not_found: { zh: '链接不存在或无权修改', en: 'Link not found or no right to modify it' },
  too_many: {
    zh: `每个链接最多 ${linkLimits.tags} 个标签`,
    en: `A link has at most ${linkLimits.tags} tags`,
  },
}

function requireTag(text: string): string {
  const { tags, problems } = readTags([text])
  const [problem] = problems
  if (problem) throw invalidFields({ tag: problem.text })
  return tags[0]!
}
