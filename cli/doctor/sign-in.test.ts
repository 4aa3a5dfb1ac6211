// The mail server and the OpenID provider of the settings.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { json, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { openMailbox } from '../../test/support/mailbox.ts'
import { readConfig } from '../../server/config.ts'
import { checkSignIn } from './sign-in.ts'

const statesOf = async (environment: Readonly<Record<string, string>>) =>
  (await checkSignIn(readConfig(environment))).map(({ check, state }) => `${check} ${state}`)

it('reports a mail server and an OpenID provider that work, and those that do not', async () => {
  let issuer = ''
  const provider = await startFakeUpstream(() => json(200, { issuer }))
  const mailbox = await openMailbox()
  const oidc = { OIDC_ISSUER: provider.url, OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' }
  issuer = provider.url
  assert.deepEqual(await statesOf({}), [])
  assert.deepEqual(await statesOf({ ...mailbox.environment, ...oidc }), ['mail ok', 'oidc ok'])
  issuer = 'https://other.example.com'
  assert.deepEqual(await statesOf(oidc), ['oidc fail'])
  await provider.close()
  await mailbox.close()
  assert.deepEqual(await statesOf({ ...mailbox.environment, ...oidc }), ['mail fail', 'oidc fail'])
})
