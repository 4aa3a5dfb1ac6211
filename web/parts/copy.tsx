// A button that copies text and confirms it.
import { CheckOutlined, CopyOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { useText } from '../frame/i18n.ts'
import { partsText } from './text.ts'

async function copyText(text: string): Promise<void> {
  // The clipboard API exists only in secure contexts, not over plain HTTP.
  if (window.isSecureContext) {
    await navigator.clipboard.writeText(text)
    return
  }
  const area = document.createElement('textarea')
  area.value = text
  area.style.position = 'fixed'
  area.style.opacity = '0'
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

interface CopyButtonProps {
  /** The text, or a function that returns it. */
  readonly text: string | (() => string)
  /** Names the copied thing for screen readers and the tooltip. */
  readonly label: string
  /** The button text; without it only an icon is shown. */
  readonly children?: ReactNode
  readonly primary?: boolean
}

export function CopyButton({ text, label, children, primary = false }: CopyButtonProps): ReactNode {
  const t = useText(partsText)
  const [done, setDone] = useState(false)
  useEffect(() => {
    if (!done) return undefined
    const timer = setTimeout(() => setDone(false), 2_000)
    return () => clearTimeout(timer)
  }, [done])
  const name = done ? t.copied : t.copy(label)
  return (
    <Button
      type={primary ? 'primary' : children === undefined ? 'text' : 'default'}
      size={children === undefined ? 'small' : 'middle'}
      icon={done ? <CheckOutlined /> : <CopyOutlined />}
      {...(children === undefined ? { 'aria-label': name, title: name } : {})}
      onClick={(event) => {
        event.stopPropagation()
        void copyText(typeof text === 'string' ? text : text()).then(
          () => setDone(true),
          () => setDone(false),
        )
      }}
    >
      {children === undefined ? undefined : done ? t.copied : children}
    </Button>
  )
}

/** An ID, code or URL in monospace with a copy button. */
export function Copyable({
  text,
  label,
  shown,
}: {
  text: string
  label: string
  shown?: ReactNode
}): ReactNode {
  return (
    <span className="copy">
      <span className="mono clip" title={text}>
        {shown ?? text}
      </span>
      <CopyButton text={text} label={label} />
    </span>
  )
}
