// Sample data of the products: templates, clicks on links, watched domains. For screenshots and page tests.
import { systemActor } from '../../server/audit/audit.ts'
import { addWatch } from '../../server/domain-check/watch-list.ts'
import type { ClickCounter } from '../../server/shortlink/clicks/counts.ts'
import type { Client } from '../../server/shortlink/clicks/user-agents.ts'
import { addClicks } from '../../server/shortlink/clicks/store.ts'
import { addPoolDomain } from '../../server/shortlink/domains/domains.ts'
import { sampleTemplates } from '../../server/sms/sample-templates.ts'
import { addSignature } from '../../server/sms/signatures.ts'
import { createTemplate } from '../../server/sms/templates.ts'
import type { TestAccount, TestService } from './service.ts'

const hourMs = 3_600_000
const days = 30

/** Creates what the sample calls need. */
export async function prepareProducts(service: TestService, { id }: TestAccount): Promise<void> {
  const { db } = service.installation
  for (const template of sampleTemplates) {
    await createTemplate(db, systemActor, { ...template, accountId: id })
  }
  await addSignature(db, { kind: 'account', accountId: id }, id, { signName: '云帆商城' })
  await addPoolDomain(db, systemActor, 'a', 'go.example.com')
  await addPoolDomain(db, systemActor, 'a', 's.example.net')
  await addPoolDomain(db, systemActor, 'b', 'b.example.org')
  for (const text of ['shop.example.com', 'https://m.example.com/activity', 'shop.blocked.test']) {
    await addWatch(db, systemActor, { accountId: id, text, limit: 100, everyMinutes: 60 })
  }
}

const clients: readonly Client[] = [
  { kind: 'person', device: 'phone', browser: 'wechat' },
  { kind: 'person', device: 'phone', browser: 'douyin' },
  { kind: 'person', device: 'phone', browser: 'safari' },
  { kind: 'person', device: 'desktop', browser: 'chrome' },
  { kind: 'bot', device: 'other', browser: 'other' },
  { kind: 'preview', device: 'other', browser: 'other' },
]
const shares = [0.42, 0.2, 0.12, 0.16, 0.06, 0.04]
const referrers = ['', 'weixin.qq.com', 'www.douyin.com', 'www.baidu.com']

/** A month of clicks that increases towards today; the creation times of the links match. */
export async function addVisits(service: TestService, { id }: TestAccount): Promise<void> {
  const { db } = service.installation
  const links = await db.all<{ id: number }>('SELECT id FROM link WHERE account_id = ? ORDER BY id', [id])
  const now = Math.floor(Date.now() / hourMs)
  const counters: ClickCounter[] = []
  for (const [index, { id: link }] of links.entries()) {
    const age = days - index * 6
    for (let ago = age * 24; ago > 0; ago -= 6) {
      const wave = 1 + Math.sin((ago / 24) * 0.9 + index) * 0.5 + (age * 24 - ago) / 500
      for (const [clientIndex, share] of shares.entries()) {
        const clicks = Math.round((90 / (index + 1)) * wave * share)
        const referrer = referrers[clientIndex > 3 ? 0 : (clientIndex + ago / 6) % referrers.length]!
        if (clicks > 0)
          counters.push({ link_id: link, hour: now - ago, ...clients[clientIndex]!, referrer, clicks })
      }
    }
    await db.write((tx) =>
      tx.run('UPDATE link SET created_at = ? WHERE id = ?', [Date.now() - age * 24 * hourMs, link]),
    )
  }
  await db.write((tx) => addClicks(tx, { counters, visitors: [] }))
}
