// The icon of the button that empties an input. antd gives that button no name.
import { CloseCircleFilled } from '@ant-design/icons'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { partsText } from './text.ts'

export function ClearIcon(): ReactNode {
  return <CloseCircleFilled aria-label={useText(partsText).clear} />
}
