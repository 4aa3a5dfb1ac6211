// One click copies; the button says that it did.
import { CheckOutlined, CopyOutlined } from '@ant-design/icons'
import { Button, Tooltip } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { useText } from '../frame/text.ts'
import { partsText } from './text.ts'

async function copyText(text: string): Promise<void> {
  // Over plain http from another machine there is no clipboard API.
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
  /** The text, or what fetches it when asked. */
  readonly text: string | (() => string)
  /** What is copied, for those who do not see the icon. */
  readonly what: string
  /** Shown beside the icon. */
  readonly children?: ReactNode
  readonly primary?: boolean
}

export function CopyButton({ text, what, children, primary = false }: CopyButtonProps): ReactNode {
  const words = useText(partsText)
  const [done, setDone] = useState(false)
  useEffect(() => {
    if (!done) return undefined
    const timer = setTimeout(() => setDone(false), 2_000)
    return () => clearTimeout(timer)
  }, [done])
  const label = done ? words.copied : words.copy(what)
  const button = (
    <Button
      type={primary ? 'primary' : children === undefined ? 'text' : 'default'}
      size={children === undefined ? 'small' : 'middle'}
      icon={done ? <CheckOutlined /> : <CopyOutlined />}
      {...(children === undefined ? { 'aria-label': label } : {})}
      onClick={(event) => {
        event.stopPropagation()
        void copyText(typeof text === 'string' ? text : text()).then(
          () => setDone(true),
          () => setDone(false),
        )
      }}
    >
      {children === undefined ? undefined : done ? words.copied : children}
    </Button>
  )
  return children === undefined ? <Tooltip title={label}>{button}</Tooltip> : button
}

/** An id, code or address in monospace with its copy button. */
export function Copyable({
  text,
  what,
  shown,
}: {
  text: string
  what: string
  shown?: ReactNode
}): ReactNode {
  return (
    <span className="copy">
      <span className="mono clip" title={text}>
        {shown ?? text}
      </span>
      <CopyButton text={text} what={what} />
    </span>
  )
}
