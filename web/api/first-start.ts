// The first responses of the service, which the script of index.html requests before the console is loaded.
import type { Start } from '../../contract/console/responses/session.ts'

declare global {
  interface Window {
    /** Undefined when the request failed. */
    tollgateStart?: Promise<Start | undefined>
    /** What the page shows first, by URL; anything but a response when the request failed. */
    tollgateReads?: Map<string, Promise<unknown>>
  }
}

/** Later the console asks again, because the response may be outdated. */
const maxReadAgeMs = 60_000

/** A successful response to this URL. Each is returned once. */
export async function takeFirstRead(url: string): Promise<Response | undefined> {
  const pending = window.tollgateReads?.get(url)
  if (pending === undefined) return undefined
  window.tollgateReads?.delete(url)
  const response = await pending
  return response instanceof Response && response.ok && performance.now() < maxReadAgeMs
    ? response
    : undefined
}

/** They belong to the session that was there when the document was loaded. */
export function dropFirstReads(): void {
  delete window.tollgateReads
}

/** Returned once; later reads ask the service again. */
export async function takeFirstStart(): Promise<Start | undefined> {
  const first = window.tollgateStart
  delete window.tollgateStart
  return first?.catch(() => undefined)
}

const hintKey = 'tollgate.signed-in'

/** Tells the script of index.html whether to preload the frame. */
export function rememberSignedIn(isSignedIn: boolean): void {
  try {
    if (isSignedIn) localStorage.setItem(hintKey, '1')
    else localStorage.removeItem(hintKey)
  } catch {
    // Without storage nothing is preloaded.
  }
}
