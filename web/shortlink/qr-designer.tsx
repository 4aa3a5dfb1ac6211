// A dialog that draws the QR code of a link in other sizes and colours and with a logo, and saves it as SVG or PNG.
import { App, Button, ColorPicker, Form, InputNumber, Modal, Select, Switch, Upload } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { linkQrRoutes, type QrInput } from '../../contract/console/link-qr.ts'
import { contrastOf, qrLevels, qrLimits } from '../../contract/link-qr.ts'
import { callApi } from '../api/client.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { download } from '../parts/download.ts'
import { qrText } from './qr-text.ts'

interface Design {
  readonly size: number
  readonly color: string
  readonly background: string
  readonly level: (typeof qrLevels)[number]
  readonly counts_scans: boolean
}

const initial: Design = {
  size: qrLimits.size.default,
  color: '#000000',
  background: '#ffffff',
  level: 'M',
  counts_scans: true,
}

export interface QrDesignerProps {
  readonly id: number
  readonly open: boolean
  readonly onClose: () => void
}

export function QrDesigner({ id, open, onClose }: QrDesignerProps): ReactNode {
  const t = useText(qrText)
  const { message } = App.useApp()
  const [design, setDesign] = useState(initial)
  const [logo, setLogo] = useState<string>()
  const [preview, setPreview] = useState('')
  const [error, setError] = useState<unknown>()
  const isReadable = contrastOf(design.color, design.background) >= qrLimits.minContrast
  const draw = (format: QrInput['format'], signal?: AbortSignal) =>
    callApi(
      linkQrRoutes.draw,
      { format, ...design, ...(logo === undefined ? {} : { logo }) },
      { params: { id }, ...(signal ? { signal } : {}) },
    )
  useEffect(() => {
    if (!open || !isReadable) return
    const stop = new AbortController()
    draw('svg', stop.signal).then(
      ({ data }) => {
        setPreview(`data:image/svg+xml;base64,${data}`)
        setError(undefined)
      },
      (failure: unknown) => stop.signal.aborted || setError(failure),
    )
    return () => stop.abort()
  }, [open, id, design, logo])
  const change = (part: Partial<Design>) => setDesign((old) => ({ ...old, ...part }))
  const save = async (format: QrInput['format']) => {
    try {
      const { name, type, data } = await draw(format)
      download(name, new Blob([Uint8Array.from(atob(data), (one) => one.charCodeAt(0))], { type }))
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <Modal open={open} title={t.title} footer={null} onCancel={onClose} width={640} destroyOnHidden>
      <div className="row" style={{ alignItems: 'flex-start', gap: 24 }}>
        <div style={{ flex: '0 0 220px' }}>
          {preview !== '' && (
            <img src={preview} alt={t.preview} width={220} height={220} data-testid="qr-preview" />
          )}
        </div>
        <Form layout="vertical" style={{ flex: '1 1 240px' }}>
          <Form.Item label={t.size} htmlFor="qr-size">
            <InputNumber
              id="qr-size"
              min={qrLimits.size.min}
              max={qrLimits.size.max}
              value={design.size}
              onChange={(size) => change({ size: size ?? qrLimits.size.default })}
            />
          </Form.Item>
          <div className="row">
            <Form.Item label={t.color}>
              <ColorPicker
                disabledAlpha
                value={design.color}
                onChangeComplete={(color) => change({ color: color.toHexString().slice(0, 7) })}
              />
            </Form.Item>
            <Form.Item label={t.background}>
              <ColorPicker
                disabledAlpha
                value={design.background}
                onChangeComplete={(color) => change({ background: color.toHexString().slice(0, 7) })}
              />
            </Form.Item>
            <Form.Item label={t.level} htmlFor="qr-level">
              <Select
                id="qr-level"
                style={{ width: 110 }}
                value={logo === undefined ? design.level : 'H'}
                disabled={logo !== undefined}
                onChange={(level) => change({ level })}
                options={qrLevels.map((value) => ({ value, label: `${value} · ${t[`level${value}`]}` }))}
              />
            </Form.Item>
          </div>
          <Form.Item label={t.logo} extra={t.logoHint}>
            <span className="row">
              <Upload
                accept="image/png,image/jpeg,image/webp"
                showUploadList={false}
                beforeUpload={(file) => {
                  toPng(file).then(setLogo, () => void message.error(t.wrongLogo))
                  return false
                }}
              >
                <Button size="small">{t.choose}</Button>
              </Upload>
              {logo !== undefined && (
                <Button size="small" onClick={() => setLogo(undefined)}>
                  {t.removeLogo}
                </Button>
              )}
            </span>
          </Form.Item>
          <Form.Item label={t.scans} extra={t.scansHint} htmlFor="qr-scans">
            <Switch
              id="qr-scans"
              checked={design.counts_scans}
              onChange={(value) => change({ counts_scans: value })}
            />
          </Form.Item>
          {!isReadable && (
            <p role="alert" className="error">
              {t.lowContrast}
            </p>
          )}
          <ActionError error={error} />
          <span className="row">
            <Button type="primary" disabled={!isReadable} onClick={() => void save('png')}>
              PNG
            </Button>
            <Button disabled={!isReadable} onClick={() => void save('svg')}>
              SVG
            </Button>
          </span>
        </Form>
      </div>
    </Modal>
  )
}

/** Any picture that the browser can show, as a small PNG in Base64. */
async function toPng(file: File): Promise<string> {
  const image = await createImageBitmap(file)
  const scale = Math.min(1, 256 / Math.max(image.width, image.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(image.width * scale))
  canvas.height = Math.max(1, Math.round(image.height * scale))
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  return canvas.toDataURL('image/png').replace(/^data:image\/png;base64,/, '')
}
