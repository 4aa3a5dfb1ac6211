// What a short code looks like: seven characters that nobody misreads, and that spell nothing they should not.
/** Without 0 and O, 1, l and I. */
export const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

export const codeLength = 7

/** First segments of paths that are ours, now or one day. A code is never one of them, in whatever case. */
const reserved = new Set([
  ...[
    'account',
    'accounts',
    'admin',
    'api',
    'apis',
    'app',
    'apps',
    'asset',
    'assets',
    'auth',
    'b',
    'billing',
  ],
  ...['captcha', 'console', 'contact', 'docs', 'domains', 'favicon', 'health', 'healthz', 'help', 'index'],
  ...['invoice', 'legal', 'livez', 'login', 'logout', 'metrics', 'openapi', 'payment', 'pricing', 'privacy'],
  ...[
    'profile',
    'readyz',
    'receipt',
    'receipts',
    'robots',
    'sandbox',
    'search',
    'security',
    'service',
    'session',
  ],
  ...[
    'settings',
    'signin',
    'signout',
    'signup',
    'sitemap',
    'static',
    'status',
    'support',
    'swagger',
    'system',
  ],
  ...['terms', 'tracker', 'upgrade', 'verify', 'version', 'webhook', 'website'],
])

export function isReserved(word: string): boolean {
  return reserved.has(word.toLowerCase())
}

/** As addresses are compared, which is letter by letter. */
export function isOwnPath(segment: string): boolean {
  return reserved.has(segment)
}

/** English and pinyin; digits are read as the letters they stand for. */
const ugly = [
  ...[
    'anal',
    'anus',
    'arse',
    'bastard',
    'bitch',
    'boob',
    'cock',
    'coon',
    'crap',
    'cum',
    'cunt',
    'damn',
    'dick',
  ],
  ...[
    'dyke',
    'fag',
    'fuck',
    'fuk',
    'heroin',
    'hitler',
    'homo',
    'isis',
    'jizz',
    'kike',
    'kkk',
    'nazi',
    'negro',
  ],
  ...[
    'nigg',
    'paki',
    'pedo',
    'penis',
    'piss',
    'poop',
    'porn',
    'pussy',
    'rape',
    'retard',
    'sex',
    'shit',
    'slut',
  ],
  ...['spic', 'suck', 'terror', 'tits', 'twat', 'vagina', 'wank', 'whore', 'xxx'],
  ...[
    'biaozi',
    'caoni',
    'caobi',
    'cnm',
    'dabian',
    'diaosi',
    'dubo',
    'erbi',
    'fenqing',
    'gaichao',
    'goubi',
    'hundan',
  ],
  ...[
    'jianhuo',
    'jianren',
    'jiba',
    'luoli',
    'maiyin',
    'nmsl',
    'naocan',
    'pigu',
    'qusi',
    'rinima',
    'sabi',
    'seqing',
  ],
  ...['shabi', 'tamade', 'tmd', 'wangba', 'wocao', 'yinhu', 'zhapian'],
]

const uglyWords = new RegExp(ugly.join('|'))

const letterOf: Readonly<Record<string, string>> = { 3: 'e', 4: 'a', 5: 's', 6: 'g', 7: 't', 8: 'b', 9: 'g' }

export function isUgly(code: string): boolean {
  let plain = ''
  for (const character of code.toLowerCase()) plain += letterOf[character] ?? character
  return uglyWords.test(plain)
}

/** Letters and digits, so that a code with a misread letter is told as unknown and not as a strange path. */
const codeLike = new Uint8Array(128)
for (const character of '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') {
  codeLike[character.charCodeAt(0)] = 1
}

/** Whether seven letters or digits stand here in the text. */
export function looksLikeCode(text: string, start: number): boolean {
  for (let at = start; at < start + codeLength; at += 1) {
    const unit = text.charCodeAt(at)
    if (!(unit < 128) || codeLike[unit] === 0) return false
  }
  return true
}
