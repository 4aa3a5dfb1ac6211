// The name of a device: what lists of sign-ins and sessions show of a user agent.

const browsers = [
  ['MicroMessenger', 'WeChat'],
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const

const systems = [
  ['Windows', 'Windows'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['HarmonyOS', 'HarmonyOS'],
  ['Android', 'Android'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const

/** Browser and system without versions, which change with every update; the first word of any other program. */
export function describeDevice(agent: string): string {
  const browser = browsers.find(([mark]) => agent.includes(mark))?.[1]
  const system = systems.find(([mark]) => agent.includes(mark))?.[1]
  if (browser === undefined && system === undefined) return agent.split(/[\s/]/)[0]!.slice(0, 40)
  return [browser, system].filter((part) => part !== undefined).join(' · ')
}
