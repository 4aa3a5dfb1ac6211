// Rules for new user names.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { maxUsernameLength } from './console/limits.ts'
import { signUpNameProblem, uniqueNameOf, usernameProblem } from './usernames.ts'

const fullWidth = (text: string) =>
  [...text].map((letter) => String.fromCodePoint(letter.codePointAt(0)! + 0xfee0)).join('')

it('accepts names in any script, with digits and separators inside', () => {
  const names = [
    '张三公司',
    'ab',
    '公司ABC-2',
    'user.name@example.com',
    '公司１２３',
    'Алексей',
    'Νίκος',
    '𠮷野家',
    'José',
    'adminton',
    '管理员小王',
    'x'.repeat(maxUsernameLength),
  ]
  for (const name of names) {
    assert.equal(usernameProblem(name), undefined, name)
    assert.equal(signUpNameProblem(name), undefined, name)
  }
})

it('rejects wrong lengths, edges, spaces, control and invisible characters', () => {
  for (const name of [
    '',
    'a',
    '-edge',
    'edge.',
    'a b',
    'line\nbreak',
    'a\u200Db',
    'admin\u3164',
    'ad\u115Fmin',
  ]) {
    assert.match(usernameProblem(name)?.en ?? '', /2 to 64/, JSON.stringify(name))
  }
  assert.ok(usernameProblem('x'.repeat(maxUsernameLength + 1)))
})

it('37 visitors cannot sign up with reserved names in any case, width or look-alike letters', () => {
  const names = [
    'admin',
    'Admin',
    'admln',
    'cIi',
    'heIp',
    'ADMIN',
    fullWidth('admin'),
    fullWidth('Admin'),
    'аdmin',
    'аԁміп',
    'ΑDΜΙΝ',
    'adm\u0131n',
    'ádmin',
    'ad.min',
    'a_d-m.in',
    'cli',
    'CLI',
    'сlі',
    'ｃｌｉ',
    'root',
    'rооt',
    'operator',
    'System',
    'tollgate',
    'Support',
    'suррort',
    'api',
    'adm1n',
    'adrnin',
    'aclmin',
    'ađmin',
    'admɨŋ',
    'suppørt',
    '5ystem',
    'r00t',
    'he1p',
    '管理员',
    '客服',
  ]
  for (const name of names) assert.match(signUpNameProblem(name)?.en ?? '', /reserved/, name)
  for (const name of ['cli', 'CLI', 'с.l.i', 'ｃｌｉ'])
    assert.match(usernameProblem(name)?.en ?? '', /reserved/, name)
  assert.equal(usernameProblem('admin'), undefined, 'operators can create it')
  for (const name of ['bоss', 'admi\u0578', 'sh\u0585p', '\u13DAoss']) {
    assert.match(signUpNameProblem(name)?.en ?? '', /mix/, name)
  }
  for (const name of [
    'shop1',
    'modern10',
    '公司abc',
    'まつりshop',
    '한국shop',
    'école',
    'магазин',
    '\u0570\u0561\u0575',
  ]) {
    assert.equal(signUpNameProblem(name), undefined, name)
  }
})

it('37 names that differ only in case or width are one name', () => {
  for (const [one, other] of [
    ['Shop', 'shop'],
    ['SHOP', fullWidth('shop')],
    ['公司１２３', '公司123'],
    ['Straße', 'STRASSE'],
    ['ΟΔΟΣ', 'οδος'],
    ['ﬁrma', 'firma'],
    ['e\u0301cole', 'École'],
  ] as const) {
    assert.equal(uniqueNameOf(one), uniqueNameOf(other), one)
  }
  assert.notEqual(uniqueNameOf('shop1'), uniqueNameOf('shop2'))
  assert.notEqual(uniqueNameOf('张三'), uniqueNameOf('張三'))
})
