// A dialog or drawer whose script is loaded when it is first opened, so that the page appears sooner.
import { App } from 'antd'
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { useText } from '../frame/i18n.ts'
import { partsText } from './text.ts'

interface DialogState<Props> {
  readonly isOpen: (props: Props) => boolean
  /** Called when the script could not be loaded, so that the user can open the dialog again. */
  readonly close: (props: Props) => void
}

type LazyDialog<Props> = ((props: Props) => ReactNode) & { readonly preload: () => void }

/** React's own lazy component remembers a failure, and the page around it would be lost with everything the user entered. */
export function lazyDialog<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { isOpen, close }: DialogState<Props>,
): LazyDialog<Props> {
  let component: ComponentType<Props> | undefined
  let pending: Promise<void> | undefined

  const start = () =>
    (pending ??= load().then(
      (loaded) => {
        component = loaded
      },
      (error: unknown) => {
        pending = undefined
        throw error
      },
    ))

  function Dialog(props: Props): ReactNode {
    const t = useText(partsText)
    const { message } = App.useApp()
    const [, setLoaded] = useState(false)
    const isWanted = isOpen(props)
    useEffect(() => {
      if (!isWanted || component) return undefined
      let isStale = false
      start().then(
        () => {
          if (!isStale) setLoaded(true)
        },
        () => {
          if (isStale) return
          message.error(t.pageFailedText)
          close(props)
        },
      )
      return () => {
        isStale = true
      }
    }, [isWanted])
    if (!component) return null
    const Loaded = component
    return <Loaded {...props} />
  }

  Dialog.preload = () => void start().catch(() => undefined)
  return Dialog
}
