// A page that loads with its first visit. A failed load is shown in the frame and can be tried again.
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { PageLoadError } from './frame/error-pages.tsx'

type LazyPage = (() => ReactNode) & { preload: () => Promise<void> }

/** The router's own lazy component reloads the document after a failure, which ends in an error page of the browser. */
export function lazyPage<Module extends object>(load: () => Promise<Module>, name: keyof Module): LazyPage {
  let component: ComponentType | undefined
  let pending: Promise<void> | undefined

  const start = () =>
    (pending ??= load().then(
      (module) => {
        component = module[name] as ComponentType
      },
      (error: unknown) => {
        pending = undefined
        throw error
      },
    ))

  function Page(): ReactNode {
    const [attempt, setAttempt] = useState(0)
    const [state, setState] = useState<'loading' | 'failed' | 'loaded'>(component ? 'loaded' : 'loading')
    useEffect(() => {
      if (component) return undefined
      let isUnmounted = false
      setState('loading')
      const show = (next: 'failed' | 'loaded') => () => {
        if (!isUnmounted) setState(next)
      }
      start().then(show('loaded'), show('failed'))
      return () => {
        isUnmounted = true
      }
    }, [attempt])
    if (component) {
      const Loaded = component
      return <Loaded />
    }
    if (state === 'failed') return <PageLoadError onRetry={() => setAttempt(attempt + 1)} />
    return <div className="bones" aria-busy="true" />
  }

  // The page itself reports a failure.
  Page.preload = () => start().catch(() => undefined)
  return Page
}
