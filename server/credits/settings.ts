// Settings of the credit ledger.
import { prices as defaultPrices } from '../../contract/credits.ts'
import { daysOrForever, integer, priceList, setting } from '../setting-parsers.ts'

export const creditSettings = {
  PRICES: setting(priceList(defaultPrices), defaultPrices, {
    zh: '每项操作消耗的额度，例如 generate=1,sms_part=1',
    en: 'Credits each operation costs, e.g. generate=1,sms_part=1',
  }),
  OPERATION_LEASE_S: setting(integer(1, 3_600), 60, {
    zh: '上游调用结果待确认的最长时间（秒）',
    en: 'Seconds an operation may stay held while an upstream call runs',
  }),
  SWEEP_S: setting(integer(1, 3_600), 10, {
    zh: '检查超时未确认操作的间隔（秒）',
    en: 'Seconds between two searches for operations whose lease has expired',
  }),
  LEDGER_KEEP_DAYS: setting(daysOrForever(400), 0, {
    zh: '流水逐笔保留的天数，更早的按账户与类型结转；至少 400，0 表示永久保留',
    en: 'Days that the ledger keeps single entries, older ones are compacted; 400 or more, 0: indefinitely',
  }),
  LEDGER_CHECK_HOURS: setting(integer(0, 168), 1, {
    zh: '服务每隔多少小时核对一次账目，发现不符时向管理员告警；0 表示不核对',
    en: 'Hours between checks of the ledger by the service, which alerts operators of problems; 0: none',
  }),
} as const
