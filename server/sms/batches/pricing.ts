// Reads the values of the messages of a batch, and prices them.
//
// A batch has up to a thousand messages, so the text of a message with complete values is not composed here: its length
// follows from the lengths of the template and of the values.
import { countParts, maxSmsLength, measureTemplate, wholeText } from '../../../contract/sms-text.ts'
import type { Text } from '../../../contract/text.ts'
import { isRecord, isStorableText } from '../../../contract/values.ts'
import { AppError } from '../../http/errors.ts'
import { readMap } from '../../http/parameters.ts'
import { fillFrame, type MessageFrame } from '../compose.ts'

export interface PricedMessage {
  /** The values of the variables, as JSON. */
  readonly params: string
  readonly parts: number
  readonly cost: number
}

/** Returns why a message with these values cannot be sent, or its price. */
export type PriceMessage = (values: unknown) => PricedMessage | { readonly reason: Text }

export function createPricing(frame: MessageFrame, partPrice: number): PriceMessage {
  const { template, signName } = frame
  const { length: templateLength, uses } = measureTemplate(template.content)
  const emptyLength = wholeText(signName, '').length + templateLength
  const variables = template.variables.map((name, i) => ({
    name,
    uses: uses.get(name) ?? 0,
    start: `${i === 0 ? '' : ','}${JSON.stringify(name)}:`,
  }))

  /** Undefined when the values are not complete texts of the right length. */
  function priceComplete(values: unknown): PricedMessage | undefined {
    if (!isRecord(values) || values instanceof Map) return undefined
    if (Object.keys(values).length !== variables.length) return undefined
    let length = emptyLength
    let json = '{'
    for (const { name, uses: times, start } of variables) {
      const value = Object.hasOwn(values, name) ? values[name] : undefined
      if (typeof value !== 'string' || !isStorableText(value)) return undefined
      length += value.length * times
      json += start + JSON.stringify(value)
    }
    if (length > maxSmsLength) return undefined
    const parts = countParts(length)
    return { params: `${json}}`, parts, cost: parts * partPrice }
  }

  function priceAny(values: unknown): ReturnType<PriceMessage> {
    const read = values instanceof Map ? (values as ReadonlyMap<string, string>) : readMap(values)
    if (read !== undefined && 'text' in read) {
      return { reason: { zh: `template_params ${read.text.zh}`, en: `template_params ${read.text.en}` } }
    }
    try {
      const { variables: filled, parts, cost } = fillFrame(frame, read ?? new Map(), partPrice)
      const params = JSON.stringify(Object.fromEntries(filled.map(({ name, value }) => [name, value])))
      return { params, parts, cost }
    } catch (error) {
      if (error instanceof AppError) return { reason: error.text }
      throw error
    }
  }

  // Messages may share their values.
  let last: { readonly values: unknown; readonly price: ReturnType<PriceMessage> } | undefined
  return (values) => {
    if (last && last.values === values) return last.price
    const price = priceComplete(values) ?? priceAny(values)
    last = { values, price }
    return price
  }
}
