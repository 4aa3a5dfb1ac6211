// Validation of ID numbers: check digit, birthday and region.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { checkDigitOf } from '../../contract/identity.ts'
import { ageOf, birthdayOf, provinceOf, readNumber, sexOf } from './number.ts'
import { provinces } from './provinces.ts'

const today = '2026-03-01'
const specimen = '11010519491231002X'

/** Written anew on purpose, by the standard's other formula, so that an error in the code is not repeated here. */
function expectedCheckDigit(digits: string): string {
  let sum = 0
  for (let position = 18; position >= 2; position -= 1) {
    sum += (2 ** (position - 1) % 11) * Number(digits[18 - position])
  }
  const rest = (12 - (sum % 11)) % 11
  return rest === 10 ? 'X' : String(rest)
}

const day = fc
  .date({ min: new Date('1900-01-01T00:00:00Z'), max: new Date('2026-03-01T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10).replaceAll('-', ''))

const validNumber = fc
  .tuple(
    fc.constantFrom(...provinces.keys()),
    fc.stringMatching(/^[0-9]{4}$/),
    day,
    fc.stringMatching(/^[0-9]{3}$/),
  )
  .map(([province, county, birthday, sequence]) => {
    const digits = province + county + birthday + sequence
    return digits + expectedCheckDigit(digits)
  })

function isAccepted(number: string): boolean {
  return readNumber(number, today).problems === undefined
}

function problemsOf(number: string): string[] {
  return (readNumber(number, today).problems ?? []).map((text) => text.zh)
}

/** The three rules, written differently from the code. */
function shouldPass(number: string): boolean {
  const match = /^(\d\d)\d{4}(\d{4})(\d\d)(\d\d)\d{3}[\dX]$/.exec(number)
  if (!match) return false
  const [, province = '', year, month, date] = match.map(String)
  const birth = new Date(Date.UTC(Number(year), Number(month) - 1, Number(date)))
  const isReal = birth.getUTCMonth() === Number(month) - 1 && birth.getUTCDate() === Number(date)
  const isInTime = Number(year) >= 1900 && birth.getTime() <= Date.UTC(2026, 2, 1)
  return isReal && isInTime && provinces.has(province) && expectedCheckDigit(number) === number[17]
}

describe('a valid number', () => {
  it('is accepted', () => {
    fc.assert(
      fc.property(validNumber, (number) => {
        assert.deepEqual(readNumber(number, today), { number })
      }),
      { numRuns: 500 },
    )
  })

  it('may end in x, which becomes X', () => {
    assert.deepEqual(readNumber('11010519491231002x', today), { number: specimen })
  })

  it('has the check digits of the standard', () => {
    assert.equal(checkDigitOf(specimen), 'X')
    assert.equal(checkDigitOf('440524188001010014'), '4')
  })

  it('contains birthday, sex, age and province', () => {
    assert.equal(birthdayOf(specimen), '1949-12-31')
    assert.equal(sexOf(specimen), '女')
    assert.equal(sexOf('440524188001010014'), '男')
    assert.equal(provinceOf(specimen), '北京市')
    assert.equal(ageOf(specimen, '2026-12-30'), 76)
    assert.equal(ageOf(specimen, '2026-12-31'), 77)
    assert.equal(ageOf('11010520000229001X', '2026-02-28'), 25)
    assert.equal(ageOf('11010520000229001X', '2026-03-01'), 26)
  })
})

describe('a typing error', () => {
  it('in one digit is always rejected', () => {
    fc.assert(
      fc.property(validNumber, (number) => {
        for (let position = 0; position < 18; position += 1) {
          for (const other of position === 17 ? '0123456789X' : '0123456789') {
            if (other === number[position]) continue
            const slip = number.slice(0, position) + other + number.slice(position + 1)
            assert.notEqual(expectedCheckDigit(slip), slip[17], 'the standard finds every single slip')
            assert.equal(isAccepted(slip), false)
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  it('that swaps two digits is rejected by the check digit', () => {
    fc.assert(
      fc.property(validNumber, (number) => {
        for (let position = 0; position < 17; position += 1) {
          const swapped =
            number.slice(0, position) + number[position + 1] + number[position] + number.slice(position + 2)
          if (swapped === number) continue
          assert.equal(isAccepted(swapped), shouldPass(swapped))
          if (/^\d{17}/.test(swapped) && expectedCheckDigit(swapped) !== swapped[17]) {
            assert.equal(isAccepted(swapped), false)
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('is judged by the three rules', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{17}[0-9X]$/), (number) => {
        assert.equal(isAccepted(number), shouldPass(number))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('each rule has its message', () => {
  const cases: Readonly<Record<string, [string, string[]]>> = {
    'too short': ['1101051949123100', ['必须是 18 位']],
    'fifteen digits of an old card': ['110105491231002', ['必须是 18 位']],
    'a letter inside': ['11010519491A31002X', ['前 17 位必须是数字，末位是数字或 X']],
    'an X in the middle': ['1101051949123X002X', ['前 17 位必须是数字，末位是数字或 X']],
    'full-width digits': ['１１０１０５１９４９１２３１００２Ｘ', ['前 17 位必须是数字，末位是数字或 X']],
    'check digit': ['110105194912310021', ['校验位错误']],
    'no such day': ['110105199002300013', ['出生日期无效']],
    'before 1900': ['440524188001010014', ['出生日期无效']],
    'unknown region': ['990105194912310025', ['地区代码无效']],
    'all rules': ['990105199002300010', ['地区代码无效', '出生日期无效', '校验位错误']],
  }
  for (const [name, [number, wanted]] of Object.entries(cases)) {
    it(name, () => {
      // Where only one rule is meant to fail, the check digit is put right first.
      const onlyOne = wanted.length === 1 && wanted[0] !== '校验位错误' && /^\d{17}[\dX]$/.test(number)
      const given = onlyOne ? number.slice(0, 17) + expectedCheckDigit(number) : number
      assert.deepEqual(problemsOf(given), wanted)
    })
  }

  it('accepts a birthday today and rejects one tomorrow', () => {
    const born = (date: string) => {
      const digits = `110105${date}001`
      return digits + expectedCheckDigit(digits)
    }
    assert.deepEqual(problemsOf(born('20260301')), [])
    assert.deepEqual(problemsOf(born('20260302')), ['出生日期无效'])
  })

  it('no message quotes the value', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4, unit: 'binary' }), (text) => {
        for (const problem of readNumber(text, today).problems ?? []) {
          for (const words of Object.values(problem)) assert.ok(!words.includes(text))
        }
      }),
    )
  })
})

describe('hostile input', () => {
  it('rejects 100 kB', () => {
    for (const piece of ['1', 'x', '张', '\u{20BB7}', ' ', '\u202e', 'Xx0']) {
      assert.equal(isAccepted(piece.repeat(100_000 / piece.length)), false)
    }
  })

  it('accepts only 18 ASCII characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 16, maxLength: 20 }), (text) => {
        if (isAccepted(text)) assert.match(text, /^[0-9]{17}[0-9Xx]$/)
      }),
      { numRuns: 2_000 },
    )
    for (const text of [`${specimen}\n`, `\n${specimen}`, ` ${specimen}`, `${specimen}\u200b`]) {
      assert.equal(isAccepted(text), false)
    }
  })
})
