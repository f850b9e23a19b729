import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { guestNames, runnerVariables } from '@tartan/api';
import { type Guest, type GuestOptions, inGuest, secret } from './testing/guest.ts';

const hook = '"$ACTIONS_RUNNER_HOOK_JOB_STARTED"';
const idleAfterASecond = [`${runnerVariables.idleTimeoutSeconds}=1`];
/** Lets time pass, and runs far longer than the watchdog waits. */
const aLongJob = ': >"$TARTAN_GUEST_ROOT/go"; /bin/sleep 0.3';
const untilHeard = 'until [ -e "$TARTAN_RUNNER_STATE/job-started" ]; do /bin/sleep 0.01; done';

const resultOf = ({ statusFile }: Guest): string | undefined => statusFile(guestNames.result);
/** Runs the script to its end, and checks what must hold at every end. */
const through = (options: GuestOptions, look: (guest: Guest) => void): Promise<void> =>
  inGuest(options, async (guest) => {
    await guest.ended(guest.start());
    assert.equal(guest.halts(), 1, 'the guest is halted, once');
    assert.deepEqual(readdirSync(join(guest.root, 'tmp')), ['.keep']);
    assert.ok(!(guest.statusFile(guestNames.log) ?? '').includes(secret), 'the configuration is in no log');
    look(guest);
  });

