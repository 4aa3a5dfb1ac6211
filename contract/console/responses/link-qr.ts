// Responses of QR codes.
import { Type } from 'typebox'

const QrFile = Type.Object({
  name: Type.String(),
  type: Type.String(),
  /** What the code contains. */
  address: Type.String(),
  /** The file in Base64. */
  data: Type.String(),
})

export const linkQrResponses = { draw: QrFile, sample: QrFile } as const
