// Text for people, in Chinese and English.
export type Language = 'zh' | 'en'

export type Text = Readonly<Record<Language, string>>
