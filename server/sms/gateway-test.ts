// One message through one gateway, outside of any account: whether it works, as the operator asks.
import type { Database } from '../db/database.ts'
import { fillTemplate, wholeText } from '../../contract/sms-text.ts'
import type { GuardedGateway } from './gateways.ts'
import type { Probe } from './port.ts'
import { listTemplates } from './templates.ts'

/**
 * Sends the oldest approved template that everyone shares, with digits for its variables. Without such a template only
 * the connection and the credentials are tried.
 */
export async function testGateway(
  db: Database,
  { gateway, name, send }: GuardedGateway,
  wish: { phone: string; signName: string; bizId: string },
): Promise<Probe & { readonly sent: boolean }> {
  const shared = await listTemplates(db, { kind: 'operator' }, { accountId: null, status: '审核通过' })
  const template = shared.find(({ gatewayCodes }) => Object.hasOwn(gatewayCodes, name)) ?? shared[0]
  if (!template) return { ...(await gateway.probe()), sent: false }
  const values = new Map(template.variables.map((variable) => [variable, '123456']))
  const outcome = await send({
    bizId: wish.bizId,
    phone: wish.phone,
    signName: wish.signName,
    templateCode: template.code,
    templateId: template.gatewayCodes[name] ?? template.code,
    variables: [...values].map(([variable, value]) => ({ name: variable, value })),
    text: wholeText(wish.signName, fillTemplate(template.content, values)),
  })
  if (outcome.kind === 'accepted') return { ok: true, detail: template.code, sent: true }
  return { ok: false, detail: `${outcome.kind} ${outcome.reason}`, sent: true }
}
