// Opens the reference with a new key, which it fills into its samples.
import type { Language } from '../../contract/text.ts'

/** Also used by server/docs/docs.js. */
const docsKey = 'tollgate.docs-key'

export function openDocsWithKey(key: string, language: Language): void {
  try {
    window.sessionStorage.setItem(docsKey, key)
  } catch {
    // Without storage the reader pastes the key.
  }
  // The new tab has a copy of this tab's session storage; the copy ends with that tab.
  window.open(language === 'en' ? '/docs/en/' : '/docs/')
  try {
    window.sessionStorage.removeItem(docsKey)
  } catch {
    // Nothing was stored.
  }
}
