// Whether the screen is as narrow as a phone; the same breakpoint as in console.css.
import { useSyncExternalStore } from 'react'

const query = window.matchMedia('(max-width: 767px)')

function watch(onChange: () => void): () => void {
  query.addEventListener('change', onChange)
  return () => query.removeEventListener('change', onChange)
}

export function useIsNarrow(): boolean {
  return useSyncExternalStore(watch, () => query.matches)
}
