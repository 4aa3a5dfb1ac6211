// Boots a real systemd as the first process of a PID namespace. Its root is a copy-on-write view of this machine's files, so that
// units, users and folders can be created and are gone afterwards. Needs root on Linux.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { until } from './until.ts'

const run = promisify(execFile)
const program = '/lib/systemd/systemd'

/** Run with the new namespaces; arguments: an empty folder and the folder that becomes /opt/tollgate/releases/test. */
const boot = `
set -eu
folder=$1 release=$2
mount --make-rprivate /
mount -t tmpfs tmpfs "$folder"
mkdir "$folder/upper" "$folder/work" "$folder/root" "$folder/cgroup"
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" "$folder/root"
root=$folder/root
mkdir -p "$root/opt/tollgate/releases/test" "$root/proc" "$root/sys" "$root/dev" "$root/run" "$root/tmp"
mount --bind -o ro "$release" "$root/opt/tollgate/releases/test"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
  name=\${device%%:*} numbers=\${device#*:}
  mknod -m 666 "$root/dev/$name" c \${numbers%:*} \${numbers#*:}
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
# Nothing of this machine's own services.
rm -rf "$root/etc/systemd/system" "$root/run/systemd"
mkdir -p "$root/etc/systemd/system"
printf '[Unit]\\nRequires=systemd-journald.service\\nAfter=systemd-journald.service\\nAllowIsolate=yes\\n' > "$root/etc/systemd/system/test.target"
printf '[Journal]\\nStorage=volatile\\n' > "$root/etc/systemd/journald.conf"
: > "$root/etc/machine-id"
cd "$root"
mount --move . /
exec chroot . /usr/bin/env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb ${program} --system --unit=test.target --log-target=journal --show-status=no
`

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Systemd extends AsyncDisposable {
  /** Runs a shell command where systemd runs. */
  run(command: string): Promise<CommandResult>
}

/** Why systemd cannot be booted here; undefined when it can. */
export function systemdProblem(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux'
  return existsSync(program) ? undefined : 'systemd is not installed'
}

/** `release` is what the unit finds in /opt/tollgate/releases/test. Throws when the machine does not allow it. */
export async function bootSystemd(release: string): Promise<Systemd> {
  const folder = mkdtempSync('/tmp/tollgate-systemd-')
  const cgroup = `tollgate-test-${process.pid}`
  // A control group of its own, which becomes the root of the namespace.
  const enter = `
set -eu
mount --make-rprivate /
mkdir -p "$1/hierarchy" && mount -t cgroup2 cgroup2 "$1/hierarchy"
mkdir -p "$1/hierarchy/${cgroup}" && echo $$ > "$1/hierarchy/${cgroup}/cgroup.procs"
umount "$1/hierarchy"
exec unshare --cgroup --pid --fork --kill-child --uts --ipc sh -c "$3" boot "$1" "$2"`
  const child = spawn('unshare', ['--mount', 'sh', '-c', enter, 'enter', folder, release, boot], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()))

  /** The first process of the namespace, as seen from here: the only child of the last `unshare`. */
  async function findInit(): Promise<number | undefined> {
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(() => '')
    const pid = Number(children.trim().split(' ')[0])
    return pid > 0 ? pid : undefined
  }

  async function runInside(command: string): Promise<CommandResult> {
    const init = await findInit()
    if (init === undefined) throw new Error(`systemd has ended: ${errors}`)
    const args = ['--target', String(init), '--all', '--', 'sh', '-c', command]
    return run('nsenter', args, { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8' } }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: unknown) => error as CommandResult,
    )
  }

  async function dispose(): Promise<void> {
    const init = await findInit()
    if (init !== undefined) process.kill(init, 'SIGKILL')
    else child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await run('unshare', [
      '--mount',
      'sh',
      '-c',
      `mount --make-rprivate / && mount -t cgroup2 cgroup2 "$1" && find "$1/${cgroup}" -depth -type d -exec rmdir {} +`,
      'clean',
      folder,
    ]).catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  }

  try {
    await until(async () => {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(errors)
      if ((await findInit()) === undefined) return false
      const { stdout } = await runInside('systemctl is-system-running')
      return /^(running|degraded)/.test(stdout)
    }, 60_000)
  } catch (error) {
    await dispose()
    throw new Error(`systemd does not boot here: ${errors}`, { cause: error })
  }
  return { run: runInside, [Symbol.asyncDispose]: dispose }
}
