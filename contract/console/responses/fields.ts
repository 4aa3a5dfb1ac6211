// Schemas that several responses of the console share.
import { type TObject, type TProperties, type TSchema, Type } from 'typebox'

/** Milliseconds since 1970. */
export const moment = Type.Integer()

/** A value, or null when there is none. */
export function orNull<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}

/** An object with the properties of another one and more. */
export function extend<Base extends TProperties, More extends TProperties>(
  base: TObject<Base>,
  more: More,
): TObject<Base & More> {
  return Type.Object({ ...base.properties, ...more })
}

/** An object with a value of the same kind for each name. */
export function byName<Name extends string, S extends TSchema>(
  names: readonly Name[],
  schema: S,
): TObject<Record<Name, S>> {
  return Type.Object(Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, S>)
}

/** A whole list. */
export function listOf<S extends TSchema>(item: S) {
  return Type.Object({ items: Type.Array(item) })
}

/** A `Slice`. */
export function sliceOf<S extends TSchema>(item: S) {
  return Type.Object({ items: Type.Array(item), next: orNull(Type.Integer()) })
}

/** A page of a list that can be sorted. Pages start at 1. */
export function pageOf<S extends TSchema>(item: S) {
  return Type.Object({
    items: Type.Array(item),
    total: Type.Integer(),
    page: Type.Integer(),
    size: Type.Integer(),
  })
}

export const csvFile = Type.Object({ file: Type.Enum(['csv']) })
