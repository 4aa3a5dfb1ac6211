// Whether the screen is as narrow as a phone or a small laptop; the same breakpoints as in console.css.
import { useSyncExternalStore } from 'react'

function watchWidth(condition: string): () => boolean {
  const query = window.matchMedia(condition)
  const watch = (onChange: () => void) => {
    query.addEventListener('change', onChange)
    return () => query.removeEventListener('change', onChange)
  }
  return () => useSyncExternalStore(watch, () => query.matches)
}

export const useIsNarrow = watchWidth('(max-width: 767px)')
export const useIsMedium = watchWidth('(max-width: 1199px)')
