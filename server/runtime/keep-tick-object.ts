// Keeps `process.nextTick` quick. Imported first, because it must run before the first garbage collection.
//
// For each tick Node.js creates an object with computed keys. If a garbage collection finds none of them, V8 drops their hidden class,
// and from then on each takes several times as long to create: on PostgreSQL a redirect loses a tenth of its speed. As long as one of
// them exists, V8 keeps the class.
import { createHook } from 'node:async_hooks'

const kept: object[] = []

const hook = createHook({
  init(_id, type, _trigger, resource) {
    if (type === 'TickObject') kept.push(resource)
  },
}).enable()
process.nextTick(() => undefined)
hook.disable()
