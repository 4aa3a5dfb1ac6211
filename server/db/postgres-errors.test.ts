// After a lost connection a transaction may have been committed; after an error of the server it has not.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { DatabaseUnavailable } from './database.ts'
import { isConnectionLoss, isServerError } from './postgres-errors.ts'

const errorWith = (fields: object, message = 'failed') => Object.assign(new Error(message), fields)

it('tells errors of the server from those of the connection', () => {
  const refused = [
    errorWith({ code: '22012', severity: 'ERROR' }),
    errorWith({ code: '23505', severity: 'ERROR' }),
    errorWith({ code: 'XX000', severity: 'ERROR' }, 'lost connection to parallel worker'),
  ]
  for (const error of refused) {
    assert.equal(isServerError(error), true, error.message)
    assert.equal(isConnectionLoss(error), false, error.message)
  }
  const lost = [
    errorWith({ code: 'EPIPE' }),
    errorWith({ code: 'ECONNRESET' }),
    errorWith({ code: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC' }),
    errorWith({ code: 'ERR_STREAM_DESTROYED' }),
    errorWith({}, 'Connection terminated unexpectedly'),
    errorWith({ code: '57P01', severity: 'FATAL' }),
    errorWith({ code: '53100', severity: 'PANIC' }),
  ]
  for (const error of lost) assert.equal(isConnectionLoss(error), true, error.message)
  for (const error of lost.slice(0, 5)) assert.equal(isServerError(error), false, error.message)
  assert.equal(isServerError(new DatabaseUnavailable('PostgreSQL: 57P01', lost[5])), false)
  assert.equal(isServerError(new TypeError('a bug')), false)
})
