// The shortlink endpoint.
import { shortlink } from '../../contract/shortlink.ts'
import { requireParameters } from '../http/call.ts'
import { registerEndpoint } from '../http/endpoint.ts'
import { AppError } from '../http/errors.ts'
import type { Product, Services } from '../services.ts'

export function openShortlink(services: Services): Product {
  return {
    routes: (api) =>
      registerEndpoint(api, services.http, shortlink, async (call) => {
        await services.authenticate(call, shortlink.common)
        for (const operation of Object.values(shortlink.operations))
          requireParameters(call, operation.parameters)
        throw new AppError(5000, { zh: '尚未开放', en: 'Not open yet' }, { status: 503 })
      }),
  }
}
