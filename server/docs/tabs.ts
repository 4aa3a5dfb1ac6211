// Tabs of radio buttons, which need no script and work with the keyboard.
import { html, type Html } from './html.ts'

export interface Tab {
  readonly id: string
  readonly name: string
  /** One `pre` or one `div.panel`. */
  readonly body: Html
}

/** `group` is unique in the page. */
export function tabs(group: string, items: readonly Tab[]): Html {
  const buttons = items.map(
    ({ id, name }, index) =>
      html`<input
          type="radio"
          name="${group}-code"
          id="${group}-${id}"
          ${index === 0 ? html` checked` : ''}
        /><label for="${group}-${id}">${name}</label>`,
  )
  return html`<div class="tabs">${buttons}${items.map(({ body }) => body)}</div>`
}
