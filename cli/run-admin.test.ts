// Arguments of the operator's command line that are malformed: nothing is changed, and one line says why.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { emptyStorage, type FreshStorage, freshStorage } from '../test/support/engines.ts'
import { admin } from '../test/support/service.ts'

describe('malformed arguments', () => {
  let storage: FreshStorage
  before(async () => {
    storage = await freshStorage('sqlite')
    assert.equal((await run('account', 'create', 'acme', '--credits', ' sms = 5 , short_link=3')).code, 0)
  })
  after(() => storage.remove())

  const run = (...args: string[]) => admin(storage.environment, ...args)

  async function assertRefused(pattern: RegExp, ...args: string[]): Promise<void> {
    const { code, stdout, stderr } = await run(...args)
    assert.deepEqual([code, stdout], [1, ''], args.join(' '))
    assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
    assert.match(stderr, pattern, args.join(' '))
  }

  it('are refused in lists of credits', async () => {
    for (const credits of ['sms=100,sms=200', 'sms=1=000', 'sms=1e3', 'sms=-1', 'sms', '=5', 'fax=1']) {
      await assertRefused(/credit type|positive integer/, 'account', 'create', 'other', '--credits', credits)
    }
    assert.equal((await run('account', 'show', 'other')).code, 1)
  })

  it('are shortened in the message when they are huge', async () => {
    const huge = 'x'.repeat(5000)
    for (const args of [
      ['account', 'show', huge],
      ['account', huge],
      [huge],
      ['gateway', 'test', 'sms', huge],
      ['backup', huge],
      ['webhook', 'add', 'acme', 'https://example.com/', '--events', huge],
      ['account', 'create', 'other', '--credits', huge],
    ]) {
      const { code, stderr } = await run(...args)
      assert.equal(code, 1)
      assert.match(stderr, /x{32}…/)
      assert.ok(stderr.length < 800, `${stderr.length}`)
    }
    const path = `/nonexistent/${'folder/'.repeat(30)}statement.csv`
    await assertRefused(new RegExp(path), 'statement', 'verify', path)
  })

  it('are refused when a flag is repeated, unless it takes several values', async () => {
    const grant = ['credits', 'grant', 'acme', 'sms', '5']
    await assertRefused(/--note.* twice/, ...grant, '--note', 'a', '--note=b')
    await assertRefused(
      /--daily-cap.* twice/,
      ...['account', 'set', 'acme'],
      '--daily-cap',
      'sms=5',
      '--daily-cap',
      'sms=6',
    )
    assert.match((await run('credits', 'show', 'acme', '--json', '--json')).stdout, /"sms","total":5,/)
    const template = ['template', 'add', '--shared', '--code', 'T1', '--name', 'x', '--content', 'x']
    const added = await run(...template, '--gateway', 'aliyun=SMS_1', '--gateway', 'tencent=2', '--json')
    assert.match(added.stdout, /"gateways":\{"aliyun":"SMS_1","tencent":"2"\}/)
  })

  it('are refused as the note of a grant if they are the number of an order', async () => {
    const entry = ['credits', 'grant', 'acme', 'sms', '5', '--note']
    const price = ['--credits', 'sms=10', '--price', '1']
    assert.equal((await run('package', 'add', 'small', '--name', 'Small', ...price)).code, 0)
    const order = await run('order', 'create', 'acme', 'small', '--pay', 'sandbox', '--json')
    const { number } = JSON.parse(order.stdout) as { number: string }
    await assertRefused(/order number/, ...entry, number)
    await assertRefused(/order number/, 'credits', 'take', 'acme', 'sms', '1', '--note', number)
    assert.equal((await run(...entry, `${number} late`)).code, 0)
    assert.match((await run('ledger', 'check')).stdout, /^ok/)
  })

  it('are repeated in one line', async () => {
    await assertRefused(/go\.example\.com +is not/, 'domain', 'add', 'a', '\u001b[2Jgo.example.com\n')
    await assertRefused(/no such command/, 'no\nsuch')
    await assertRefused(/Unknown option/, 'account', 'list', '--no\nsuch')
  })

  it('are refused in lists of numbers', async () => {
    for (const flag of ['daily-cap', 'monthly-cap', 'prices', 'alert-percents']) {
      const name = flag === 'prices' ? 'identity' : 'sms'
      const wrong = flag === 'alert-percents' ? ['1e1', '0x14', '', '5.0'] : ['5=9', '1e1', '', '0x14']
      for (const value of wrong) {
        const given = flag === 'alert-percents' ? value : `${name}=${value}`
        await assertRefused(new RegExp(flag.replace('-', '_')), 'account', 'set', 'acme', `--${flag}`, given)
      }
    }
  })
})

describe('an empty database', () => {
  it('is reported: the settings may not have been found', async () => {
    for (const [args, isExpected] of [
      [['ledger', 'check', '--json'], false],
      [['account', 'create', 'acme'], true],
      [['migrate'], true],
    ] as const) {
      const storage = await emptyStorage('sqlite')
      const run = () => admin(storage.environment, ...args)
      const first = await run()
      assert.equal(first.code, 0)
      if (isExpected) assert.equal(first.stderr, '')
      else assert.match(first.stderr, /^数据库为空.*the database was empty.*DATA_DIR.*\n$/)
      assert.equal((await admin(storage.environment, 'ledger', 'check')).stderr, '')
      await storage.remove()
    }
  })
})
