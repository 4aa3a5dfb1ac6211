// Tests a gateway for the operator: sends one message outside any account.
import { systemActor } from '../audit/audit.ts'
import type { Database } from '../db/database.ts'
import { fillTemplate, wholeText } from '../../contract/sms-text.ts'
import type { GuardedSmsGateway } from './gateways.ts'
import type { ProbeResult } from './port.ts'
import { listTemplates } from './templates.ts'

/**
 * Sends the oldest approved shared template with digits as variables. Without one it only checks the connection and the
 * credentials.
 */
export async function testGateway(
  db: Database,
  guarded: GuardedSmsGateway,
  input: { phone: string; signName: string; bizId: string },
): Promise<ProbeResult & { readonly sent: boolean }> {
  const { gateway, name } = guarded
  const shared = await listTemplates(db, systemActor, { accountId: null, status: '审核通过' })
  const template = shared.find(({ gatewayCodes }) => Object.hasOwn(gatewayCodes, name)) ?? shared[0]
  if (!template) return { ...(await gateway.probe()), sent: false }
  const values = new Map(template.variables.map((variable) => [variable, '123456']))
  const message = {
    bizId: input.bizId,
    phone: input.phone,
    signName: input.signName,
    templateCode: template.code,
    templateId: template.gatewayCodes[name] ?? template.code,
    variables: [...values].map(([variable, value]) => ({ name: variable, value })),
    text: wholeText(input.signName, fillTemplate(template.content, values)),
  }
  const outcome = await guarded.call((one, signal) => one.send(message, signal))
  if (outcome.kind === 'accepted') return { ok: true, detail: template.code, sent: true }
  return { ok: false, detail: `${outcome.kind} ${outcome.reason}`, sent: true }
}
