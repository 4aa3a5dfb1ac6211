// Chinese words that the project does not use, because it has another one for the same meaning.

export interface WordRule {
  readonly forbidden: RegExp
  readonly instead: string
}

export const chineseWords: readonly WordRule[] = [
  { forbidden: /充值|卡密|激活码/, instead: '兑换码、购买额度、补充额度、发放' },
  { forbidden: /退还/, instead: '退回' },
  { forbidden: /新建|编辑/, instead: '创建、修改' },
  { forbidden: /至多|查询串/, instead: '最多、查询字符串' },
  { forbidden: /(?<![必无])须|必须为/, instead: '必须、必须是' },
  { forbidden: /散列|归属地|上海时间|短链域名/, instead: '哈希值、位置、北京时间、短链接域名' },
  { forbidden: /访问者|调用者|应答|结果不明|未决/, instead: '访客、调用方、响应、结果未知、待确认' },
  { forbidden: /帐户|帐号|登陆|其它|中转页/, instead: '账户、账号、登录、其他、中间页' },
  {
    forbidden: /(?:\d|\})\s?[–~～]\s?(?:\d|\$\{)[^'"`]{0,20}[个位字条天次]|\d:\d\d[–~～]\d/,
    instead: '1 至 9',
  },
]
