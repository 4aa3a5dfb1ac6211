// Preferences of this browser, stored in localStorage: language, theme, navigation. Other tabs follow a change.
import { useSyncExternalStore } from 'react'
import type { Language } from '../../contract/text.ts'

export type ThemeChoice = 'light' | 'dark' | 'system'

interface Preferences {
  readonly language: Language
  readonly theme: ThemeChoice
  readonly folded: boolean
  /** Below 1200 px the navigation starts folded, whatever was chosen on a wider screen. */
  readonly foldedMedium: boolean
  /** Groups of the navigation that the user closed. */
  readonly closedGroups: readonly string[]
}

const storageKey = 'tollgate.preferences'
const listeners = new Set<() => void>()
const darkMedia = window.matchMedia('(prefers-color-scheme: dark)')
let current = readStored()

window.addEventListener('storage', ({ key }) => {
  if (key !== storageKey) return
  current = readStored()
  for (const listener of listeners) listener()
})

export function preferences(): Preferences {
  return current
}

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change }
  try {
    localStorage.setItem(storageKey, JSON.stringify(current))
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
  for (const listener of listeners) listener()
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, preferences)
}

export function useDark(): boolean {
  const { theme } = usePreferences()
  const system = useSyncExternalStore(subscribeMedia, () => darkMedia.matches)
  return theme === 'system' ? system : theme === 'dark'
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function subscribeMedia(listener: () => void): () => void {
  darkMedia.addEventListener('change', listener)
  return () => darkMedia.removeEventListener('change', listener)
}

function readStored(): Preferences {
  const fallback: Preferences = {
    language: navigator.language.toLowerCase().startsWith('en') ? 'en' : 'zh',
    theme: 'system',
    folded: false,
    foldedMedium: true,
    closedGroups: [],
  }
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '{}')
    if (typeof stored !== 'object' || stored === null) return fallback
    const { language, theme, folded, foldedMedium, closedGroups } = stored as Partial<
      Record<keyof Preferences, unknown>
    >
    return {
      language: language === 'zh' || language === 'en' ? language : fallback.language,
      theme: theme === 'light' || theme === 'dark' ? theme : 'system',
      folded: folded === true,
      foldedMedium: foldedMedium !== false,
      closedGroups: Array.isArray(closedGroups)
        ? closedGroups.filter((group) => typeof group === 'string')
        : fallback.closedGroups,
    }
  } catch {
    return fallback
  }
}
