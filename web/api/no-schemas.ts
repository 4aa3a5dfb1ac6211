// Replaces TypeBox in the build of the console (see vite.config.ts): the service checks input, the console only uses paths and types.

interface NoSchema {
  readonly properties: Readonly<Record<string, unknown>>
}

const noSchema = (): NoSchema => ({ properties: {} })

/** Routes combine schemas by their `properties`; nothing else of a schema is read in the browser. */
export const Type = {
  Array: noSchema,
  Boolean: noSchema,
  Enum: noSchema,
  Integer: noSchema,
  Null: noSchema,
  Number: noSchema,
  Object: noSchema,
  Optional: noSchema,
  Record: noSchema,
  String: noSchema,
  Union: noSchema,
  Unknown: noSchema,
  Unsafe: noSchema,
}
