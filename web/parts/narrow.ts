// Whether the screen is a phone's; the same border as in console.css.
import { useSyncExternalStore } from 'react'

const query = window.matchMedia('(max-width: 767px)')

function watch(onChange: () => void): () => void {
  query.addEventListener('change', onChange)
  return () => query.removeEventListener('change', onChange)
}

export function useIsNarrow(): boolean {
  return useSyncExternalStore(watch, () => query.matches)
}
