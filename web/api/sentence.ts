// Messages of the service as sentences of the console.

/** English messages that the public API shares begin in lower case, because there they follow the name of a parameter. */
export function asSentence(message: string): string {
  return /^[a-z]+ [^\u4e00-\u9fff]*$/.test(message) ? message[0]!.toUpperCase() + message.slice(1) : message
}
