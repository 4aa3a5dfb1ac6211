// A file is opened as a link: the browser streams it to disk, however long it is.
import { DownloadOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import type { ReactNode } from 'react'
import type { File, Route } from '../../contract/console/route.ts'
import { addressOf, type Parts } from '../api/client.ts'
import { useText } from '../frame/text.ts'
import { partsText } from './text.ts'

interface ExportLinkProps<Sent> {
  readonly route: Route<Sent, File>
  readonly sent: Sent
  readonly parts?: Parts
}

export function ExportLink<Sent>({ route, sent, parts = {} }: ExportLinkProps<Sent>): ReactNode {
  const words = useText(partsText)
  return (
    <Button icon={<DownloadOutlined />} href={addressOf(route, sent, parts)} download>
      {words.exportCsv}
    </Button>
  )
}
