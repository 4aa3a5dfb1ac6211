// Helpers for tests that start the service as a separate process and send it signals.
import { readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ServiceProcess, spawnService, type SpawnOptions } from './service.ts'

export const skipWithoutProcFs = !existsSync('/proc/self/task') && 'needs /proc'

/** Starts a service and kills it after the test; its workers end with it. */
export async function startUntilEnd(
  t: TestContext,
  environment: Record<string, string>,
  options?: SpawnOptions,
): Promise<ServiceProcess> {
  const service = await spawnService(environment, options)
  t.after(() => service.kill('SIGKILL'))
  return service
}

export async function workersOf({ child }: ServiceProcess): Promise<number[]> {
  const text = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
  return text.trim().split(/\s+/).filter(Boolean).map(Number)
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20)
}

export const keyOf = (service: ServiceProcess) => /tg_[0-9A-Za-z]{49}/.exec(service.output())![0]

/** The service writes its log with a delay. */
export const untilLogged = (service: ServiceProcess, message: string, count = 1) =>
  until(() => service.output().split(message).length > count)
