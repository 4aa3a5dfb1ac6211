// Filters, page and sorting are stored in the URL: links show the same view and the back button works.
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'

type UrlFields = Readonly<Record<string, string>>

/** Reads the named fields from the URL and writes them back, without those that equal their default. */
export function useUrlState<const T extends UrlFields>(
  defaults: T,
): readonly [{ readonly [K in keyof T]: string }, (change: Partial<Record<keyof T, string>>) => void] {
  const search = useLocation({ select: (location) => location.search as UrlFields })
  const navigate = useNavigate()
  // Callers pass a new object on every render; compare by content.
  const key = JSON.stringify(defaults)
  const values = useMemo(() => {
    const known = JSON.parse(key) as Record<string, string>
    for (const name of Object.keys(known)) known[name] = search[name] ?? known[name]!
    return known as { [K in keyof T]: string }
  }, [search, key])
  const change = useCallback(
    (changes: Partial<Record<keyof T, string>>) => {
      const known = JSON.parse(key) as UrlFields
      void navigate({
        to: '.',
        search: ((before: UrlFields) => {
          const after: Record<string, string> = { ...before }
          for (const [name, value] of Object.entries(changes as UrlFields)) {
            if (value === known[name]) delete after[name]
            else after[name] = value
          }
          return after
        }) as never,
      })
    },
    [navigate, key],
  )
  return [values, change]
}

export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text))
}

export function stringifySearch(fields: Record<string, unknown>): string {
  const given = Object.entries(fields).filter(([, value]) => typeof value === 'string' && value !== '')
  const text = new URLSearchParams(given as [string, string][]).toString()
  return text === '' ? '' : `?${text}`
}
