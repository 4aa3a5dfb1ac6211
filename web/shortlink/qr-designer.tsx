// A dialog that draws the QR code of a link in other sizes and colours and with a logo, and saves it as SVG or PNG.
import { App, Button, ColorPicker, Form, InputNumber, Modal, Select, Switch, Upload } from 'antd'
import { type ReactNode, useState } from 'react'
import type { QrInput } from '../../contract/console/link-qr.ts'
import { qrLevels, qrLimits } from '../../contract/link-qr.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { download } from '../parts/download.ts'
import { drawQr, isReadable, type QrTarget, useQrDesign, useQrPicture } from './qr-design.ts'
import { qrText } from './qr-text.ts'

export interface QrDesignerProps {
  /** A new link has no files to save yet. */
  readonly target: QrTarget
  readonly open: boolean
  readonly onClose: () => void
}

export function QrDesigner({ target, open, onClose }: QrDesignerProps): ReactNode {
  const t = useText(qrText)
  const { message } = App.useApp()
  const [design, change] = useQrDesign()
  const { picture, error } = useQrPicture(target, design, open)
  const [saveError, setSaveError] = useState<unknown>()
  const canSave = isReadable(design)
  const save = async (format: QrInput['format']) => {
    try {
      const { name, type, data } = await drawQr(target, design, format)
      setSaveError(undefined)
      download(name, new Blob([Uint8Array.from(atob(data), (one) => one.charCodeAt(0))], { type }))
    } catch (failure) {
      setSaveError(failure)
    }
  }
  return (
    <Modal open={open} title={t.title} footer={null} onCancel={onClose} width={640} destroyOnHidden>
      <div className="row" style={{ alignItems: 'flex-start', gap: 24 }}>
        <div style={{ flex: '0 0 220px' }}>
          {picture !== '' && (
            <img src={picture} alt={t.preview} width={220} height={220} data-testid="qr-preview" />
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
                value={design.logo === undefined ? design.level : 'H'}
                disabled={design.logo !== undefined}
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
                  toPng(file).then(
                    (logo) => change({ logo }),
                    () => void message.error(t.wrongLogo),
                  )
                  return false
                }}
              >
                <Button size="small">{t.choose}</Button>
              </Upload>
              {design.logo !== undefined && (
                <Button size="small" onClick={() => change({ logo: undefined })}>
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
          {!canSave && (
            <p role="alert" className="error">
              {t.lowContrast}
            </p>
          )}
          <ActionError error={saveError ?? error} />
          {'id' in target ? (
            <span className="row">
              <Button type="primary" disabled={!canSave} onClick={() => void save('png')}>
                PNG
              </Button>
              <Button disabled={!canSave} onClick={() => void save('svg')}>
                SVG
              </Button>
            </span>
          ) : (
            <span className="row">
              <Button type="primary" disabled={!canSave} onClick={onClose}>
                {t.apply}
              </Button>
              <span className="muted small">{t.later}</span>
            </span>
          )}
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
