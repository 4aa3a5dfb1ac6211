// The domain-check endpoint.
import { domainCheck } from '../../contract/domain-check.ts'
import { requireParameters } from '../http/call.ts'
import { registerEndpoint } from '../http/endpoint.ts'
import { AppError } from '../http/errors.ts'
import type { Product, Services } from '../services.ts'

export function openDomainCheck(services: Services): Product {
  return {
    routes: (api) =>
      registerEndpoint(api, services.http, domainCheck, async (call) => {
        await services.authenticate(call, domainCheck.common)
        for (const operation of Object.values(domainCheck.operations))
          requireParameters(call, operation.parameters)
        throw new AppError(5000, { zh: '尚未开放', en: 'Not open yet' }, { status: 503 })
      }),
  }
}
