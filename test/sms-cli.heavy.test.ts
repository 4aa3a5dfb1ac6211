// The commands `template …` and `gateway …`, with a running service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEachEngine } from './support/engines.ts'
import { json, startFakeUpstream, verifyAliyunSignature } from './support/fake-upstream.ts'
import { admin } from './support/service.ts'
import { startSmsService } from './support/sms.ts'

onEachEngine('SMS command line', (engine) => {
  test('adding, reviewing and removing a template take effect immediately', async () => {
    await using sms = await startSmsService(engine)
    const { environment } = sms.service.storage
    const { username } = sms.account
    const added = await admin(
      environment,
      ...['template', 'add', username, '--code', 'CLI', '--name', '命令行', '--content', '您好${name}'],
      ...['--gateway', 'aliyun=SMS_1', '--gateway', 'tencent=1110', '--json'],
    )
    assert.equal(added.code, 0, added.stderr)
    const created = JSON.parse(added.stdout)
    assert.deepEqual(created.gateways, { aliyun: 'SMS_1', tencent: '1110' })
    assert.deepEqual([created.status, created.username, created.variables], ['审核通过', username, ['name']])
    const values = { template_code: 'CLI', template_params: { name: '李' } }
    assert.equal((await sms.send(values)).body.code, 0)

    await admin(
      environment,
      'template',
      'review',
      String(created.id),
      '--status',
      '审核不通过',
      '--reason',
      '不行',
    )
    assert.equal((await sms.send(values)).body.code, 1007)
    const listed = JSON.parse((await admin(environment, 'template', 'list', '--json')).stdout)
    assert.equal(
      listed.templates.find((template: { id: number }) => template.id === created.id).reason,
      '不行',
    )
    await admin(environment, 'template', 'remove', String(created.id))
    assert.equal((await sms.call({ action: 'get_templates' })).body.data.length, 1)

    const shared = await admin(
      environment,
      ...['template', 'add', '--shared', '--code', 'ALL', '--name', '共用', '--content', '大家好', '--json'],
    )
    assert.equal(JSON.parse(shared.stdout).shared, true)
    assert.equal((await sms.send({ template_code: 'ALL', template_params: {} })).body.code, 0)
  })
})

test('usage errors print one line and exit with a non-zero code', async () => {
  await using sms = await startSmsService('sqlite')
  const { environment } = sms.service.storage
  const cases = [
    ['template', 'add', '--code', 'X', '--name', 'x', '--content', 'x'],
    ['template', 'add', 'nobody', '--code', 'X', '--name', 'x', '--content', 'x'],
    ['template', 'add', '--shared', '--name', 'x', '--content', 'x'],
    ['template', 'add', '--shared', '--code', 'X', '--name', 'x', '--content', '${1}'],
    ['gateway', 'test', 'sms', 'aliyun'],
  ]
  const results = await Promise.all(cases.map((args) => admin(environment, ...args)))
  for (const [index, { code, stdout, stderr }] of results.entries()) {
    assert.equal(code, 1, cases[index]!.join(' '))
    assert.equal(stdout, '')
    assert.equal(stderr.trim().split('\n').length, 1, stderr)
  }
})

test('lists gateways with their receipt URLs and tests them without sending', async () => {
  const upstream = await startFakeUpstream((request) =>
    verifyAliyunSignature(request, { testid: 'testsecret' }) === undefined
      ? json(200, { Code: 'OK', SmsSendDetailDTOs: { SmsSendDetailDTO: [] } })
      : json(400, { Code: 'SignatureDoesNotMatch' }),
  )
  await using sms = await startSmsService('sqlite')
  const environment = {
    ...sms.service.storage.environment,
    SMS_GATEWAYS: 'aliyun,sandbox',
    ALIYUN_ACCESS_KEY_ID: 'testid',
    ALIYUN_ACCESS_KEY_SECRET: 'testsecret',
    ALIYUN_SMS_ENDPOINT: upstream.url,
    PUBLIC_URL: 'https://sms.example.com/',
  }
  const { gateways } = JSON.parse((await admin(environment, 'gateway', 'list', '--json')).stdout)
  const secret = sms.service.app.services.secretFor('sms receipts aliyun')
  assert.deepEqual(gateways.slice(0, 2), [
    {
      group: 'sms',
      name: 'aliyun',
      order: 1,
      receipts: `https://sms.example.com/receipts/sms/aliyun/${secret}`,
    },
    { group: 'sms', name: 'sandbox', order: 2, receipts: null },
  ])
  const passed = await admin(environment, 'gateway', 'test', 'sms', 'aliyun', '--json')
  assert.deepEqual(JSON.parse(passed.stdout), { group: 'sms', name: 'aliyun', ok: true, detail: 'OK' })
  const wrongSecret = { ...environment, ALIYUN_ACCESS_KEY_SECRET: 'other' }
  const failed = await admin(wrongSecret, 'gateway', 'test', 'sms', 'aliyun', '--json')
  assert.equal(failed.code, 1)
  assert.equal(JSON.parse(failed.stdout).detail, 'SignatureDoesNotMatch')
  assert.ok(upstream.requests.every((request) => request.headers['x-acs-action'] === 'QuerySendDetails'))
  await upstream.close()
})
