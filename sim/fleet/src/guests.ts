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

/** The default program of a simulated guest: a job that writes its progress to the log (docs/guest.md). The pace of the Mac shortens `sleep`. */
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
 * Runners in simulated guests: the real script of the image, with a stand-in for the run.sh of GitHub. A guest has no network, so this
 * process talks to GitHub for all guests, and to each guest through pipes in one folder. `work` is called when a job has started in a
 * guest; its signal fires when the guest is gone.
 */
interface RunnerBridgeOptions extends Pick<FakeRunnerOptions, 'url' | 'work' | 'fetch'> {
  /** Is emptied first. Its path is part of the guests' program. */
  readonly folder: string;
  readonly clock?: Clock;
}

export interface RunnerBridge {
  readonly folder: string;
  /** The number of connected runners. */
  readonly count: () => number;
  close(): Promise<void>;
}

/**
 * Stands in for run.sh: announces its PID and that of its parent, and executes commands. Like the real one it exits with 0 whatever the
 * result of the job, and also when its registration was deleted.
 */
const runScript = (folder: string): string => `#!/bin/sh
# Stands in for run.sh of actions/runner. The process at the other end of the pipes talks to GitHub.
line='${folder}'/$$
umask 077
mkdir "$line" && mkfifo "$line/commands" || exit 1
printf %s "$ACTIONS_RUNNER_INPUT_JITCONFIG" >"$line/configuration"
unset ACTIONS_RUNNER_INPUT_JITCONFIG
exec 3<>"$line/commands"
echo "$$ $PPID" >'${folder}/notify'
echo 'Connected to GitHub'
while IFS=' ' read -r command rest <&3; do
  case $command in
    job)
      echo "Running job: $rest"
      "$ACTIONS_RUNNER_HOOK_JOB_STARTED"
      echo "$$ started" >'${folder}/notify'
      ;;
    done) echo "Job completed with result: $rest" ;;
    gone) echo 'The runner registration has been deleted from the server, please re-configure.' && exit 0 ;;
    end) exit 0 ;;
  esac
done
`;

/** Files of the image, and stand-ins for commands that must not run on this machine. */
const guestFiles = (folder: string): Readonly<Record<string, string>> => ({
  ...guestScripts(),
  'opt/actions-runner/run.sh': runScript(folder),
  'usr/bin/sudo': '#!/bin/sh\nshift\nexec "$@"\n',
  'sbin/shutdown': '#!/bin/sh\nkill -ALRM "$TART_GUEST"\n',
});

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The program of guests: a runner if the Pod has a configuration of one, else `otherScript`. */
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

/** False for a zombie. */
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

/** A guest whose power is cut sends nothing. */
const livenessPollMs = 1_000;

export const openRunnerBridge = async (options: RunnerBridgeOptions): Promise<RunnerBridge> => {
  const { folder, clock = systemClock, work, url, fetch: ask = fetch } = options;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await promisify(execFile)('mkfifo', [join(folder, 'notify')]);
  const guests = new Map<number, { readonly onStarted: () => void; readonly over: Promise<void> }>();
  const closing = new AbortController();

  const sendCommand = (pid: number, command: string): void => {
    try {
      const pipe = openSync(join(folder, String(pid), 'commands'), constants.O_WRONLY | constants.O_NONBLOCK);
      writeSync(pipe, `${command}\n`);
      closeSync(pipe);
    } catch {
      // The guest is gone.
    }
  };

  /** Aborts `gone` when `isGone`. */
  const watch = async (isGone: () => boolean, gone: AbortController): Promise<void> => {
    while (!gone.signal.aborted) {
      await sleep(clock, livenessPollMs, gone.signal);
      if (isGone()) gone.abort();
    }
  };

  const runRunner = async (pid: number, parent: number, started: Promise<void>): Promise<void> => {
    const line = join(folder, String(pid));
    const gone = new AbortController();
    const either = AbortSignal.any([gone.signal, closing.signal]);
    const aborted = new Promise<void>((resolve) => either.addEventListener('abort', () => resolve()));
    const isGone = (): boolean => !isAlive(pid) || !isAlive(parent);
    const watching = watch(isGone, gone);
    const configuration = readFileSync(join(line, 'configuration'), 'utf8');
    rmSync(join(line, 'configuration'));
    const outcome = await runFakeRunner({
      url,
      // A guest that is gone sends nothing: above all, it does not report the start of a job that GitHub has just given to it.
      fetch: async (input, init) => {
        if (isGone()) gone.abort();
        return ask(input, init);
      },
      clock,
      as: { jit_config: configuration },
      signal: either,
      work: async (job, signal) => {
        sendCommand(pid, `job ${job.name}`);
        await Promise.race([started, aborted]);
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

  const onNotification = (line: string): void => {
    const [word = '', rest = ''] = line.split(' ');
    const pid = Number(word);
    if (rest === 'started') return guests.get(pid)?.onStarted();
    const { promise, resolve } = Promise.withResolvers<void>();
    const over = runRunner(pid, Number(rest), promise).catch(() => {});
    guests.set(pid, { onStarted: resolve, over });
    void over.then(() => guests.delete(pid));
  };

  // Opened for writing too, so that it never ends; non-blocking, so that no thread waits.
  const fd = openSync(join(folder, 'notify'), constants.O_RDWR | constants.O_NONBLOCK);
  const notifications = new Socket({ fd, readable: true, writable: false });
  let rest = '';
  notifications.setEncoding('latin1').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(onNotification);
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
