// Rules for new user names. Names of existing accounts stay valid: they are looked up exactly as they were stored.
import { maxUsernameLength, minUsernameLength } from './console/limits.ts'
import type { Text } from './text.ts'

const edge = '[\\p{L}\\p{N}]'
const pattern = new RegExp(
  `^${edge}[\\p{L}\\p{N}_.@-]{${minUsernameLength - 2},${maxUsernameLength - 2}}${edge}$`,
  'u',
)

/** Letters that are shown as nothing, such as the Hangul fillers. */
const invisible = /\p{Default_Ignorable_Code_Point}/u

/** The actor of the command line in the audit log. */
export const commandLineActor = 'cli'

/** Names that pass for the platform. Visitors cannot sign up with them; operators can create them, except `cli`. */
const reserved = new Set(
  `abuse account accounts admin administrator admins api billing bot cli console demo finance help helpdesk info login
  mail master me moderator noreply notify official operator operators owner payment platform postmaster root security service
  staff status superuser support sys sysadmin system team tollgate webmaster
  管理员 系统 系统管理员 超级管理员 客服 官方 运营 平台`.split(/\s+/),
)

/** Why no account can be created with this name; undefined when one can. */
export function usernameProblem(username: string): Text | undefined {
  if (!pattern.test(username) || invisible.test(username)) {
    return {
      zh: `用户名必须是 ${minUsernameLength} 至 ${maxUsernameLength} 个字母、数字、汉字或 _ . @ -，首尾为字母、数字或汉字`,
      en: `a user name has ${minUsernameLength} to ${maxUsernameLength} letters, digits or _ . @ -, and begins and ends with a letter or digit`,
    }
  }
  return plainForm(username) === commandLineActor ? reservedName : undefined
}

/** Letters of scripts that are not usual beside Latin ones in our users' languages. */
const foreignLetter =
  /[^\P{L}\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Common}]/u

/** Why a visitor cannot sign up with this name. */
export function signUpNameProblem(username: string): Text | undefined {
  if (readings(username).some((name) => reservedReadings.has(name))) return reservedName
  if (!/\p{Script=Latin}/u.test(username) || !foreignLetter.test(username)) return undefined
  return {
    zh: '用户名中的拉丁字母只能与中文、日文或韩文混用',
    en: 'a user name mixes Latin letters only with Chinese, Japanese or Korean ones',
  }
}

/** What a quick look may take a name for: digits and pairs of letters pass for letters, and i, l, I and 1 for each other. */
function readings(username: string): string[] {
  const plain = plainForm(username)
  let letters = plain
  for (const [seen, read] of passesFor) letters = letters.replaceAll(seen, read)
  return [plain, letters].map((name) => name.replaceAll(/[1l]/g, 'i'))
}

const reservedReadings = new Set([...reserved].map((name) => name.replaceAll('l', 'i')))

const passesFor = [
  ['0', 'o'],
  ['5', 's'],
  ['rn', 'm'],
  ['vv', 'w'],
  ['cl', 'd'],
] as const

const reservedName: Text = {
  zh: '该用户名已被保留，请换一个',
  en: 'the user name is reserved, choose another one',
}

/** The form that must be unique: without differences of case and width (Unicode NFKC). */
export function uniqueNameOf(username: string): string {
  // Upper case first: it also unites ß and ss, ς and σ.
  return username.normalize('NFKC').toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC')
}

/** What a name looks like: Latin letters for look-alikes, without accents and separators. */
function plainForm(username: string): string {
  const letters = username.normalize('NFKD').replaceAll(/[\p{M}_.@-]/gu, '')
  return uniqueNameOf([...letters].map((letter) => lookAlikes.get(letter) ?? letter).join(''))
}

/** Cyrillic, Greek, other and modified Latin letters by the Latin letter that they look like, in their own case. */
const lookAlikes = new Map(
  Object.entries({
    a: 'аАαΑɑᴀⱥȺ',
    b: 'ВвΒβЬьʙƀɓƁ',
    c: 'сСϲϹᴄƈȼ',
    d: 'ԁԀɗᴅđĐðÐƌɖƉƊ',
    e: 'еЕεΕєЄҽᴇɇəɛ',
    f: 'ϝғƒ',
    g: 'ɡɢԌǥɠ',
    h: 'һНнΗʜħĦɦ',
    i: 'іІιΙıӀɪɨƗɩ',
    j: 'јЈϳɉʝ',
    k: 'кКκΚᴋƙ',
    l: 'ӏʟ|łŁƚɫɭ',
    m: 'мМΜᴍɱ',
    n: 'пηΝɴŋŊɲɳƞ',
    o: 'оОοΟσөɵᴏøØ',
    p: 'рРρΡᴘƥᵽ',
    q: 'ԛԚ',
    r: 'гʀᴦɍɼɽ',
    s: 'ѕЅꜱʂȿ',
    t: 'тТτΤᴛŧŦƭʈ',
    u: 'υμսᴜʉ',
    v: 'νѵᴠʋ',
    w: 'ԝԜωᴡⱳ',
    x: 'хХχΧ',
    y: 'уУγΥүҮʏɏƴ',
    z: 'ΖᴢζΖƶȥʐ',
  }).flatMap(([latin, letters]) => [...letters].map((letter) => [letter, latin] as const)),
)
