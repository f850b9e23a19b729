import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { guestNames } from '@tartan/api';
import { type Clock, sleep, systemClock } from '@tartan/kube/clock';
import { guestScripts } from '@tartan/runners/guest';
import { type FakeRunnerOptions, runFakeRunner } from '@tartan/sim-github';

const { shares, variables, log } = guestNames;

/**
 * What a guest of a simulated Mac does by itself: a job that goes on and tells so, where guests tell it (docs/guest.md). Which job it is
 * comes from the Pod. `sleep` is as short as the Mac's pace: a hundred seconds of the guest are one of ours.
 */
export const demoGuestScript = `shared='Volumes/My Shared Files'
variables="$shared/${shares.env}/${variables}"
job='without a name'
[ ! -f "$variables" ] || while IFS= read -r line; do
  case $line in JOB=*) job=\${line#JOB=} ;; esac
done <"$variables"
say() { [ ! -d "$shared/${shares.status}" ] || printf '%s\\n' "$*" >>"$shared/${shares.status}/${log}"; }
say 'The guest has booted.'
say "Job $job begins."
step=0
for what in 'check out the code' 'resolve packages' 'compile 214 files' 'link the app' 'boot the simulator'; do
  step=$((step + 1))
  sleep 20
  say "Step $step of 6: $what, done."
done
passed=0
while :; do
  sleep 200
  passed=$((passed + 7))
  say "Step 6 of 6: test, $passed passed, 0 failed."
done
`;

/**
 * Runners in simulated guests: the real script of the image, with a stand-in for the run.sh of GitHub.
 *
 * A guest has no network and should cost no more than a shell that waits. So this process speaks with GitHub for all of them, and guests
 * speak with it by pipes in one folder, the switchboard.
 *
 *     const switchboard = await openSwitchboard({ folder: join(folder, 'switchboard'), url: github.url, work });
 *     stops.push(switchboard.close);                     // before the Macs are started
 *     standInSoftware(files, { guest: runnerGuest(switchboard.folder, guestAtWork) })
 *
 * `work` is called when a job has begun in a guest, and says how it ended; the signal fires when that guest is gone. Guests of Pods
 * without a share named `runner` do what the second argument says.
 */
interface RunnerBridgeOptions extends Pick<FakeRunnerOptions, 'url' | 'work' | 'fetch'> {
  /** Not there yet, or left from an earlier one. Part of the guests' program: the same path gives the same program. */
  readonly folder: string;
  readonly clock?: Clock;
}

export interface RunnerBridge {
  readonly folder: string;
  /** Runners that it speaks for now. */
  readonly count: () => number;
  close(): Promise<void>;
}

/**
 * Stands in for run.sh: rings with its number and that of its parent, and does what it is told, without a process more. As the real one it
 * ends with 0 whatever became of the job, and also when GitHub does not know it any more.
 */
const runScript = (folder: string): string => `#!/bin/sh
# Stands in for run.sh of actions/runner. Whoever is at the other end of the pipes plays the rest.
line='${folder}'/$$
umask 077
mkdir "$line" && mkfifo "$line/orders" || exit 1
printf %s "$ACTIONS_RUNNER_INPUT_JITCONFIG" >"$line/configuration"
unset ACTIONS_RUNNER_INPUT_JITCONFIG
exec 3<>"$line/orders"
echo "$$ $PPID" >'${folder}/bell'
echo 'Connected to GitHub'
while IFS=' ' read -r order rest <&3; do
  case $order in
    job)
      echo "Running job: $rest"
      "$ACTIONS_RUNNER_HOOK_JOB_STARTED"
      echo "$$ began" >'${folder}/bell'
      ;;
    done) echo "Job completed with result: $rest" ;;
    gone) echo 'The runner registration has been deleted from the server, please re-configure.' && exit 0 ;;
    end) exit 0 ;;
  esac
done
`;

