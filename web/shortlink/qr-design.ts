// The design of QR codes that was used last, in this tab: the next link usually gets the same colours and logo.
import { useEffect, useState, useSyncExternalStore } from 'react'
import { linkQrRoutes, type QrInput } from '../../contract/console/link-qr.ts'
import { contrastOf, type qrLevels, qrLimits } from '../../contract/link-qr.ts'
import { callApi } from '../api/client.ts'
import { useMe } from '../api/hooks.ts'

export interface QrDesign {
  readonly size: number
  readonly color: string
  readonly background: string
  readonly level: (typeof qrLevels)[number]
  readonly counts_scans: boolean
  /** A PNG in Base64. */
  readonly logo?: string | undefined
}

export const plainDesign: QrDesign = {
  size: qrLimits.size.default,
  color: '#000000',
  background: '#ffffff',
  level: 'M',
  counts_scans: true,
}

let last = { account: '', design: plainDesign }
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** All users of the hook see the same design. Another account starts with the plain one. */
export function useQrDesign(): readonly [QrDesign, (part: Partial<QrDesign>) => void] {
  const account = useMe().data?.account.username ?? ''
  const { account: designer, design } = useSyncExternalStore(subscribe, () => last)
  const shown = designer === account ? design : plainDesign
  return [
    shown,
    (part) => {
      last = { account, design: { ...shown, ...part } }
      for (const listener of listeners) listener()
    },
  ]
}

export function isReadable({ color, background }: QrDesign): boolean {
  return contrastOf(color, background) >= qrLimits.minContrast
}

/** A stored link, or the address that a new one will get. */
export type QrTarget = { readonly id: number } | { readonly url: string }

export function drawQr(target: QrTarget, design: QrDesign, format: QrInput['format'], signal?: AbortSignal) {
  const { logo, ...rest } = design
  const input = { format, ...rest, ...(logo === undefined ? {} : { logo }) }
  const options = signal ? { signal } : {}
  return 'id' in target
    ? callApi(linkQrRoutes.draw, input, { params: { id: target.id }, ...options })
    : callApi(linkQrRoutes.sample, { ...input, url: target.url }, options)
}

/** The drawn code as the address of a picture; empty before the first one. */
export function useQrPicture(
  target: QrTarget,
  design: QrDesign,
  isShown: boolean,
): { readonly picture: string; readonly error: unknown } {
  const [drawn, setDrawn] = useState<{ picture: string; error: unknown }>({ picture: '', error: undefined })
  const key = 'id' in target ? target.id : target.url
  useEffect(() => {
    if (!isShown || !isReadable(design)) return
    const stop = new AbortController()
    drawQr(target, design, 'svg', stop.signal).then(
      ({ data }) => setDrawn({ picture: `data:image/svg+xml;base64,${data}`, error: undefined }),
      (error: unknown) => stop.signal.aborted || setDrawn((old) => ({ ...old, error })),
    )
    return () => stop.abort()
  }, [isShown, key, design])
  return drawn
}
