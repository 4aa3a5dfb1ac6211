// The first response of the service, which the script of index.html requests before the console is loaded.
import type { Start } from '../../contract/console/responses/session.ts'

declare global {
  interface Window {
    /** Undefined when the request failed. */
    tollgateStart?: Promise<Start | undefined>
  }
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
