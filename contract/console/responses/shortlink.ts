// Responses of short links: list, one link, statistics.
import { Type } from 'typebox'
import { linkStates, redirectTypes } from '../../shortlink.ts'
import type { ResponseOf } from '../route.ts'
import { day } from '../fields.ts'
import { moment, extend, listOf, pageOf, csvFile } from './fields.ts'

export const LinkRow = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  short_code: Type.String(),
  a_url: Type.String(),
  b_url: Type.String(),
  target_url: Type.String(),
  redirect_type: Type.Enum([...redirectTypes]),
  /** Where `a_url` leads, when not to the target. */
  redirect_url_a: Type.String(),
  /** Visits by people. */
  clicks: Type.Integer(),
  bot_clicks: Type.Integer(),
  preview_clicks: Type.Integer(),
  /** Visits by people per day over the last 14 days, today last. */
  daily: Type.Array(Type.Integer()),
  created_at: moment,
  updated_at: moment,
  state: Type.Enum([...linkStates]),
  expires_at: Type.Union([moment, Type.Null()]),
  expired_url: Type.String(),
  max_clicks: Type.Union([Type.Integer(), Type.Null()]),
  remaining_clicks: Type.Union([Type.Integer(), Type.Null()]),
  has_password: Type.Boolean(),
  tags: Type.Array(Type.String()),
  external_id: Type.String(),
  /** The account's own domain that `a_url` is on; empty for the pool. */
  domain: Type.String(),
  rules: Type.Array(
    Type.Object({
      when: Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
      target_url: Type.String(),
    }),
  ),
})
export type LinkRow = ResponseOf<typeof LinkRow>

export const LinkDetail = extend(LinkRow, {
  /** Former codes of the link, newest first. */
  retired: Type.Array(
    Type.Object({
      short_code: Type.String(),
      retired_at: moment,
    }),
  ),
})
export type LinkDetail = ResponseOf<typeof LinkDetail>

/** A created or refreshed link and the remaining credits. */
const PaidLink = Type.Object({
  link: LinkDetail,
  charged: Type.Integer(),
  remaining: Type.Integer(),
})

export const NamedCount = Type.Object({
  name: Type.String(),
  count: Type.Integer(),
})
export type NamedCount = ResponseOf<typeof NamedCount>

export const LinkClicks = Type.Object({
  from: day,
  to: day,
  unit: Type.Enum(['day', 'hour']),
  /** One for every unit of the range. */
  points: Type.Array(
    Type.Object({
      /** The first millisecond of the unit. */
      at: moment,
      person: Type.Integer(),
      bot: Type.Integer(),
      preview: Type.Integer(),
    }),
  ),
  /** Visits by people, most frequent first; an empty name is a direct or unknown visit. */
  referrers: Type.Array(NamedCount),
  devices: Type.Array(NamedCount),
  browsers: Type.Array(NamedCount),
})
export type LinkClicks = ResponseOf<typeof LinkClicks>

export const linkResponses = {
  list: pageOf(LinkRow),
  csv: csvFile,
  code: Type.Object({ available: Type.Boolean(), problem: Type.String() }),
  tags: listOf(Type.String()),
  bulk: listOf(Type.Object({ id: Type.Integer(), ok: Type.Boolean(), message: Type.String() })),
  one: LinkDetail,
  create: PaidLink,
  change: LinkDetail,
  refresh: PaidLink,
  clicks: LinkClicks,
  clicksCsv: csvFile,
}
