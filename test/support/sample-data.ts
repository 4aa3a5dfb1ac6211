// Fills a service with a month of counters, recent calls and credits in every state, for screenshots and page tests.
import { systemActor } from '../../server/audit/audit.ts'
import { type EndpointName, endpointNames } from '../../contract/console/values.ts'
import { apiTypes } from '../../contract/credits.ts'
import { dayMs, formatDay } from '../../contract/time.ts'
import { createAccount, resetKey } from '../../server/accounts/accounts.ts'
import { addCounts, type DayCount, wholePlatform } from '../../server/request-log/store.ts'
import { createDayCount } from '../../server/request-log/day-counts.ts'
import { addConsoleActions } from './sample-console.ts'
import { addPayments } from './sample-payments.ts'
import { addVisits, prepareProducts } from './sample-products.ts'
import { post, type TestAccount, type TestService } from './service.ts'

const password = 'correct horse 9'

export interface SampleData {
  readonly holder: TestAccount
  readonly operator: { readonly id: number; readonly username: string; readonly password: string }
}

export async function createSampleData(service: TestService): Promise<SampleData> {
  const { db } = service.installation
  const holder = await createHolder(service)
  const operator = await createAccount(db, systemActor, { username: 'operator', password, role: 'operator' })
  const other = await createAccount(db, systemActor, { username: 'lanhai-shop', password })
  await createAccount(db, systemActor, { username: 'xingchen-tech', password, expiresOn: '2026-01-31' })
  await prepareProducts(service, holder)
  await spend(service, holder)
  await addHistory(service, holder)
  await makeCalls(service, holder)
  await addVisits(service, holder)
  await addConsoleActions(service, { holder, operator, other })
  await service.app.requestLog.flush()
  await spreadCalls(service, holder)
  await addPayments(service, { holder, operator })
  return { holder, operator }
}

async function createHolder(service: TestService): Promise<TestAccount> {
  const { db } = service.installation
  const account = await createAccount(db, systemActor, { username: 'yunfan-mall', password })
  return { ...account, key: await resetKey(db, systemActor, account.id) }
}

/** A month of use: grants at the start, a second SMS grant, and charges each day. */
async function spend(service: TestService, { id }: TestAccount): Promise<void> {
  const { credits } = service.app.services
  const { db } = service.installation
  const granted = { short_link: 50_000, sms: 8_000, id_verification: 3_000, domain_check: 800 }
  const daily = { short_link: 288, sms: 330, id_verification: 41, domain_check: 26 }
  /** Moves the newest ledger entries and operations back by this many days. IDs stay in order of time. */
  const moveBack = async (ago: number) => {
    const at = Date.now() - ago * dayMs
    await db.write(async (tx) => {
      await tx.run('UPDATE ledger SET at = ? WHERE account_id = ? AND at > ?', [at, id, at + dayMs / 2])
      await tx.run('UPDATE operation SET created_at = ? WHERE account_id = ? AND created_at > ?', [
        at,
        id,
        at + dayMs / 2,
      ])
    })
  }
  for (const apiType of apiTypes) {
    await credits.grant({
      actor: systemActor,
      accountId: id,
      apiType,
      amount: granted[apiType],
      note: '开户赠送',
    })
  }
  await moveBack(30)
  for (let ago = 29; ago > 0; ago -= 1) {
    if (ago === 13)
      await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount: 4_000, note: '续费' })
    const wave = 1 + 0.35 * Math.sin(ago * 0.9)
    for (const apiType of apiTypes) {
      const cost = Math.round(daily[apiType] * wave)
      const requestId = `sample-${apiType}-${ago}`
      await credits.charge({ accountId: id, apiType, action: `${apiType}.sample`, cost, requestId })
    }
    await moveBack(ago)
  }
}

/** Spreads today's calls over the last three days. */
async function spreadCalls(service: TestService, { id }: TestAccount): Promise<void> {
  const { db } = service.installation
  const calls = await db.all<{ id: number }>('SELECT id FROM request_log WHERE account_id = ? ORDER BY id', [
    id,
  ])
  await db.write(async (tx) => {
    for (const [index, call] of calls.entries()) {
      const ago = ((calls.length - 1 - index) / calls.length) ** 2 * 3 * dayMs
      await tx.run('UPDATE request_log SET at = at - ? WHERE id = ?', [Math.round(ago), call.id])
    }
    // One message has a delivery receipt.
    await tx.run(
      `UPDATE sms_send SET state = 'delivered', created_at = created_at - 540000, receipt_at = created_at - 532000
       WHERE id = (SELECT MIN(id) FROM sms_send WHERE account_id = ? AND state = 'accepted')`,
      [id],
    )
  })
}

/** A month of counters with waves, growth and one day with many failures. */
async function addHistory(service: TestService, { id }: TestAccount): Promise<void> {
  const usual: Readonly<Record<EndpointName, number>> = {
    shortlink: 280,
    sms: 330,
    identity: 42,
    'domain-check': 26,
  }
  const counts: DayCount[] = []
  for (let ago = 30; ago >= 0; ago--) {
    const day = formatDay(Date.now() - ago * dayMs)
    const wave = 0.75 + 0.25 * Math.sin(ago * 0.9) + (30 - ago) * 0.012 - (ago === 0 ? 0.3 : 0)
    for (const endpoint of endpointNames) {
      const calls = Math.round(usual[endpoint] * wave)
      const failed = Math.round(calls * (ago === 9 && endpoint === 'sms' ? 0.18 : 0.012))
      const code = endpoint === 'shortlink' ? 400 : endpoint === 'sms' ? 1005 : 1002
      for (const account_id of [id, wholePlatform]) {
        const scale = account_id === wholePlatform ? 7 : 1
        const succeeded = (calls - failed) * scale
        counts.push(
          {
            account_id,
            day,
            endpoint,
            code: 0,
            calls: succeeded,
            succeeded,
            paid: succeeded,
            credits: succeeded,
            console_calls: 0,
            console_paid: 0,
          },
          { ...createDayCount(account_id, day, endpoint, code), calls: failed * scale },
        )
      }
    }
  }
  await service.installation.db.write((tx) => addCounts(tx, counts))
}

/** Calls all endpoints over HTTP, with successes and failures. */
async function makeCalls(service: TestService, { username, key }: TestAccount): Promise<void> {
  const credentials = { username, api_key: key }
  const call = (path: string, body: Record<string, unknown>) =>
    post(`${service.url}/api/${path}`, { ...credentials, ...body })
  for (const [index, title] of ['双十一主会场', '会员日', '新品预约', '客服入口'].entries()) {
    await call('shortlink_api.php', {
      action: 'generate',
      target_url: `https://shop.example.com/activity/${index + 1}`,
      title,
    })
  }
  for (const phone of ['13800138000', '13900139000', '19900000001', '1380013']) {
    await call('sms_api.php', {
      action: 'send_sms',
      phone_number: phone,
      template_code: 'CODE_LOGIN',
      template_params: { code: '482913' },
    })
  }
  await call('sms_api.php', { action: 'get_credits' })
  await call('sms_api.php', { action: 'get_templates' })
  await post(`${service.url}/api/id_verification_api.php`, {
    api_key: key,
    name: '张三',
    idcard: '11010519491231002X',
  })
  await post(`${service.url}/api/id_verification_api.php`, {
    api_key: key,
    name: '不匹配',
    idcard: '11010519491231002X',
  })
  await call('video_platform_check.php', { urls: ['example.com', 'blocked.test', 'down.test'] })
  await call('sms_api.php', { action: 'send_sms' })
}
