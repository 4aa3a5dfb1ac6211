// Settings of the public pages.
import { optionalContact, setting } from '../setting-parsers.ts'

export const docsSettings = {
  SECURITY_CONTACT: setting(optionalContact, undefined, {
    zh: '安全问题的联系方式（邮箱或 https 地址），发布在 /.well-known/security.txt；不设置则没有该文件',
    en: 'Contact for security reports (email address or https URL), published in /.well-known/security.txt; without it there is no such file',
  }),
} as const
