// The form with user name and password: on the sign-in page and in the dialog after a session has ended.
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { maxUsernameLength, minPasswordLength } from '../../contract/console/limits.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import type { Me } from '../../contract/console/responses/session.ts'
import { ApiError } from '../api/client.ts'
import { useSetSession, useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { PlainError } from '../parts/plain-alert.tsx'
import { PlainButton } from '../parts/plain-button.tsx'
import { fieldProblems, PlainField } from '../parts/plain-form.tsx'
import { accountText } from './text.ts'

/** Loaded when an account needs it. */
const SecondStepForm = lazy(async () => ({
  default: (await import('./second-step-form.tsx')).SecondStepForm,
}))

interface SignInFormProps {
  readonly username?: string
  /** Creates an account instead. */
  readonly signUp?: boolean
  /** The user comes back from the OpenID provider, and the second factor is missing. */
  readonly afterOidc?: boolean
  readonly onSignedIn?: (me: Me) => void
}

export function SignInForm(props: SignInFormProps): ReactNode {
  const { username, signUp = false, afterOidc = false, onSignedIn } = props
  const t = useText(accountText)
  const [fields, setFields] = useState({ username: username ?? '', password: '' })
  /** Nothing is marked as missing before the first attempt. */
  const [isTried, setTried] = useState(false)
  const [isBack, setBack] = useState(false)
  const setSession = useSetSession()
  const signIn = useApiMutation(signUp ? sessionRoutes.signUp : sessionRoutes.signIn)
  const found = fieldProblems(signIn.error)
  const missing = (value: string) => (isTried && value === '' ? t.required : undefined)
  const isShort = signUp && fields.password !== '' && fields.password.length < minPasswordLength
  const shortText = isTried && isShort ? t.passwordShort(minPasswordLength) : undefined
  const submit = () => {
    setTried(true)
    if (fields.username === '' || fields.password === '' || isShort || signIn.isPending) return
    const onSuccess = (me: Me) => {
      setSession(me)
      onSignedIn?.(me)
    }
    signIn.mutate({ body: fields }, { onSuccess })
  }
  const needsCode = signIn.error instanceof ApiError && signIn.error.code === 'second_factor_required'
  if (needsCode || (afterOidc && !isBack)) {
    const back = () => {
      setBack(true)
      signIn.reset()
    }
    return (
      <Suspense fallback={<div className="bones" />}>
        <SecondStepForm onBack={back} onSignedIn={onSignedIn} />
      </Suspense>
    )
  }
  return (
    <form
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <PlainField
        name="username"
        label={t.username}
        value={fields.username}
        onChange={(value) => setFields({ ...fields, username: value })}
        problem={missing(fields.username) ?? found['username']}
        autoComplete="username"
        autoFocus={username === undefined}
        maxLength={maxUsernameLength}
      />
      <PlainField
        name="password"
        type="password"
        label={t.password}
        value={fields.password}
        onChange={(value) => setFields({ ...fields, password: value })}
        problem={missing(fields.password) ?? shortText ?? found['password']}
        hint={signUp ? t.passwordHint(minPasswordLength) : undefined}
        autoComplete={signUp ? 'new-password' : 'current-password'}
        autoFocus={username !== undefined}
      />
      <PlainError error={Object.keys(found).length > 0 ? null : signIn.error} />
      <PlainButton primary block submit busy={signIn.isPending}>
        {signUp ? t.signUp : t.signIn}
      </PlainButton>
    </form>
  )
}
