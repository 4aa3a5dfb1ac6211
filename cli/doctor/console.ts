// The built console: it comes with the repository, so its absence means an incomplete copy.
import { consoleFolder, stateOfConsole } from '../../server/console/built.ts'
import { type Finding, ok, reportProblem } from './finding.ts'

export function checkConsole(folder: string = consoleFolder): Finding {
  const state = stateOfConsole(folder)
  if (state === 'complete') return ok('console', '控制台文件完整', 'the console files are complete')
  return reportProblem(
    'console',
    'fail',
    state === 'missing'
      ? [`没有控制台文件：${folder}`, 'the console files are missing']
      : [
          `控制台文件不完整或被改动：${folder}`,
          'the console files are incomplete or do not belong to one build',
        ],
    [
      '恢复仓库中的 web/dist（git checkout -- web/dist），或运行 npm ci && npm run build:web',
      'restore web/dist from the repository (git checkout -- web/dist), or run npm ci && npm run build:web',
    ],
  )
}
