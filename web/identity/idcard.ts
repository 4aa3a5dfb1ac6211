// What can be said about an ID number while it is typed. The service checks it again, birth date included.
const weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]
const checks = '10X98765432'

export const idcardShape = /^\d{17}[\dXx]$/

export function hasRightCheckDigit(idcard: string): boolean {
  if (!idcardShape.test(idcard)) return false
  const sum = weights.reduce((total, weight, at) => total + weight * Number(idcard[at]), 0)
  return checks[sum % 11] === idcard[17]!.toUpperCase()
}
