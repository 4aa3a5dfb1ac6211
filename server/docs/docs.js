// Adds to the documentation pages: search, copy buttons, heading anchors, the current section, and calls with the reader's key.
// The pages are complete without it.
const zh = document.documentElement.lang === 'zh-CN'
const words = zh
  ? {
      search: '搜索文档（按 / 键）',
      nothing: '未找到',
      copy: '复制',
      copied: '已复制',
      link: '本节链接',
      tryIt: '在线调用',
      send: '发送请求',
      paid: '此操作消耗额度。',
      key: '密钥只保存在本页，关闭标签页后清除。',
      user: '用户名',
      apiKey: 'API 密钥',
      body: '请求体（JSON）',
      offline: '没有收到响应',
      invalid: '请求体不是有效的 JSON',
      reader: (name) => `已登录为 ${name}，示例中已填入用户名。`,
      readerKey: (hint) =>
        hint === null
          ? '账户还没有密钥，请在控制台生成。'
          : `密钥 ${hint} 只保存了哈希值，粘贴后填入本页的示例，不会保存。`,
      filledKey: (hint) => `密钥 ${hint} 已填入示例，关闭标签页后清除。`,
      pasteKey: '粘贴 API 密钥',
    }
  : {
      search: 'Search (press /)',
      nothing: 'No results',
      copy: 'Copy',
      copied: 'Copied',
      link: 'Link to this section',
      tryIt: 'Try it',
      send: 'Send request',
      paid: 'This operation costs credits.',
      key: 'The key is kept in this tab only.',
      user: 'User name',
      apiKey: 'API key',
      body: 'Body (JSON)',
      offline: 'No response',
      invalid: 'The body is not valid JSON',
      reader: (name) => `Signed in as ${name}. The samples have your user name.`,
      readerKey: (hint) =>
        hint === null
          ? 'The account has no key yet. Create one in the console.'
          : `Only a hash of your key ${hint} is stored. Paste it to fill it into the samples on this page; it is not saved.`,
      filledKey: (hint) => `The samples have your key ${hint}, in this tab only.`,
      pasteKey: 'Paste your API key',
    }

const languageKey = 'tollgate.docs-language'
/** The key of the reader, set here and by the console's page of the API key. */
const readerKey = 'tollgate.docs-key'

function stored(store, key) {
  try {
    return window[store].getItem(key)
  } catch {
    return null
  }
}

function store(name, key, value) {
  try {
    window[name].setItem(key, value)
  } catch {
    // Without storage the choice lasts for this page.
  }
}

function element(tag, properties = {}, children = []) {
  const created = Object.assign(document.createElement(tag), properties)
  created.append(...children)
  return created
}

// The language that the reader chose last.
const otherLanguage = document.querySelector('header a[hreflang]')
const chosen = stored('localStorage', languageKey)
if (otherLanguage && chosen !== null && chosen === otherLanguage.hreflang && document.referrer === '') {
  location.replace(otherLanguage.href + location.hash)
}
otherLanguage?.addEventListener('click', () => {
  store('localStorage', languageKey, otherLanguage.hreflang)
  otherLanguage.href += location.hash
})

for (const heading of document.querySelectorAll('article h2[id], article h3[id]')) {
  const anchor = element('a', { className: 'anchor', href: `#${heading.id}`, textContent: '#' })
  anchor.setAttribute('aria-label', words.link)
  heading.append(' ', anchor)
}

for (const block of document.querySelectorAll('pre')) {
  const button = element('button', { type: 'button', className: 'copy-code', textContent: words.copy })
  button.addEventListener('click', async () => {
    const text = block.querySelector('code')?.textContent ?? ''
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      const area = element('textarea', { value: text })
      document.body.append(area)
      area.select()
      document.execCommand('copy')
      area.remove()
    }
    button.textContent = words.copied
    setTimeout(() => (button.textContent = words.copy), 2000)
  })
  block.append(button)
}

const contents = document.querySelector('#contents')
if (contents) {
  addSearch(contents)
  followScrolling(contents)
}
/** Fields for the user name and the key of the reader. */
const readerFields = { user: [], key: [] }
for (const operation of document.querySelectorAll('.op[data-body]')) addTryIt(operation)
// The console sets this mark while a user is signed in, so that other readers cause no request.
if (stored('localStorage', 'tollgate.signed-in') !== null) void addReader()

function addSearch(nav) {
  const input = element('input', { type: 'search', placeholder: words.search, className: 'doc-search' })
  input.setAttribute('aria-label', words.search)
  const nothing = element('p', { textContent: words.nothing, hidden: true, className: 'note' })
  nav.prepend(input, nothing)
  // What each entry leads to: its heading with the text up to the next one.
  const entries = [...nav.querySelectorAll('a')].map((link) => {
    const heading = document.getElementById(link.hash.slice(1))
    const scope = heading?.closest('.op') ?? heading
    return { item: link.closest('li'), text: `${link.textContent} ${scope?.textContent ?? ''}`.toLowerCase() }
  })
  input.addEventListener('input', () => {
    const wanted = input.value.trim().toLowerCase()
    nav.classList.toggle('searching', wanted !== '')
    let found = 0
    for (const { item } of entries) item.hidden = wanted !== ''
    for (const { item, text } of entries) {
      if (wanted === '' || !text.includes(wanted)) continue
      found += 1
      item.hidden = false
      const parent = item.parentElement.closest('li')
      if (parent) parent.hidden = false
    }
    nothing.hidden = wanted === '' || found > 0
  })
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') nav.querySelector('li:not([hidden]) a')?.click()
    if (event.key === 'Escape') {
      input.value = ''
      input.dispatchEvent(new Event('input'))
    }
  })
  document.addEventListener('keydown', (event) => {
    const typing = /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    input.focus()
  })
}

