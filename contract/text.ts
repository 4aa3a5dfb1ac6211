// Everything people read comes in Chinese first and English second.
export type Language = 'zh' | 'en'

export type Text = Readonly<Record<Language, string>>
