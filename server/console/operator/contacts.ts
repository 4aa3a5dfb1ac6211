// Contact data and notes of an account, for operators.
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { oneLine } from '../../../contract/values.ts'
import { findContact, findNotes, insertNote, setContact } from '../../accounts/contact-store.ts'
import type { Account } from '../../accounts/store.ts'
import type { Services } from '../../services.ts'
import type { Api } from '../routes.ts'
import { operatorOf } from '../operator-actor.ts'
import { requireAccount } from './accounts.ts'

const noContact = { company: '', name: '', phone: '', mail: '' }

export function contactPages(api: Api, { db }: Services): void {
  async function filed(account: Account) {
    const contact = (await findContact(db, account.id)) ?? noContact
    return { contact, notes: await findNotes(db, account.id) }
  }

  api.operator(operatorRoutes.file, async (request) => filed(await requireAccount(db, request)))

  api.operator(operatorRoutes.changeContact, async (request, input) => {
    const account = await requireAccount(db, request)
    const contact = {
      company: oneLine(input.company ?? ''),
      name: oneLine(input.name ?? ''),
      phone: oneLine(input.phone ?? ''),
      mail: oneLine(input.mail ?? ''),
    }
    const actor = operatorOf(request, { note: '' })
    await db.write((tx) => setContact(tx, actor, account.id, contact))
    return filed(account)
  })

  api.operator(operatorRoutes.addNote, async (request, input) => {
    const account = await requireAccount(db, request)
    await db.write((tx) => insertNote(tx, operatorOf(request, input), account.id, request.user.username))
    return filed(account)
  })
}
