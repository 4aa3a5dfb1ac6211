// Templates: review, changes, and whose template a code names.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Actor, systemActor } from '../audit/audit.ts'
import { createAccount } from '../accounts/accounts.ts'
import { AppError } from '../http/errors.ts'
import { freshDatabase, onEachEngine, uniqueName } from '../../test/support/engines.ts'
import { createTemplateRowLookup } from './template-store.ts'
import { createTemplate, deleteTemplate, editTemplate, listTemplates, reviewTemplate } from './templates.ts'

const operator: Actor = systemActor
const input = { code: 'T1', name: '模板', content: '${b}和${a}和${b}' }

function withCode(code: number): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === code
}

onEachEngine('SMS templates', (engine) => {
  async function ground() {
    const fresh = await freshDatabase(engine)
    const account = async (): Promise<Actor & { accountId: number }> => ({
      kind: 'account',
      accountId: (
        await createAccount(fresh.db, systemActor, { username: uniqueName(), password: 'correct horse 9' })
      ).id,
    })
    return {
      db: fresh.db,
      mine: await account(),
      other: await account(),
      [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
    }
  }

  test('puts a new template of an account into review', async () => {
    await using on = await ground()
    const made = await createTemplate(on.db, on.mine, {
      ...input,
      status: '审核通过',
      accountId: null,
      gatewayCodes: { aliyun: 'SMS_1' },
    })
    assert.deepEqual([made.status, made.accountId], ['审核中', on.mine.accountId])
    assert.deepEqual(made.variables, ['b', 'a'])
    assert.deepEqual(made.gatewayCodes, {})
  })

  test('puts an edited template back into review', async () => {
    await using on = await ground()
    const { id, revision } = await createTemplate(on.db, on.mine, input)
    assert.equal(
      (await reviewTemplate(on.db, operator, id, { status: '审核通过', revision })).status,
      '审核通过',
    )

    const mapped = await editTemplate(on.db, operator, id, { gatewayCodes: { tencent: '1110' } })
    assert.deepEqual([mapped.status, mapped.gatewayCodes], ['审核通过', { tencent: '1110' }])
    const same = await editTemplate(on.db, on.mine, id, {
      content: input.content,
      gatewayCodes: { aliyun: 'x' },
    })
    assert.deepEqual([same.status, same.gatewayCodes], ['审核通过', { tencent: '1110' }])

    const edited = await editTemplate(on.db, on.mine, id, { content: '新的${c}' })
    assert.deepEqual([edited.status, edited.variables], ['审核中', ['c']])
    // The reviewer has read the old text.
    await assert.rejects(
      reviewTemplate(on.db, operator, id, { status: '审核通过', revision }),
      withCode(1002),
    )
    await assert.rejects(reviewTemplate(on.db, operator, id, { status: '审核不通过' }), withCode(1002))
    const rejected = await reviewTemplate(on.db, operator, id, { status: '审核不通过', reason: '含网址' })
    assert.deepEqual([rejected.status, rejected.reason], ['审核不通过', '含网址'])
    const again = await editTemplate(on.db, on.mine, id, { name: '新名称' })
    assert.deepEqual([again.status, again.reason], ['审核中', ''])
  })

  test('hides foreign and shared templates from changes by an account', async () => {
    await using on = await ground()
    const { id } = await createTemplate(on.db, on.mine, input)
    const shared = await createTemplate(on.db, operator, { ...input, code: 'S1', status: '审核通过' })
    for (const target of [id, shared.id, 999_999]) {
      await assert.rejects(editTemplate(on.db, on.other, target, { name: 'x' }), withCode(1007))
      await assert.rejects(deleteTemplate(on.db, on.other, target), withCode(1007))
      await assert.rejects(reviewTemplate(on.db, on.other, target, { status: '审核通过' }), withCode(1007))
    }
    await assert.rejects(reviewTemplate(on.db, on.mine, id, { status: '审核通过' }), withCode(1007))
    const codes = async (actor: Actor) => (await listTemplates(on.db, actor)).map(({ code }) => code)
    assert.deepEqual(await codes(on.mine), ['T1', 'S1'])
    assert.deepEqual(await codes(on.other), ['S1'])
    assert.deepEqual(await codes(operator), ['T1', 'S1'])
    assert.equal((await listTemplates(on.db, operator, { status: '审核中' })).length, 1)
    assert.equal((await listTemplates(on.db, operator, { accountId: null })).length, 1)
    await deleteTemplate(on.db, on.mine, id)
    assert.deepEqual(await codes(on.mine), ['S1'])
  })

  test('codes are unique per account, and own templates take precedence', async () => {
    await using on = await ground()
    const find = createTemplateRowLookup(on.db)
    await createTemplate(on.db, on.mine, input)
    await createTemplate(on.db, on.other, { ...input, content: '别人的' })
    await assert.rejects(createTemplate(on.db, on.mine, input), withCode(1002))
    await createTemplate(on.db, operator, { ...input, content: '共用的' })
    await assert.rejects(createTemplate(on.db, operator, input), withCode(1002))
    const third = await createAccount(on.db, systemActor, {
      username: uniqueName(),
      password: 'correct horse 9',
    })
    await assert.rejects(
      createTemplate(on.db, { kind: 'account', accountId: third.id }, input),
      withCode(1002),
    )
    const found = await Promise.all(
      [on.mine.accountId, on.other.accountId, third.id].map((accountId) => find(accountId, 'T1')),
    )
    assert.deepEqual(
      found.map((row) => row?.content),
      [input.content, '别人的', '共用的'],
    )
    assert.equal(await find(third.id, 'NONE'), undefined)
    assert.equal((await listTemplates(on.db, on.mine)).length, 1)
  })

  test('rejects invalid input with a message', async () => {
    await using on = await ground()
    const bad: Partial<typeof input>[] = [
      { code: '' },
      { code: 'a b' },
      { code: 'x'.repeat(65) },
      { name: ' ' },
      { name: 'x'.repeat(51) },
      { name: 'a\nb' },
      { content: '  ' },
      { content: 'x'.repeat(501) },
      { content: '${__proto__}' },
      { content: '${constructor}' },
      { content: '${1}' },
      { content: '${open' },
      { content: 'a\0b' },
    ]
    for (const one of bad) {
      await assert.rejects(
        createTemplate(on.db, on.mine, { ...input, ...one }),
        withCode(1002),
        JSON.stringify(one),
      )
    }
    for (const gatewayCodes of [{ other: 'x' }, { aliyun: 'a b' }, { aliyun: '' }]) {
      await assert.rejects(createTemplate(on.db, operator, { ...input, gatewayCodes }), withCode(1002))
    }
    assert.deepEqual(await listTemplates(on.db, operator), [])
  })
})
