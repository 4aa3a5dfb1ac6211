// Finds a Chromium for the browser tests: CHROMIUM_PATH, the npm package on Linux x64, or an installed browser.
import { accessSync, constants, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** `bundled` is the npm package @sparticuz/chromium, which unpacks its executable on first use. */
export type FoundBrowser =
  | { readonly kind: 'executable'; readonly path: string }
  | { readonly kind: 'bundled' }
  | { readonly kind: 'none'; readonly reason: string }

export interface Machine {
  readonly platform: NodeJS.Platform
  readonly arch: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly home: string
  isExecutable(path: string): boolean
}

const thisMachine: Machine = {
  platform: process.platform,
  arch: process.arch,
  environment: process.env,
  home: homedir(),
  isExecutable,
}

/** The names of the executables on Linux, in the order in which they are tried. */
const commands = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'microsoft-edge',
  'microsoft-edge-stable',
]

const linuxFolders = ['/usr/bin', '/usr/local/bin', '/snap/bin', '/usr/lib/chromium']

const linuxFiles = [
  '/opt/google/chrome/chrome',
  '/opt/microsoft/msedge/msedge',
  '/var/lib/flatpak/exports/bin/org.chromium.Chromium',
]

const macApplications = [
  'Chromium.app/Contents/MacOS/Chromium',
  'Google Chrome.app/Contents/MacOS/Google Chrome',
  'Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
]

export function findBrowser(machine: Machine = thisMachine): FoundBrowser {
  const { platform, arch, environment } = machine
  const chosen = environment['CHROMIUM_PATH']
  // A wrong path does not skip the tests: the launch fails with an error that names it.
  if (chosen !== undefined && chosen !== '') return { kind: 'executable', path: chosen }
  if (platform === 'linux' && arch === 'x64') return { kind: 'bundled' }
  const path = candidates(machine).find((candidate) => machine.isExecutable(candidate))
  if (path !== undefined) return { kind: 'executable', path }
  return { kind: 'none', reason: `needs a browser: ${installInstructions(platform)}` }
}

function candidates({ platform, environment, home }: Machine): readonly string[] {
  const onPath = (environment['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => commands.map((command) => join(folder, command)))
  if (platform === 'darwin') {
    const folders = ['/Applications', join(home, 'Applications')]
    return [...folders.flatMap((folder) => macApplications.map((name) => join(folder, name))), ...onPath]
  }
  if (platform !== 'linux') return onPath
  return [
    ...onPath,
    ...linuxFolders.flatMap((folder) => commands.map((command) => join(folder, command))),
    ...linuxFiles,
  ]
}

function installInstructions(platform: NodeJS.Platform): string {
  const install: Partial<Record<NodeJS.Platform, string>> = {
    linux: 'install one (Debian and Ubuntu: apt-get install chromium fonts-noto-cjk)',
    darwin: 'install one (brew install --cask chromium)',
  }
  return `${install[platform] ?? 'install Chromium'} or set CHROMIUM_PATH to a Chromium, Chrome or Edge executable`
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
