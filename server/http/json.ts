// Parses JSON of callers: bounded depth and number of values, long numbers kept exactly, no names that reach a prototype.
import { randomInt } from 'node:crypto'
import { type AppError, malformed } from './errors.ts'
import { forbiddenName, isForbiddenName, maxDepth, maxNameLength, nameTooLong, tooDeep } from './form.ts'

/** Values of all arrays and objects together. A list of a documented operation has at most a few thousand items. */
export const maxValues = 16_000

/** Of all objects together: a batch of 1,000 messages with 10 variables each. */
export const maxNames = 12_000

/**
 * Different objects of one body, counted by names: a name that follows other names than before counts again. `JSON.parse` takes
 * microseconds for each, and almost nothing for the objects of a list that are alike.
 */
export const maxShapes = 1_000

/** Numbers with more digits than a double holds, which take `JSON.parse` longer than other values. */
export const maxLongNumbers = 5_000

/** A double has 17 digits, an ID number 18. */
const maxNumberLength = 100

/** Of all strings with escapes together, which take `JSON.parse` three times as long as others. */
export const maxEscapedLength = 500_000

/** Of all white space together: 1,000 messages with 10 variables, one on a line. */
export const maxSpaceLength = 250_000

/** Shorter text cannot exceed the limits on values; `rejectForbiddenKeys` finds what is too deep. */
const maxUnscannedLength = 4_096

/** May also match inside a string, which only costs time. */
const longNumber = /:\s*-?[1-9]\d{15}/

/** `indexOf` finds the end of a long string twenty times as fast as a loop does, and takes longer for a short one. */
const shortLength = 16

/**
 * Parses JSON and returns an integer beyond 2^53 as a string of its digits: an ID number or a biz_id. Not in arrays,
 * because no list parameter accepts numbers. Throws an AppError when a limit is exceeded, else a SyntaxError.
 */
export function parseJson(text: string): unknown {
  return JSON.parse(scanJson(text))
}

/** Parses JSON without forbidden names. */
export function parseSafeJson(text: string): unknown {
  const needsScan = text.length > maxUnscannedLength || longNumber.test(text)
  const value: unknown = needsScan ? parseJson(text) : JSON.parse(text)
  rejectForbiddenKeys(value)
  return value
}

/** Parses a body. Every error is an AppError. */
export function parseJsonObject(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = parseSafeJson(text)
  } catch (error) {
    // Without the cause: its message quotes the body, which may contain personal data and keys.
    throw error instanceof SyntaxError ? notJson() : error
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('JSON 请求体必须是对象', 'The JSON body must be an object')
  }
  return value as Record<string, unknown>
}

/**
 * Checks the limits before the text is parsed and returns it with long integers in quotes. One pass of about 1 ms for a
 * megabyte, where `JSON.parse` takes 300 ms for 90,000 keys and a reviver a second for 300,000 values.
 */
function scanJson(text: string): string {
  let depth = 0
  let values = 1
  let members = 0
  let longNumbers = 0
  let escapedLength = 0
  let spaceLength = 0
  let nextEscape = findEscape(text, 0)
  /** Whether a comma, a colon or a closing bracket has to follow. */
  let isValueRead = false
  /** The last string; -1 after a colon. */
  let stringStart = -1
  let stringEnd = 0
  const shapes = new Set<number>()
  /** Of the open objects and arrays, by depth: a hash of the names so far. */
  const shapeAt: number[] = []
  let result = ''
  let copied = 0
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        if (isValueRead) throw noComma()
        isValueRead = true
        stringStart = i
        stringEnd = endOfShortString(text, i + 1)
        if (stringEnd === -1) stringEnd = text.indexOf('"', i + 1)
        if (stringEnd === -1) throw new SyntaxError('a string does not end')
        if (nextEscape < stringEnd) {
          if (text.charCodeAt(stringEnd - 1) === 0x5c) stringEnd = endOfEscapedString(text, nextEscape)
          if ((escapedLength += stringEnd - i) > maxEscapedLength) throw tooManyEscapes()
          nextEscape = findEscape(text, stringEnd)
        }
        i = stringEnd
        break
      case 0x7b: // {
      case 0x5b: // [
        if (isValueRead) throw noComma()
        if ((depth += 1) > maxDepth) throw tooDeep()
        shapeAt[depth] = shapeSeed
        if ((values += 1) > maxValues) throw tooManyValues()
        break
      case 0x7d: // }
      case 0x5d: // ]
        // A megabyte of closing brackets would be read to its end for nothing.
        if ((depth -= 1) < 0) throw new SyntaxError('a bracket is closed that was not opened')
        isValueRead = true
        break
      case 0x2c: // ,
        if ((values += 1) > maxValues) throw tooManyValues()
        isValueRead = false
        break
      case 0x3a: {
        // :
        isValueRead = false
        if ((members += 1) > maxNames) throw tooManyNames()
        // Thousands of colons after one long name would read it again for each.
        if (stringStart === -1) throw new SyntaxError('a colon does not follow a name')
        if (stringEnd - stringStart > maxNameLength) throw nameTooLong()
        const shape = hashName(text, stringStart, stringEnd, shapeAt[depth] ?? shapeSeed)
        shapeAt[depth] = shape
        stringStart = -1
        if (shapes.add(shape).size > maxShapes) throw tooManyShapes()
        const start = skipSpace(text, i + 1)
        if ((spaceLength += start - i - 1) > maxSpaceLength) throw tooMuchSpace()
        const end = endOfLongInteger(text, start)
        if (end === -1) {
          i = start - 1
          break
        }
        result += `${text.slice(copied, start)}"${text.slice(start, end)}"`
        copied = end
        isValueRead = true
        i = end - 1
        break
      }
      case 0x20:
      case 0x09:
      case 0x0a:
      case 0x0d:
        if ((spaceLength += 1) > maxSpaceLength) throw tooMuchSpace()
        break
      default: {
        if (isValueRead) throw noComma()
        isValueRead = true
        const end = endOfLiteral(text, i)
        if (end - i > 16 && (longNumbers += 1) > maxLongNumbers) throw tooManyLongNumbers()
        i = end - 1
      }
    }
  }
  return copied === 0 ? text : result + text.slice(copied)
}

