// QR codes of links.
import { type Static, Type } from 'typebox'
import { qrFormats, qrLevels, qrLimits } from '../link-qr.ts'
import type { linkQrResponses } from './responses/link-qr.ts'
import { route, withResponses } from './route.ts'

const color = Type.Optional(Type.String({ pattern: '^#[0-9a-fA-F]{6}$' }))

/** `counts_scans` adds the query that counts a scan; true by default. `logo` is a PNG in Base64. */
export const QrInput = Type.Object({
  format: Type.Enum([...qrFormats]),
  address: Type.Optional(Type.Enum(['a', 'b'])),
  counts_scans: Type.Optional(Type.Boolean()),
  size: Type.Optional(Type.Integer({ minimum: qrLimits.size.min, maximum: qrLimits.size.max })),
  color,
  background: color,
  level: Type.Optional(Type.Enum([...qrLevels])),
  logo: Type.Optional(
    Type.String({ maxLength: Math.ceil(qrLimits.logoBytes / 3) * 4, pattern: '^[A-Za-z0-9+/]+=*$' }),
  ),
})
export type QrInput = Static<typeof QrInput>

/** Of a link that does not exist yet: `url` is its address, without a query. */
const QrSampleInput = Type.Object({
  ...QrInput.properties,
  url: Type.String({ maxLength: 320, pattern: '^https?://[A-Za-z0-9.:-]+/[A-Za-z0-9_-]+$' }),
})

export const linkQrRoutes = withResponses<typeof linkQrResponses>()({
  draw: route('POST', '/links/:id/qr', QrInput),
  sample: route('POST', '/qr-sample', QrSampleInput),
})