describe('the script of a runner in its guest', { timeout: 60_000 }, () => {
  for (const shell of [['/bin/sh'], ['bash', '--posix']])
    it(`runs one job, reports its start, and reports its exit code (${shell.join(' ')})`, () =>
      through({ shell, runner: `${hook}; echo done; exit 7` }, (guest) => {
        assert.equal(resultOf(guest), '7\n');
        assert.equal(guest.statusFile(guestNames.ready), '');
        assert.equal(guest.statusFile(guestNames.jobStarted), '');
        assert.match(guest.statusFile(guestNames.log) ?? '', /^done$/m);
      }));

  it('reports the version of the runner', () =>
    through({ runner: 'exit 0', version: '2.335.0' }, (guest) =>
      assert.equal(guest.statusFile(guestNames.ready), '2.335.0\n'),
    ));

  it('succeeds when the runner exits with 0', () =>
    through({ runner: 'exit 0' }, (guest) => {
      assert.equal(resultOf(guest), '0\n');
      assert.equal(guest.statusFile(guestNames.jobStarted), undefined);
    }));

  it('passes the JIT configuration to the runner, not through arguments or logs', () =>
    through(
      {
        runner: `printf %s "$ACTIONS_RUNNER_INPUT_JITCONFIG" >given; echo "arguments: $*."; echo "<${secret}${secret}>"`,
      },
      (guest) => {
        assert.equal(readFileSync(join(guest.root, 'opt/actions-runner/given'), 'utf8'), secret);
        assert.match(guest.statusFile(guestNames.log) ?? '', /^arguments: \.\n<\*{6}>$/m);
      },
    ));

  it('passes the variables of the Pod to the runner, whatever their names are', () =>
    through(
      {
        variables: ['GREETING=a\\nb\\\\n %s=\\r', 'hook=/nowhere', 'state=/nowhere', 'tartan_line=x', 'a.b=c', 'UID=5'],
        runner: `printf '%s|' "$GREETING" "$hook" "$state" >given; ${hook}`,
      },
      (guest) => {
        const given = readFileSync(join(guest.root, 'opt/actions-runner/given'), 'utf8');
        assert.equal(given, 'a\nb\\n %s=\r|/nowhere|/nowhere|');
        assert.deepEqual([resultOf(guest), guest.statusFile(guestNames.jobStarted)], ['0\n', '']);
      },
    ));

  it('calls the hook of the Pod after its own', () =>
    through(
      {
        variables: ['ACTIONS_RUNNER_HOOK_JOB_STARTED=./theirs'],
        runner: `cat >theirs <<'.'
#!/bin/sh
echo theirs; [ -e "$TARTAN_RUNNER_STATE/job-started" ] && echo after ours
.
chmod 755 theirs; ${hook}`,
      },
      ({ statusFile }) => assert.match(statusFile(guestNames.log) ?? '', /^theirs\nafter ours$/m),
    ));

  it('stops a runner without a job after the idle timeout, as a success', () =>
    through({ runner: 'exec /bin/sleep 1000', variables: idleAfterASecond }, (guest) => {
      assert.equal(resultOf(guest), '0\n');
      assert.match(guest.statusFile(guestNames.log) ?? '', /no job for 1 seconds/);
      assert.equal(guest.statusFile(guestNames.jobStarted), undefined);
    }));

  it('kills a runner that ignores SIGTERM', () =>
    through({ runner: "trap '' TERM; while :; do /bin/sleep 0.1; done", variables: idleAfterASecond }, (guest) => {
      assert.equal(resultOf(guest), '0\n');
    }));

  it('has no idle timeout if it is 0 or not set', () =>
    through({ runner: `${aLongJob}; exit 3`, variables: [`${runnerVariables.idleTimeoutSeconds}=0`] }, (guest) => {
      assert.equal(resultOf(guest), '3\n');
    }));

  const signs: readonly (readonly [string, Partial<GuestOptions> & { readonly runner: string }])[] = [
    ['the hook was called', { runner: `${hook}; ${aLongJob}; exit 5` }],
    [
      'the hook was called and the job removed its marker',
      { runner: `${hook}; rm "$TARTAN_GUEST_ROOT/Volumes/My Shared Files/status/job-started"; ${aLongJob}; exit 5` },
    ],
    ['a worker process runs', { runner: `${aLongJob}; exit 5`, worker: true }],
    ['the listener logs a job', { runner: `echo 'Running job: build'; ${untilHeard}; ${aLongJob}; exit 5` }],
  ];
  for (const [sign, options] of signs)
    it(`never stops a runner once ${sign}`, () =>
      through({ ...options, isHeld: true, variables: idleAfterASecond }, (guest) =>
        assert.equal(resultOf(guest), '5\n'),
      ));

  it('reports a started job when the listener logs it, before any hook', () =>
    through({ runner: "echo '2026-06-01 12:00:00Z: Running job: build'" }, (guest) => {
      assert.equal(guest.statusFile(guestNames.jobStarted), '');
    }));

  it('does not wait for processes that a job left behind', () =>
    through({ runner: '/bin/sleep 1000 & echo $! >pid' }, (guest) => {
      assert.equal(resultOf(guest), '0\n');
      process.kill(Number(readFileSync(join(guest.root, 'opt/actions-runner/pid'), 'utf8')));
    }));

  /** The reader of the runner's output calls the hook at this line. */
  const whenRead = (script: string): string => `cat >"$ACTIONS_RUNNER_HOOK_JOB_STARTED" <<'.'
#!/bin/sh
${script}
.
echo 'Running job: build'`;

  it('logs everything that the runner has printed, however late it is read, also a line without an end, and then its end', () => {
    const late =
      'while kill -0 "$(cat "$TARTAN_GUEST_ROOT/runner-pid")" 2>/dev/null; do /bin/sleep 0.01; done; /bin/sleep 0.3';
    const runner = `echo $$ >"$TARTAN_GUEST_ROOT/runner-pid"; ${whenRead(late)}; echo one; printf two`;
    return through({ isInstant: true, runner }, ({ statusFile }) =>
      assert.match(
        statusFile(guestNames.log) ?? '',
        /^Running job: build\none\ntwo\n\S+ tartan-runner: The runner has ended with 0\.\n$/m,
      ),
    );
  });

  it('halts when nobody reads the output any more', () =>
    through(
      {
        runner: `${whenRead('kill -KILL $PPID; : >"$TARTAN_GUEST_ROOT/killed"')}
until [ -e "$TARTAN_GUEST_ROOT/killed" ]; do /bin/sleep 0.01; done; exit 5`,
      },
      (guest) => assert.equal(resultOf(guest), '5\n'),
    ));

  const broken: readonly (readonly [string, GuestOptions, string, RegExp])[] = [
    ['no configuration', { runner: 'exit 0', configuration: undefined }, '78\n', /no configuration/],
    ['no runner in the image', { runner: undefined }, '127\n', /run\.sh/],
    [
      'an invalid idle timeout',
      { runner: 'exit 0', variables: [`${runnerVariables.idleTimeoutSeconds}=soon`] },
      '78\n',
      /not a number/,
    ],
  ];
  for (const [what, options, result, words] of broken)
    it(`halts with ${what}, logs it, and never reports ready`, () =>
      through(options, (guest) => {
        assert.equal(resultOf(guest), result);
        assert.match(guest.statusFile(guestNames.log) ?? '', words);
        assert.equal(guest.statusFile(guestNames.ready), undefined);
      }));

  const waits = 'echo $$ >pid; exec /bin/sleep 1000';
  const started = async (guest: Guest) => {
    const script = guest.start();
    const file = join(guest.root, 'opt/actions-runner/pid');
    await eventually('the runner runs', () => existsSync(file) && readFileSync(file, 'utf8') !== '');
    return { script, pid: Number(readFileSync(file, 'utf8')) };
  };
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('stops its runner, reports and halts after SIGTERM', () =>
    inGuest({ runner: waits, variables: ['TUIST_RUNNER_IDLE_TIMEOUT_SECONDS=600'] }, async (guest) => {
      const { script, pid } = await started(guest);
      script.kill('SIGTERM');
      await guest.ended(script);
      assert.deepEqual([resultOf(guest), guest.halts(), isAlive(pid)], ['143\n', 1, false]);
    }));

  it('restarted after SIGKILL, starts no second runner, reports and halts', () =>
    inGuest({ runner: waits }, async (guest) => {
      const { script, pid } = await started(guest);
      script.kill('SIGKILL');
      await guest.ended(script);
      // launchd kills the rest of the process group.
      process.kill(pid, 'SIGKILL');
      await guest.ended(guest.start());
      assert.deepEqual([resultOf(guest), guest.halts()], ['137\n', 1]);
      assert.equal(Number(readFileSync(join(guest.root, 'opt/actions-runner/pid'), 'utf8')), pid);
    }));
});
