// The SMS endpoint: one request reads from top to bottom here.
import { apiTypeNames, isApiType } from '../../contract/credits.ts'
import { sms } from '../../contract/sms.ts'
import { type Caller, requireNotSuspended } from '../accounts/authenticate.ts'
import type { Balance } from '../credits/store.ts'
import { type Call, requireParameters } from '../http/call.ts'
import { registerEndpoint } from '../http/endpoint.ts'
import { AppError } from '../http/errors.ts'
import { type Answer, envelope } from '../http/shapes.ts'
import { findOperation } from '../http/operation.ts'
import type { Product, Services } from '../services.ts'

export function openSms(services: Services): Product {
  async function handle(call: Call): Promise<Answer> {
    const { caller, values } = await services.authenticate(call, sms.common)
    const operation = findOperation(call, sms.operations, values.action)
    if (operation === 'credits') return showCredits(call, caller)
    requireParameters(call, sms.operations[operation].parameters)
    throw new AppError(1006, { zh: '短信服务未开通', en: 'SMS service not enabled' })
  }

  async function showCredits(call: Call, { account }: Caller): Promise<Answer> {
    const { api_type: apiType = 'sms' } = requireParameters(call, sms.operations.credits.parameters)
    if (!isApiType(apiType)) {
      throw new AppError(1002, { zh: 'api_type 不存在', en: 'api_type is unknown' })
    }
    requireNotSuspended(account)
    return envelope(describeBalance(await services.credits.balance(account.id, apiType), call))
  }

  return { routes: (api) => registerEndpoint(api, services.http, sms, handle) }
}

function describeBalance(balance: Balance, call: Call) {
  const { api_type: apiType, total, used, remaining } = balance
  return {
    api_type: apiType,
    api_type_name: apiTypeNames[apiType][call.language],
    total,
    used,
    remaining,
    percentage_used: total === 0 ? 0 : Math.round((used / total) * 10_000) / 100,
  }
}
