// The export button: a link, so that the browser streams the file to disk.
import { DownloadOutlined } from '@ant-design/icons'
import { Button } from 'antd'
import type { ReactNode } from 'react'
import type { CsvFile, Route } from '../../contract/console/route.ts'
import { type PathParams, fileUrl } from '../api/client.ts'
import { useText } from '../frame/i18n.ts'
import { partsText } from './text.ts'

interface ExportLinkProps<Filter> {
  readonly route: Route<Filter, CsvFile>
  readonly filter: Filter
  readonly params?: PathParams
}

export function ExportLink<Filter>({ route, filter, params = {} }: ExportLinkProps<Filter>): ReactNode {
  const t = useText(partsText)
  return (
    <Button icon={<DownloadOutlined />} href={fileUrl(route, filter, params)} download>
      {t.exportCsv}
    </Button>
  )
}
