// The QR code of a link, drawn in the browser, with downloads as SVG and PNG. Visits with it count as scans.
import { Button } from 'antd'
import qrcode from 'qrcode-generator'
import { type ReactNode, useMemo } from 'react'
import { scanQuery } from '../../contract/link-qr.ts'
import { useText } from '../frame/i18n.ts'
import { download } from '../parts/download.ts'
import { shortlinkText } from './text.ts'

const quietZone = 4
const pngPixels = 1024

interface QrMatrix {
  readonly size: number
  readonly path: string
}

function matrixOf(text: string): QrMatrix {
  const code = qrcode(0, 'M')
  code.addData(text)
  code.make()
  const modules = code.getModuleCount()
  let path = ''
  for (let y = 0; y < modules; y++) {
    for (let x = 0; x < modules; x++) {
      if (code.isDark(y, x)) path += `M${x + quietZone} ${y + quietZone}h1v1h-1z`
    }
  }
  return { size: modules + 2 * quietZone, path }
}

function svgOf({ size, path }: QrMatrix): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${path}"/></svg>`
}

function savePng({ size, path }: QrMatrix, name: string): void {
  const scale = Math.ceil(pngPixels / size)
  const canvas = document.createElement('canvas')
  canvas.width = size * scale
  canvas.height = size * scale
  const context = canvas.getContext('2d')
  if (!context) return
  context.fillStyle = 'white'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.scale(scale, scale)
  context.fillStyle = 'black'
  context.fill(new Path2D(path))
  canvas.toBlob((image) => image && download(`${name}.png`, image), 'image/png')
}

export function Qr({ url, name }: { url: string; name: string }): ReactNode {
  const t = useText(shortlinkText)
  const address = `${url}${scanQuery}`
  const matrix = useMemo(() => matrixOf(address), [address])
  return (
    <div className="stack-8" style={{ width: 200 }}>
      <Picture address={address} matrix={matrix} />
      <div className="stack-8">
        <Button
          size="small"
          block
          onClick={() => download(`${name}.svg`, new Blob([svgOf(matrix)], { type: 'image/svg+xml' }))}
        >
          {t.svg}
        </Button>
        <Button size="small" block onClick={() => savePng(matrix, name)}>
          {t.png}
        </Button>
      </div>
    </div>
  )
}

/** Without downloads: the address does not lead anywhere yet. */
export function QrPreview({ url }: { url: string }): ReactNode {
  const address = `${url}${scanQuery}`
  const matrix = useMemo(() => matrixOf(address), [address])
  return (
    <div style={{ width: 140 }}>
      <Picture address={address} matrix={matrix} />
    </div>
  )
}

function Picture({ address, matrix: { size, path } }: { address: string; matrix: QrMatrix }): ReactNode {
  const t = useText(shortlinkText)
  return (
    // Black on white in the dark theme too, because scanners expect it.
    <svg
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      role="img"
      aria-label={`${t.qr} ${address}`}
      data-testid="qr"
    >
      <path fill="white" d={`M0 0h${size}v${size}H0z`} />
      <path fill="black" d={path} />
    </svg>
  )
}
