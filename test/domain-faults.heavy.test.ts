// Domain checks interrupted by kill -9 and SIGTERM.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshStorage } from './support/engines.ts'
import { hang, late, startFakeUpstream, text } from './support/fake-upstream.ts'
import { admin, post, spawnService } from './support/service.ts'

const path = '/api/video_platform_check.php'

interface CreatedAccount {
  readonly username: string
  readonly api_key: string
}

describe('faults during a domain check', () => {
  test(
    'refunds the call once after kill -9 and replays the error for its key',
    { timeout: 120_000 },
    async () => {
      const storage = await freshStorage('sqlite')
      const platform = await startFakeUpstream(() => hang())
      const environment = {
        ...storage.environment,
        SAMPLE_ACCOUNT: 'off',
        DOMAIN_GATEWAYS: 'jump',
        DOMAIN_JUMP_URL: `${platform.url}?target={url}`,
        DOMAIN_DEADLINE_MS: '1500',
        OPERATION_LEASE_S: '1',
        SWEEP_S: '1',
      }
      const command = async (...args: string[]): Promise<unknown> =>
        JSON.parse((await admin(environment, ...args, '--json')).stdout)
      const { username, api_key } = (await command(
        'account',
        'create',
        'crash',
        '--credits',
        'domain_check=10',
      )) as CreatedAccount
      const send = (url: string) =>
        post(url + path, { username, api_key, urls: ['a.example', 'b.example'] }, { 'idempotency-key': 'k' })

      const first = await spawnService(environment)
      const interrupted = send(first.url).catch(() => undefined)
      while (platform.requests.length < 2) await sleep(10)
      await first.kill('SIGKILL')
      await interrupted

      const second = await spawnService(environment)
      let reply = await send(second.url)
      while (reply.status === 409) {
        await sleep(200)
        reply = await send(second.url)
      }
      assert.deepEqual([reply.status, reply.body.code], [502, 1005])
      assert.equal(reply.headers.get('idempotent-replayed'), 'true')
      assert.equal(platform.requests.length, 2, 'no second request')
      const balances = (await command('credits', 'show', 'crash')) as {
        credits: { api_type: string; remaining: number }[]
      }
      assert.equal(balances.credits.find((credit) => credit.api_type === 'domain_check')?.remaining, 10)
      assert.equal(((await command('ledger', 'check')) as { ok: boolean }).ok, true)
      await second.kill('SIGTERM')
      await platform.close()
      await storage.remove()
    },
  )

  test('completes the running call after SIGTERM and exits with 0', { timeout: 120_000 }, async () => {
    const storage = await freshStorage('sqlite')
    const platform = await startFakeUpstream(() => late(50, text(302, '', { location: 'http://x.example/' })))
    const environment = {
      ...storage.environment,
      SAMPLE_ACCOUNT: 'off',
      DOMAIN_GATEWAYS: 'jump',
      DOMAIN_JUMP_URL: `${platform.url}?target={url}`,
    }
    const created = await admin(
      environment,
      'account',
      'create',
      'calm',
      '--credits',
      'domain_check=100',
      '--json',
    )
    const { username, api_key } = JSON.parse(created.stdout) as CreatedAccount
    const service = await spawnService(environment)
    const urls = Array.from({ length: 64 }, (_, index) => `h${index}.example`)
    const running = post(service.url + path, { username, api_key, urls })
    while (platform.requests.length === 0) await sleep(5)
    const code = await service.kill('SIGTERM')
    const { body } = await running
    assert.equal(body.code, 0)
    assert.deepEqual([...new Set(body.data.results)], ['未拦截'])
    assert.equal(body.data.remaining_credits, 36)
    assert.equal(code, 0)
    await platform.close()
    await storage.remove()
  })
})
