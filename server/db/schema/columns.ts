// The column types that the tables share.

/** 0 or 1. */
export type Flag = number
/** Since 1970. */
export type Milliseconds = number
/** `2026-01-31`, Asia/Shanghai. */
export type CalendarDay = string
/** Text. */
export type Json = string
