// The masks of personal data, the only form in which it may be stored or shown: 张*, 110105********002X, 138****8000.

/** Replaces a value that has no other mask. */
export const hidden = '••••••'

/** One star however long the name is, because its length says something about the person too. */
export function maskName(name: string): string {
  const text = name.trim()
  const [first = ''] = text
  return text.length === first.length ? '*' : `${first}*`
}

export function maskIdNumber(number: string): string {
  const text = number.trim()
  return text.length === 18 ? `${text.slice(0, 6)}********${text.slice(14)}` : hidden
}

/** With or without the country code. A letter before it may be part of an escape, such as `\n` in JSON. */
const phoneInText = /(?<!\d)((?:00)?86)?(1[3-9]\d{9})(?!\d)/g

/** Masks phone numbers anywhere in a text. */
export function maskPhones(text: string): string {
  return text.replaceAll(
    phoneInText,
    (_all, country: string | undefined, phone: string) => `${country ?? ''}${maskPhone(phone)}`,
  )
}

export function maskPhone(phone: string): string {
  const text = phone.trim()
  return /^\d{11}$/.test(text) ? `${text.slice(0, 3)}****${text.slice(7)}` : hidden
}