/** What macOS has, and the few lines of it that a guest must not share with the machine underneath. */
const guestFiles = (folder: string): Readonly<Record<string, string>> => ({
  ...guestScripts(),
  'opt/actions-runner/run.sh': runScript(folder),
  'usr/bin/sudo': '#!/bin/sh\nshift\nexec "$@"\n',
  'sbin/shutdown': '#!/bin/sh\nkill -ALRM "$TART_GUEST"\n',
});

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The program of guests: a runner where the Pod brings a configuration for one, and else `otherwise`. */
export const runnerGuestScript = (folder: string, otherScript: string): string => {
  const files = Object.entries(guestFiles(folder));
  const put = files.map(([path, text]) => `printf %s ${shellQuoted(text)} >${path}`).join('\n');
  const folders = new Set(files.map(([path]) => dirname(path)));
  return `if [ -d 'Volumes/My Shared Files/${guestNames.shares.runner}' ]; then
mkdir -p ${[...folders].join(' ')}
${put}
chmod 755 ${files.map(([path]) => path).join(' ')}
TARTAN_GUEST_ROOT=$PWD exec /bin/sh usr/local/libexec/tartan-runner/tartan-runner.sh
fi
${otherScript}`;
};

/** Also not one that is dead, and was only not fetched by its parent yet. */
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return true;
  }
};

/** Guests go without a word when their power is cut. */
const livenessPollMs = 1_000;

export const openRunnerBridge = async (options: RunnerBridgeOptions): Promise<RunnerBridge> => {
  const { folder, clock = systemClock, work, ...github } = options;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await promisify(execFile)('mkfifo', [join(folder, 'bell')]);
  const guests = new Map<number, { readonly began: () => void; readonly over: Promise<void> }>();
  const closing = new AbortController();

  const sendCommand = (pid: number, order: string): void => {
    try {
      const pipe = openSync(join(folder, String(pid), 'orders'), constants.O_WRONLY | constants.O_NONBLOCK);
      writeSync(pipe, `${order}\n`);
      closeSync(pipe);
    } catch {
      // It is gone.
    }
  };

  /** Fires when the guest is gone: its runner ends without a word, as one does whose machine was destroyed. */
  const watch = async (pid: number, parent: number, gone: AbortController): Promise<void> => {
    while (!gone.signal.aborted) {
      await sleep(clock, livenessPollMs, gone.signal);
      if (!isAlive(pid) || !isAlive(parent)) gone.abort();
    }
  };

  const runRunner = async (pid: number, parent: number, began: Promise<void>): Promise<void> => {
    const line = join(folder, String(pid));
    const gone = new AbortController();
    const either = AbortSignal.any([gone.signal, closing.signal]);
    const aborted = new Promise<void>((resolve) => either.addEventListener('abort', () => resolve()));
    const watching = watch(pid, parent, gone);
    const configuration = readFileSync(join(line, 'configuration'), 'utf8');
    rmSync(join(line, 'configuration'));
    const outcome = await runFakeRunner({
      ...github,
      clock,
      as: { jit_config: configuration },
      signal: either,
      work: async (job, signal) => {
        sendCommand(pid, `job ${job.name}`);
        await Promise.race([began, aborted]);
        // The guest is gone before its job began: there is nothing to do, and no abort to wait for.
        if (signal.aborted) return 'killed';
        const conclusion = await work(job, signal);
        sendCommand(pid, `done ${conclusion}`);
        return conclusion;
      },
    });
    sendCommand(pid, outcome === 'not registered' ? 'gone' : 'end');
    gone.abort();
    await watching;
    rmSync(line, { recursive: true, force: true });
  };

  const onNotification = (ring: string): void => {
    const [word = '', rest = ''] = ring.split(' ');
    const pid = Number(word);
    if (rest === 'began') return guests.get(pid)?.began();
    const { promise, resolve } = Promise.withResolvers<void>();
    const over = runRunner(pid, Number(rest), promise).catch(() => {});
    guests.set(pid, { began: resolve, over });
    void over.then(() => guests.delete(pid));
  };

  // Held open for writing too, so that it never ends; read by the event loop, so that no thread waits on it.
  const fd = openSync(join(folder, 'bell'), constants.O_RDWR | constants.O_NONBLOCK);
  const notifications = new Socket({ fd, readable: true, writable: false });
  let rest = '';
  notifications.setEncoding('latin1').on('data', (text: string) => {
    const rings = `${rest}${text}`.split('\n');
    rest = rings.pop() ?? '';
    rings.forEach(onNotification);
  });

  return {
    folder,
    count: () => guests.size,
    close: async () => {
      closing.abort();
      await Promise.all([...guests.values()].map(({ over }) => over));
      const closed = once(notifications, 'close');
      notifications.destroy();
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
};
