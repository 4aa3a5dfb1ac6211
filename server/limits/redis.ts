// Limits counted in Redis or Valkey, by its clock. Each operation is one script and therefore atomic.
import { once } from 'node:events'
import { ClientOfflineError, createClient, defineScript } from '@redis/client'
import type { LimitStore } from './port.ts'

/** KEYS: buckets. ARGV per bucket: tokens per second, burst, wanted. Counts in thousandths of a token; a full bucket expires. */
const drawScript = defineLimitScript(`
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local response = {}
  for i, key in ipairs(KEYS) do
    local rate, burst, wanted = tonumber(ARGV[i * 3 - 2]), tonumber(ARGV[i * 3 - 1]), tonumber(ARGV[i * 3])
    local stored = redis.call('HMGET', key, 'milli', 'at')
    local milli = burst * 1000
    if stored[1] then
      milli = math.min(milli, tonumber(stored[1]) + math.max(0, now - tonumber(stored[2])) * rate)
    end
    local granted = math.min(wanted, math.floor(milli / 1000))
    milli = milli - granted * 1000
    redis.call('HSET', key, 'milli', string.format('%.0f', milli), 'at', string.format('%.0f', now))
    redis.call('PEXPIRE', key, math.ceil((burst * 1000 - milli) / rate) + 1000)
    response[i * 2 - 1] = granted
    response[i * 2] = milli
  end
  return response`)

/** KEYS: windows. ARGV: length of the windows in milliseconds, then the maximum of each. */
const attemptScript = defineLimitScript(`
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  for i, key in ipairs(KEYS) do
    local attempts = tonumber(redis.call('HGET', key, 'attempts') or '0')
    if attempts >= tonumber(ARGV[i + 1]) then return { 0, math.max(1, redis.call('PTTL', key)), i } end
  end
  local response = { 1 }
  for i, key in ipairs(KEYS) do
    if redis.call('HSETNX', key, 'at', string.format('%.0f', now)) == 1 then
      redis.call('PEXPIRE', key, ARGV[1])
    end
    response[i * 2] = redis.call('HINCRBY', key, 'attempts', 1)
    response[i * 2 + 1] = tonumber(redis.call('HGET', key, 'at'))
  end
  return response`)

/** KEYS: windows, and last the one to reset, if any. ARGV: when each window started. */
const undoScript = defineLimitScript(`
  for i, startedAt in ipairs(ARGV) do
    if redis.call('HGET', KEYS[i], 'at') == startedAt and tonumber(redis.call('HGET', KEYS[i], 'attempts')) > 0 then
      redis.call('HINCRBY', KEYS[i], 'attempts', -1)
    end
  end
  if #KEYS > #ARGV then redis.call('DEL', KEYS[#KEYS]) end
  return 1`)

/** KEYS: windows. ARGV: length of the windows in milliseconds, then the failures to add to each. */
const addFailuresScript = defineLimitScript(`
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local response = {}
  for i, key in ipairs(KEYS) do
    if redis.call('HSETNX', key, 'at', string.format('%.0f', now)) == 1 then
      redis.call('PEXPIRE', key, ARGV[1])
    end
    response[i * 2 - 1] = redis.call('HINCRBY', key, 'attempts', ARGV[i + 1])
    response[i * 2] = math.max(1, redis.call('PTTL', key))
  end
  return response`)

/** A script whose keys and arguments are lists and whose response is a list of numbers. */
function defineLimitScript(text: string) {
  return defineScript({
    SCRIPT: text,
    parseCommand(parser, keys: readonly string[], args: readonly number[]) {
      parser.pushKeysLength([...keys])
      parser.push(...args.map(String))
    },
    transformReply: undefined as unknown as () => number[],
  })
}

/** How long a connection attempt may take, and how often it is repeated. */
const connectTimeoutMs = 2_000
const reconnectMs = 500

/**
 * A connection without a response for this time is replaced. When the machine of the server or the network to it fails without
 * closing connections, the operating system reports it after about 15 minutes. Longer than any caller waits.
 */
const silenceTimeoutMs = 8_000

/** `name` keeps installations apart that share one Redis. */
export function openRedisStore(url: string, name: string, silenceMs = silenceTimeoutMs): LimitStore {
  const client = createClient({
    url,
    // A command that waits for a reconnect would count an attempt long after its caller went on without it.
    disableOfflineQueue: true,
    socket: {
      connectTimeout: connectTimeoutMs,
      socketTimeout: silenceMs,
      reconnectStrategy: () => reconnectMs,
    },
    // On an idle connection a response is due too. The next ping follows only after it.
    pingInterval: silenceMs / 4,
    scripts: {
      draw: drawScript,
      attempt: attemptScript,
      undo: undoScript,
      addFailures: addFailuresScript,
    },
  })
  // The caller reports why a command failed; one without a connection would say no more than that.
  let connectError: unknown
  client.on('error', (error: unknown) => {
    connectError = error
  })
  client.on('ready', () => {
    connectError = undefined
  })
  // After the first failure commands fail at once, and the client continues to connect.
  const connected = Promise.race([
    once(client, 'error').catch(() => undefined),
    client.connect().catch(() => undefined),
  ])
  async function send<T>(command: () => Promise<T>): Promise<T> {
    await connected
    try {
      return await command()
    } catch (error) {
      throw error instanceof ClientOfflineError ? (connectError ?? error) : error
    }
  }
  let pinging: Promise<unknown> | undefined
  const bucketKey = (accountId: number) => `tollgate:${name}:bucket:${accountId}`
  const windowKey = (key: string) => `tollgate:${name}:window:${key}`

  return {
    async draw(requests) {
      const response = await send(() =>
        client.draw(
          requests.map(({ accountId }) => bucketKey(accountId)),
          requests.flatMap(({ limit, wanted }) => [limit.perSecond, limit.burst, wanted]),
        ),
      )
      return requests.map((_request, index) => ({
        granted: Number(response[index * 2]),
        bucketTokens: Number(response[index * 2 + 1]) / 1000,
      }))
    },
    async attempt(keys, windowMs) {
      const response = await send(() =>
        client.attempt(
          keys.map(({ key }) => windowKey(key)),
          [windowMs, ...keys.map(({ max }) => max)],
        ),
      )
      if (response[0] === 0)
        return { retryAfterMs: Number(response[1]), key: keys[Number(response[2]) - 1]!.key }
      return {
        counted: keys.map(({ key }, index) => ({
          key,
          attempts: Number(response[index * 2 + 1]),
          window: Number(response[index * 2 + 2]),
        })),
      }
    },
    async undo(counted, resetKey) {
      const keys = counted.map(({ key }) => windowKey(key))
      await send(() =>
        client.undo(
          resetKey === undefined ? keys : [...keys, windowKey(resetKey)],
          counted.map(({ window }) => window),
        ),
      )
    },
    async addFailures(failures, windowMs) {
      const response = await send(() =>
        client.addFailures(
          failures.map(({ key }) => windowKey(key)),
          [windowMs, ...failures.map(({ count }) => count)],
        ),
      )
      return failures.map((_failure, index) => ({
        failures: Number(response[index * 2]),
        expiresInMs: Number(response[index * 2 + 1]),
      }))
    },
    async ping() {
      // A ping that is repeated would keep a connection without responses open: the socket counts what is sent too.
      await send(() => (pinging ??= client.ping().finally(() => (pinging = undefined))))
    },
    close: () => client.destroy(),
  }
}