/** Random, so that a caller cannot find names with equal hashes. */
const shapeSeed = randomInt(2 ** 31)

function hashName(text: string, start: number, end: number, seed: number): number {
  let hash = seed ^ 0x5bd1e995
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash ^ (hash >>> 15)
}

/** The position of the next backslash; infinite without one. */
function findEscape(text: string, start: number): number {
  const escape = text.indexOf('\\', start)
  return escape === -1 ? Infinity : escape
}

/** The position of the closing quote; -1 if it is not near, or if there is an escape. */
function endOfShortString(text: string, start: number): number {
  for (let end = start; end < start + shortLength; end += 1) {
    const code = text.charCodeAt(end)
    if (code === 0x22) return end
    if (code === 0x5c) return -1
  }
  return -1
}

/** The position of the closing quote, or the end of the text. */
function endOfEscapedString(text: string, start: number): number {
  let end = start
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end)
    if (code === 0x22) return end
    if (code === 0x5c) end += 1
    if (end - start > maxEscapedLength) throw tooManyEscapes()
  }
  return end
}

/** The end of a number, `true`, `false` or `null`. */
function endOfLiteral(text: string, start: number): number {
  let end = start
  while (end - start <= maxNumberLength && isLiteral(text.charCodeAt(end))) end += 1
  if (end === start) throw new SyntaxError('no value starts here')
  if (end - start <= maxNumberLength) return end
  throw text.charCodeAt(start) > 0x39 ? new SyntaxError('a word is too long') : numberTooLong()
}

/** `a-z`, `0-9`, `+`, `-`, `.` and `E`. */
function isLiteral(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x2b && code <= 0x39 && code !== 0x2c) || code === 0x45
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}

function skipSpace(text: string, start: number): number {
  let end = start
  while (isSpace(text.charCodeAt(end))) if ((end += 1) - start > maxSpaceLength) throw tooMuchSpace()
  return end
}

/** The end of an integer that a number cannot hold exactly; -1 for every other value. */
function endOfLongInteger(text: string, start: number): number {
  const first = text.charCodeAt(start) === 0x2d ? start + 1 : start
  // A leading zero is not JSON.
  if (text.charCodeAt(first) === 0x30) return -1
  let end = first
  while (isDigit(text.charCodeAt(end))) if ((end += 1) - first > maxNumberLength) throw numberTooLong()
  if (end - first < 16) return -1
  const next = text.charCodeAt(end)
  // A fraction or an exponent.
  if (next === 0x2e || next === 0x65 || next === 0x45) return -1
  return end - first === 16 && Number.isSafeInteger(Number(text.slice(start, end))) ? -1 : end
}

/** Recurses no deeper than the maximum depth. */
function rejectForbiddenKeys(value: unknown, depth = 1): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maxDepth) throw tooDeep()
  if (Array.isArray(value)) {
    for (const item of value) rejectForbiddenKeys(item, depth + 1)
    return
  }
  const object = value as Record<string, unknown>
  for (const key of Object.keys(object)) {
    if (isForbiddenName(key)) throw forbiddenName()
    rejectForbiddenKeys(object[key], depth + 1)
  }
}

function noComma(): SyntaxError {
  return new SyntaxError('a value follows a value')
}

function notJson(): AppError {
  return malformed('请求体不是有效的 JSON', 'The body is not valid JSON')
}

function tooManyNames(): AppError {
  return malformed(`参数过多，最多 ${maxNames} 个`, `Too many parameters: at most ${maxNames}`)
}

function tooManyShapes(): AppError {
  return malformed(
    `JSON 中不同的参数名过多，最多 ${maxShapes} 个`,
    `Too many different names in the JSON: at most ${maxShapes}`,
  )
}

function tooManyValues(): AppError {
  return malformed(
    `JSON 中的值过多，最多 ${maxValues} 个`,
    `Too many values in the JSON: at most ${maxValues}`,
  )
}

function tooManyLongNumbers(): AppError {
  return malformed(
    `JSON 中的长数字过多，最多 ${maxLongNumbers} 个`,
    `Too many long numbers in the JSON: at most ${maxLongNumbers}`,
  )
}

function numberTooLong(): AppError {
  return malformed(
    `JSON 中的数字过长，最多 ${maxNumberLength} 个字符`,
    `A number in the JSON is too long: at most ${maxNumberLength} characters`,
  )
}

function tooManyEscapes(): AppError {
  return malformed(
    `JSON 中含转义字符的文本过长，合计最多 ${maxEscapedLength} 个字符`,
    `Texts with escapes in the JSON are too long: at most ${maxEscapedLength} characters together`,
  )
}

function tooMuchSpace(): AppError {
  return malformed(
    `JSON 中的空白过多，最多 ${maxSpaceLength} 个字符`,
    `Too much white space in the JSON: at most ${maxSpaceLength} characters`,
  )
}
