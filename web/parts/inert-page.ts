// Keeps the page behind a dialog from being used, and gives the focus back when the dialog closes.
import { useEffect, useLayoutEffect, useRef } from 'react'

/**
 * antd covers the page and moves the focus only while the dialog appears: until then a second key press or click would open another
 * dialog. It also does not give the focus back when a dialog is removed while it is open. Dialogs are children of the body, beside the
 * page and its drawers.
 */
export function useInertPage(isOpen: boolean): void {
  const opener = useRef<Element>(null)
  useLayoutEffect(() => {
    if (isOpen) opener.current = document.activeElement
  }, [isOpen])
  useEffect(() => {
    if (!isOpen) return undefined
    const reachable = [...document.querySelectorAll<HTMLElement>('#root, .ant-drawer')].filter(
      ({ inert }) => !inert,
    )
    for (const element of reachable) element.inert = true
    return () => {
      for (const element of reachable) element.inert = false
      if (opener.current instanceof HTMLElement) opener.current.focus({ preventScroll: true })
    }
  }, [isOpen])
}
