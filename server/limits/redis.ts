// Limits counted in Redis or Valkey, by its clock: each question is one script, which nothing else comes between.
import { createHash } from 'node:crypto'
import type { Drawn, LimitStore } from './port.ts'
import { type Answer, openResp, RespError } from './resp.ts'

/** KEYS: buckets. ARGV: tokens a second, burst, wanted for each. Thousandths of tokens; a bucket that is full is forgotten. */
const drawScript = scriptOf(`
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local answer = {}
  for i, key in ipairs(KEYS) do
    local rate, burst, wanted = tonumber(ARGV[i * 3 - 2]), tonumber(ARGV[i * 3 - 1]), tonumber(ARGV[i * 3])
    local kept = redis.call('HMGET', key, 'milli', 'at')
    local milli = burst * 1000
    if kept[1] then
      milli = math.min(milli, tonumber(kept[1]) + math.max(0, now - tonumber(kept[2])) * rate)
    end
    local granted = math.min(wanted, math.floor(milli / 1000))
    milli = milli - granted * 1000
    redis.call('HSET', key, 'milli', string.format('%.0f', milli), 'at', string.format('%.0f', now))
    redis.call('PEXPIRE', key, math.ceil((burst * 1000 - milli) / rate) + 1000)
    answer[i * 2 - 1] = granted
    answer[i * 2] = milli
  end
  return answer`)

/** KEYS: windows. ARGV: milliseconds of a window, then how many for each. */
const beginScript = scriptOf(`
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  for i, key in ipairs(KEYS) do
    local tries = tonumber(redis.call('HGET', key, 'tries') or '0')
    if tries >= tonumber(ARGV[i + 1]) then return { 0, math.max(1, redis.call('PTTL', key)) } end
  end
  local answer = { 1 }
  for i, key in ipairs(KEYS) do
    if redis.call('HSETNX', key, 'at', string.format('%.0f', now)) == 1 then
      redis.call('PEXPIRE', key, ARGV[1])
    end
    answer[i * 2] = redis.call('HINCRBY', key, 'tries', 1)
    answer[i * 2 + 1] = tonumber(redis.call('HGET', key, 'at'))
  end
  return answer`)

/** KEYS: windows, and last the one to forgive, if any. ARGV: the moment of each window. */
const takeBackScript = scriptOf(`
  for i, moment in ipairs(ARGV) do
    if redis.call('HGET', KEYS[i], 'at') == moment and tonumber(redis.call('HGET', KEYS[i], 'tries')) > 0 then
      redis.call('HINCRBY', KEYS[i], 'tries', -1)
    end
  end
  if #KEYS > #ARGV then redis.call('DEL', KEYS[#KEYS]) end
  return 1`)

/** KEYS: windows. ARGV: milliseconds of a window, then what is added to each. */
const addScript = scriptOf(`
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local answer = {}
  for i, key in ipairs(KEYS) do
    if redis.call('HSETNX', key, 'at', string.format('%.0f', now)) == 1 then
      redis.call('PEXPIRE', key, ARGV[1])
    end
    answer[i * 2 - 1] = redis.call('HINCRBY', key, 'tries', ARGV[i + 1])
    answer[i * 2] = math.max(1, redis.call('PTTL', key))
  end
  return answer`)

interface Script {
  readonly text: string
  readonly hash: string
}

function scriptOf(text: string): Script {
  return { text, hash: createHash('sha1').update(text).digest('hex') }
}

/** Installations that share a Redis have names of their own. */
export function redisStore(url: string, name: string): LimitStore {
  const client = openResp(url)
  const bucketKey = (accountId: number) => `tollgate:${name}:bucket:${accountId}`
  const windowKey = (key: string) => `tollgate:${name}:window:${key}`

  async function run(
    script: Script,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<readonly Answer[]> {
    const words = [keys.length, ...keys, ...values]
    const answer = await client.send(['EVALSHA', script.hash, ...words]).catch((error: unknown) => {
      if (!(error instanceof RespError && error.message.startsWith('NOSCRIPT'))) throw error
      return client.send(['EVAL', script.text, ...words])
    })
    return Array.isArray(answer) ? (answer as Answer[]) : [answer]
  }

  return {
    async draw(wishes) {
      const answer = await run(
        drawScript,
        wishes.map(({ accountId }) => bucketKey(accountId)),
        wishes.flatMap(({ limit, wanted }) => [limit.perSecond, limit.burst, wanted]),
      )
      return wishes.map((_wish, index): Drawn => ({
        granted: Number(answer[index * 2]),
        left: Number(answer[index * 2 + 1]) / 1000,
      }))
    },
    async begin(keys, windowMs) {
      const answer = await run(
        beginScript,
        keys.map(({ key }) => windowKey(key)),
        [windowMs, ...keys.map(({ most }) => most)],
      )
      if (answer[0] === 0) return { refusedMs: Number(answer[1]) }
      return {
        counted: keys.map(({ key }, index) => ({
          key,
          tries: Number(answer[index * 2 + 1]),
          window: Number(answer[index * 2 + 2]),
        })),
      }
    },
    async takeBack(counted, forgive) {
      const keys = counted.map(({ key }) => windowKey(key))
      await run(
        takeBackScript,
        forgive === undefined ? keys : [...keys, windowKey(forgive)],
        counted.map(({ window }) => window),
      )
    },
    async add(failures, windowMs) {
      const answer = await run(
        addScript,
        failures.map(({ key }) => windowKey(key)),
        [windowMs, ...failures.map(({ count }) => count)],
      )
      return failures.map((_one, index) => ({
        tries: Number(answer[index * 2]),
        leftMs: Number(answer[index * 2 + 1]),
      }))
    },
    ping: async () => void (await client.send(['PING'])),
    close: () => client.close(),
  }
}