function followScrolling(nav) {
  const links = new Map([...nav.querySelectorAll('a')].map((link) => [link.hash.slice(1), link]))
  const visible = new Set()
  const observer = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes) {
        if (isIntersecting) visible.add(target)
        else visible.delete(target)
      }
      const first = [...visible].sort((one, other) => one.offsetTop - other.offsetTop)[0]
      if (!first) return
      for (const link of links.values()) link.removeAttribute('aria-current')
      const current = links.get(first.id)
      current?.setAttribute('aria-current', 'true')
      if (window.innerWidth > 900) current?.scrollIntoView({ block: 'nearest' })
    },
    { rootMargin: '0px 0px -60% 0px' },
  )
  for (const id of links.keys()) {
    const heading = document.getElementById(id)
    if (heading) observer.observe(heading)
  }
}

/** The service may be below a path of its host. */
function serviceUrl(path) {
  return new URL(`..${path}`, new URL('.', document.querySelector('link[rel=stylesheet]').href))
}

/** Fills in the user name of a reader who is signed in, and the key that they paste. Both stay in this page. */
async function addReader() {
  let account
  try {
    const response = await fetch(serviceUrl('/console/api/start'), {
      headers: { accept: 'application/json' },
      cache: 'no-store',
    })
    account = (await response.json()).me?.account
  } catch {
    // The page is complete without it.
  }
  if (!account) return
  const { username, key_hint: hint } = account
  for (const input of readerFields.user) input.value ||= username
  for (const input of readerFields.key) input.placeholder = hint ?? ''

  const texts = []
  for (const code of document.querySelectorAll('pre code')) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const { data } = walker.currentNode
      if (/<API_KEY>|\bdemo\b/.test(data)) texts.push({ node: walker.currentNode, data })
    }
  }
  // Other names would have to be quoted in each language.
  const name = /^[\w.@-]+$/.test(username) ? username : 'demo'
  const fill = (key) => {
    for (const { node, data } of texts)
      node.data = data
        .replaceAll('<API_KEY>', () => key || '<API_KEY>')
        .replaceAll(/(^|["'=])demo(?=$|["'&\s])/g, (_all, before) => before + name)
  }
  if (texts.length === 0) return
  // A key of another account, or one that was reset since, does not match the hint.
  const [first, last] = hint?.split(/•+/) ?? []
  const known = stored('sessionStorage', readerKey) ?? ''
  const isCurrent = hint !== null && known.startsWith(first) && known.endsWith(last) && /^\w+$/.test(known)
  fill(isCurrent ? known : '')

  const key = element('input', { type: 'password', autocomplete: 'off', placeholder: words.pasteKey })
  if (isCurrent) key.value = known
  key.setAttribute('aria-label', words.pasteKey)
  key.addEventListener('input', () => {
    const value = key.value.trim()
    fill(/^\w+$/.test(value) ? value : '')
    for (const input of readerFields.key) input.value = value
  })
  const note = element('div', { className: 'reader' }, [
    element('p', {
      textContent: `${words.reader(username)} ${isCurrent ? words.filledKey(hint) : words.readerKey(hint)}`,
    }),
    ...(hint === null ? [] : [key]),
  ])
  document.querySelector('article')?.prepend(note)
}

function addTryIt(operation) {
  const { path, body: example, paid } = operation.dataset
  if (example === '') return
  const { username, api_key: _key, ...rest } = JSON.parse(example)
  const field = (label, input) => element('label', {}, [label, input])
  const user = element('input', {
    autocomplete: 'off',
    value: stored('sessionStorage', 'tollgate.docs-user') ?? '',
  })
  const key = element('input', {
    type: 'password',
    autocomplete: 'off',
    value: stored('sessionStorage', readerKey) ?? '',
  })
  readerFields.user.push(user)
  readerFields.key.push(key)
  const body = element('textarea', { rows: 8, spellcheck: false, value: JSON.stringify(rest, null, 2) })
  const output = element('pre', { hidden: true, tabIndex: 0 }, [element('code')])
  output.setAttribute('aria-live', 'polite')
  const button = element('button', { type: 'submit', textContent: words.send })
  const form = element('form', { className: 'try-it' }, [
    ...(username === undefined ? [] : [field(words.user, user)]),
    field(words.apiKey, key),
    field(words.body, body),
    element('p', { className: 'note', textContent: `${words.key}${paid === 'yes' ? ` ${words.paid}` : ''}` }),
    button,
    output,
  ])
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    store('sessionStorage', 'tollgate.docs-user', user.value)
    store('sessionStorage', readerKey, key.value)
    const show = (text) => {
      output.hidden = false
      output.firstChild.textContent = text
    }
    let values
    try {
      values = JSON.parse(body.value)
    } catch {
      show(words.invalid)
      return
    }
    button.disabled = true
    try {
      const credentials = { ...(username === undefined ? {} : { username: user.value }), api_key: key.value }
      const response = await fetch(serviceUrl(path), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'accept-language': zh ? 'zh-CN' : 'en' },
        body: JSON.stringify({ ...credentials, ...values }),
        credentials: 'omit',
      })
      const text = await response.text()
      let shown = text
      try {
        shown = JSON.stringify(JSON.parse(text), null, 2)
      } catch {
        // Not JSON: shown as it is.
      }
      show(`HTTP ${response.status}\n${shown}`)
    } catch {
      show(words.offline)
    } finally {
      button.disabled = false
    }
  })
  const details = element('details', { className: 'example' }, [
    element('summary', { textContent: words.tryIt }),
    form,
  ])
  operation.querySelector('.op-code')?.append(details)
}
