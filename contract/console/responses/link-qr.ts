// Responses of QR codes.
import { Type } from 'typebox'

export const linkQrResponses = {
  draw: Type.Object({
    name: Type.String(),
    type: Type.String(),
    /** What the code contains. */
    address: Type.String(),
    /** The file in Base64. */
    data: Type.String(),
  }),
} as const
