// The button that opens the QR designer, which is loaded with the first click: its colour picker and upload are large.
import { App, Button } from 'antd'
import { type ComponentType, type ReactNode, useState } from 'react'
import { useText } from '../frame/i18n.ts'
import { partsText } from '../parts/text.ts'
import type { QrTarget } from './qr-design.ts'
import type { QrDesignerProps } from './qr-designer.tsx'
import { qrText } from './qr-text.ts'

export function DesignQr({ target }: { target: QrTarget }): ReactNode {
  const t = useText(qrText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [loaded, setLoaded] = useState<{ readonly Designer: ComponentType<QrDesignerProps> }>()
  const [loading, setLoading] = useState(false)
  const [open, setOpen] = useState(false)
  const start = async () => {
    setLoading(true)
    try {
      const { QrDesigner } = await import('./qr-designer.tsx')
      setLoaded({ Designer: QrDesigner })
      setOpen(true)
    } catch {
      message.error(common.pageFailedText)
    } finally {
      setLoading(false)
    }
  }
  return (
    <>
      <Button size="small" loading={loading} onClick={() => void start()}>
        {t.design}
      </Button>
      {loaded && <loaded.Designer target={target} open={open} onClose={() => setOpen(false)} />}
    </>
  )
}
