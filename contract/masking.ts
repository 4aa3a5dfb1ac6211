// The masks of personal data, the only form in which it may be stored or shown: 张*, 110105********002X, 138****8000.

/** Stands for a value that has no mask of its own. */
export const hidden = '••••••'

/** One star however long the name is, because its length says something about the person too. */
export function maskName(name: string): string {
  const [first = '', ...rest] = [...name.trim()]
  return rest.length === 0 ? '*' : `${first}*`
}

export function maskIdNumber(number: string): string {
  const text = number.trim()
  return text.length === 18 ? `${text.slice(0, 6)}********${text.slice(14)}` : hidden
}

export function maskPhone(phone: string): string {
  const text = phone.trim()
  return /^\d{11}$/.test(text) ? `${text.slice(0, 3)}****${text.slice(7)}` : hidden
}
