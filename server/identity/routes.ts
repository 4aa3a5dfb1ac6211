// The identity endpoint.
import { identity } from '../../contract/identity.ts'
import { requireParameters } from '../http/call.ts'
import { registerEndpoint } from '../http/endpoint.ts'
import { AppError } from '../http/errors.ts'
import type { Product, Services } from '../services.ts'

export function openIdentity(services: Services): Product {
  return {
    routes: (api) =>
      registerEndpoint(api, services.http, identity, async (call) => {
        await services.authenticate(call, identity.common)
        for (const operation of Object.values(identity.operations))
          requireParameters(call, operation.parameters)
        throw new AppError(5000, { zh: '尚未开放', en: 'Not open yet' }, { status: 503 })
      }),
  }
}
