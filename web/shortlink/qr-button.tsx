// The button that shows the QR code of a link. The code that draws it is loaded with the first click.
import { QrcodeOutlined } from '@ant-design/icons'
import { App, Button, Popover } from 'antd'
import { type ComponentType, type ReactNode, useState } from 'react'
import { useText } from '../frame/i18n.ts'
import { partsText } from '../parts/text.ts'
import { shortlinkText } from './text.ts'

interface QrProps {
  readonly url: string
  readonly name: string
}

let Qr: ComponentType<QrProps> | undefined

export async function loadQr(): Promise<void> {
  Qr ??= (await import('./qr.tsx')).Qr
}

export function QrButton(props: QrProps): ReactNode {
  const t = useText(shortlinkText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [open, setOpen] = useState(false)
  const show = async () => {
    try {
      await loadQr()
      setOpen(true)
    } catch {
      message.error(common.pageFailedText)
    }
  }
  return (
    <Popover
      trigger="click"
      open={open}
      content={Qr && <Qr {...props} />}
      onOpenChange={(isOpen) => (isOpen ? void show() : setOpen(false))}
      destroyOnHidden
    >
      <Button
        type="text"
        size="small"
        icon={<QrcodeOutlined />}
        aria-label={`${t.qr} ${props.name}`}
        onClick={(event) => event.stopPropagation()}
      />
    </Popover>
  )
}
