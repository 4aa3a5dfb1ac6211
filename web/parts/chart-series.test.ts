// The figures of a day that is not over are dashed, whatever the kind of chart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chartSeries } from './chart-series.ts'

const series = [{ name: 'a', values: [3, 2, 1] }]
const look = { isPartial: true, colours: ['red'] } as const

test('the last part of a line is dashed', () => {
  const [solid, dashed] = chartSeries(series, { ...look, kind: 'step' }) as Record<string, unknown>[]
  assert.deepEqual(solid?.['data'], [3, 2, null])
  assert.deepEqual(dashed?.['data'], [null, 2, 1])
  assert.deepEqual(dashed?.['lineStyle'], { width: 2, type: 'dashed' })
  assert.equal(dashed?.['step'], 'end')
  assert.equal(dashed?.['name'], solid?.['name'])
})

test('the last bar has a dashed border', () => {
  const [bars] = chartSeries(series, { ...look, kind: 'stack' }) as { data: unknown[] }[]
  const [first, second, last] = bars?.data ?? []
  assert.deepEqual([first, second], [3, 2])
  assert.equal((last as { itemStyle: { borderType: string } }).itemStyle.borderType, 'dashed')
})

test('complete days are one solid series', () => {
  const [only, ...others] = chartSeries(series, { ...look, kind: 'line', isPartial: false }) as {
    data: unknown
  }[]
  assert.deepEqual(others, [])
  assert.deepEqual(only?.data, [3, 2, 1])
})

test('the last day of an earlier period is over', () => {
  const past = [{ name: 'a', values: [3, 2, 1], isPast: true }]
  assert.equal(chartSeries(past, { ...look, kind: 'line' }).length, 1)
  const [bars] = chartSeries(past, { ...look, kind: 'bar' }) as { data: unknown[] }[]
  assert.deepEqual(bars?.data, [3, 2, 1])
})
