// Checks that the Redis or Valkey of the settings can be used for shared limits.
import type { Config } from '../../server/config.ts'
import { describeReason, type Finding, ok, reportProblem } from './finding.ts'

export async function checkRedis({ REDIS_URL: redisUrl }: Config): Promise<Finding[]> {
  if (redisUrl === undefined) return []
  const { host } = new URL(redisUrl)
  const { openRedisStore } = await import('../../server/limits/redis.ts')
  const store = openRedisStore(redisUrl, 'doctor')
  try {
    await store.ping()
    return [ok('redis', `Redis ${host} 可用`, `Redis ${host} works`)]
  } catch (error) {
    return [
      reportProblem(
        'redis',
        'fail',
        [
          `Redis ${host} 不可用，限额由各进程分别计数：${describeReason(error)}`,
          'Redis cannot be used: each process counts limits for itself',
        ],
        ['检查 REDIS_URL 的地址、密码与库编号', 'check address, password and database number in REDIS_URL'],
      ),
    ]
  } finally {
    store.close()
  }
}
