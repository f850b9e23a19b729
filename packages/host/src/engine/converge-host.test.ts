import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { type Mac, startMac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import type { Step } from '../steps/step.ts';
import { exampleArtifact, exampleSpec } from '../testing/example-spec.ts';
import { fakeStep } from '../testing/fake-step.ts';
import { grantRoot } from '../testing/fresh-macs.ts';
import { macConnection, type MacConnectionOptions } from '../testing/mac-connection.ts';
import { stepsWith } from '../testing/step-results.ts';
import { convergeHost, type ConvergeOptions } from './converge-host.ts';
import type { HostEvent, HostOutcome } from './host-outcome.ts';
import { acquireLock } from './lock.ts';
import { summaryOf, wantedStamps } from './step-hash.ts';
import { hostRedactor } from './redaction.ts';

describe('convergeHost', () => {
  let folder: string;
  let mac: Mac;
  let spec: HostSpec;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-converge-'));
    mac = await startMac({ folder: join(folder, 'mac') });
    grantRoot(mac);
    spec = exampleSpec(join(folder, 'artifacts'));
  });
  afterEach(() => {
    rmSync(mac.path('/var/db/tartan'), { recursive: true, force: true });
    rmSync(mac.path('/var/fake'), { recursive: true, force: true });
  });
  after(async () => {
    await mac.stop();
    rmSync(folder, { recursive: true });
  });

  const secrets = { joinKubeconfig: 'the secret of this test' };
  /** Of the last run. */
  const events: HostEvent[] = [];
  const applied = (): string[] => stepsWith('applied', events);
  const converge = (
    steps: readonly Step[],
    options: Partial<ConvergeOptions> & MacConnectionOptions & { spec?: HostSpec } = {},
  ): Promise<HostOutcome> => {
    events.length = 0;
    return convergeHost(macConnection(mac, options), options.spec ?? spec, secrets, {
      owner: 'test',
      idle: true,
      steps,
      report: (event) => events.push(event),
      ...options,
    });
  };
  const work = (outcome: HostOutcome) => {
    assert.ok(outcome.kind === 'converged', JSON.stringify(outcome));
    return outcome;
  };
  /** Every application on this host so far. */
  const journal = (): string[] => readIfThere('/var/fake/journal').split('\n').slice(0, -1);
  const readIfThere = (path: string): string =>
    existsSync(mac.path(path)) ? readFileSync(mac.path(path), 'utf8') : '';
  const put = (path: string, content: string): void => {
    mkdirSync(join(mac.path(path), '..'), { recursive: true });
    writeFileSync(mac.path(path), content);
  };
  const a = fakeStep('a');
  const b = fakeStep('b');
  const c = fakeStep('c', { optional: true });

  test('runs the steps in order, and stamps them as read back from the host', async () => {
    const outcome = work(await converge([c, a, b]));
    assert.deepEqual(journal(), ['a', 'b', 'c']);
    assert.deepEqual(applied(), ['a', 'b', 'c']);
    const wanted = wantedStamps(spec, [a, b, c]);
    assert.ok(outcome.kind === 'converged');
    assert.deepEqual(outcome.stamps, wanted);
    assert.equal(outcome.summary, summaryOf(wanted));
    assert.equal(outcome.rebootPending, false);
    assert.deepEqual(
      events.map((event) => [event.kind, event.step, 'result' in event ? event.result : '']),
      ['a', 'b', 'c'].flatMap((name) => [
        ['step started', name, ''],
        ['step finished', name, 'applied'],
      ]),
    );
    assert.deepEqual(events.find((event) => event.kind === 'step finished')?.differences, [
      `a is not ${spec.nodeName}`,
    ]);
  });

  test('costs one command when nothing is to do', async () => {
    await converge([a, b]);
    const connection = macConnection(mac);
    work(await convergeHost(connection, spec, {}, { owner: 'test', idle: true, steps: [a, b] }));
    assert.equal(connection.scripts.length, 1);
    assert.deepEqual(journal(), ['a', 'b']);
  });

  test('runs only the changed step when one input changes', async () => {
    const label = fakeStep('label', { intent: ({ user }) => ({ nodeName: user }) });
    await converge([a, label]);
    work(await converge([a, label], { spec: { ...spec, nodeName: 'another' } }));
    assert.deepEqual(applied(), ['a']);
  });

  test('does not apply a step that only lacks its stamp', async () => {
    await converge([a, b]);
    rmSync(mac.path('/var/db/tartan'), { recursive: true });
    work(await converge([a, b]));
    assert.deepEqual(applied(), []);
    assert.deepEqual(journal(), ['a', 'b']);
    assert.deepEqual(readdirSync(mac.path('/var/db/tartan/steps')).sort(), ['a', 'b']);
  });

  test('repairs a change of somebody else when asked to verify', async () => {
    await converge([a, b]);
    put('/var/fake/a', 'changed by hand\n');
    work(await converge([a, b]));
    assert.deepEqual(applied(), []);
    work(await converge([a, b], { mode: 'verify' }));
    assert.deepEqual(applied(), ['a']);
  });

  test('sends no artifact to a step that is only checked', async () => {
    const withArtifact = fakeStep('a', { artifact: () => spec.tart });
    await converge([withArtifact]);
    await converge([withArtifact], { mode: 'verify' });
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['step started', 'step finished'],
    );
  });

  test('removes a feature that is off, and stamps that too', async () => {
    await converge([a, b]);
    const off = fakeStep('a', { intent: () => undefined });
    const outcome = work(await converge([off, b]));
    assert.deepEqual([stepsWith('removed', events), applied()], [['a'], []]);
    assert.equal(existsSync(mac.path('/var/fake/a')), false);
    assert.ok(outcome.kind === 'converged');
    assert.deepEqual(outcome.stamps, wantedStamps(spec, [off, b]));
  });

  test('stops at a failed step, which leaves no stamp and names its cause', async () => {
    put('/var/fake/refuse-b', 'by the test');
    const outcome = await converge([a, b, c]);
    assert.ok(outcome.kind === 'step failed', JSON.stringify(outcome));
    assert.deepEqual(applied(), ['a']);
    assert.equal(outcome.error.step, 'b');
    assert.equal(outcome.error.exitCode, 1);
    assert.equal(outcome.error.failure, 'rejected');
    assert.match(outcome.error.message, /^Could not write b \(step b\): exit code 1: b is refused: by the test\. Fix/);
    assert.deepEqual(readdirSync(mac.path('/var/db/tartan/steps')), ['a']);
    rmSync(mac.path('/var/fake/refuse-b'));
    work(await converge([a, b, c]));
    assert.deepEqual(applied(), ['b', 'c']);
  });

  test('stops at a step whose check fails after it was applied', async () => {
    const idle = { ...a, script: `${a.script ?? ''}\napply() { :; }\n` };
    const outcome = await converge([idle]);
    assert.ok(outcome.kind === 'step failed', JSON.stringify(outcome));
    assert.equal(outcome.error.tail, `still not as wanted: a is not ${spec.nodeName}`);
    assert.equal(existsSync(mac.path('/var/db/tartan/steps/a')), false);
  });

  test('continues after an optional step fails', async () => {
    put('/var/fake/refuse-c', 'by the test');
    const outcome = work(await converge([a, c, fakeStep('d', { optional: true })]));
    assert.deepEqual(applied(), ['a', 'd']);
    assert.deepEqual(
      outcome.optionalFailures.map(({ step }) => step),
      ['c'],
    );
    assert.ok(outcome.kind === 'converged' && !('c' in outcome.stamps));
  });

  test('continues after an optional step times out', async () => {
    const outcome = work(
      await converge([a, c], {
        answer: (script) =>
          script.includes("STEP='c'") ? { kind: 'timed out', after: 10_000, stdout: '', stderr: '' } : undefined,
      }),
    );
    assert.deepEqual(
      outcome.optionalFailures.map(({ failure }) => failure),
      ['timed out'],
    );
  });

  test('defers a step that would disturb VMs until the host is idle', async () => {
    const heavy = fakeStep('heavy', { needsIdle: true, artifact: () => spec.tart });
    const busy = work(await converge([heavy, a], { idle: false }));
    assert.deepEqual(busy.deferred, [{ step: 'heavy', reason: 'the host is not idle' }]);
    assert.deepEqual([applied(), journal()], [['a'], ['a']]);
    assert.ok(busy.kind === 'converged' && !('heavy' in busy.stamps));
    assert.equal(existsSync(mac.path(`/var/db/tartan/artifacts/${spec.tart.sha256}`)), false);
    const idle = work(await converge([heavy, a]));
    assert.deepEqual([idle.deferred, applied()], [[], ['heavy']]);
  });

  test('stamps such a step on a busy host if nothing has to change', async () => {
    const heavy = fakeStep('heavy', { needsIdle: true });
    await converge([heavy]);
    rmSync(mac.path('/var/db/tartan'), { recursive: true });
    const outcome = work(await converge([heavy], { idle: false }));
    assert.ok(outcome.kind === 'converged');
    assert.deepEqual([outcome.deferred, Object.keys(outcome.stamps)], [[], ['heavy']]);
  });

  test('defers the step of the network that carries the connection', async () => {
    const network = fakeStep('network', { restartsTransport: 'tailnet' });
    const over = work(await converge([network], { transport: 'tailnet' }));
    assert.deepEqual(over.deferred, [{ step: 'network', reason: 'the connection runs over it' }]);
    work(await converge([network], { transport: 'public' }));
    assert.deepEqual(applied(), ['network']);
  });

  test('puts needed artifacts into the store, and removes the others', async () => {
    const old = exampleArtifact(folder, 'old', 'old');
    const withArtifact = (artifact: typeof old): Step => fakeStep('a', { artifact: () => artifact });
    const events: HostEvent[] = [];
    await converge([withArtifact(old)], { report: (event) => events.push(event) });
    assert.deepEqual(readdirSync(mac.path('/var/db/tartan/artifacts')), [old.sha256]);
    assert.deepEqual(
      events.filter((event) => event.kind === 'artifact finished').map(({ sent, artifact }) => [artifact, sent]),
      [['old', 3]],
    );
    work(await converge([withArtifact(spec.tart)]));
    assert.deepEqual(readdirSync(mac.path('/var/db/tartan/artifacts')), [spec.tart.sha256]);
  });

  test('removes garbage only after every step has converged', async () => {
    const old = exampleArtifact(folder, 'old', 'old');
    await converge([fakeStep('a', { artifact: () => old })]);
    put('/var/fake/refuse-c', 'by the test');
    work(await converge([a, c]));
    assert.deepEqual(readdirSync(mac.path('/var/db/tartan/artifacts')), [old.sha256]);
  });

  test('stops at a step whose artifact cannot be read on our side', async () => {
    const gone = { ...spec.tart, sha256: 'f'.repeat(64), file: join(folder, 'not there') };
    const outcome = await converge([fakeStep('a', { artifact: () => gone })]);
    assert.ok(outcome.kind === 'step failed', JSON.stringify(outcome));
    assert.equal(outcome.error.failure, 'artifact not pushed');
    assert.match(outcome.error.message, /tart 2\.32\.1 was not pushed/);
    assert.deepEqual(journal(), []);
  });

  test('removes the stamps of unknown steps', async () => {
    await converge([a, b]);
    const outcome = work(await converge([a]));
    assert.ok(outcome.kind === 'converged');
    assert.deepEqual(outcome.stamps, wantedStamps(spec, [a]));
    assert.deepEqual(readdirSync(mac.path('/var/db/tartan/steps')), ['a']);
  });

  test('reports that a reboot is required, until it has happened', async () => {
    const rebooting = fakeStep('a', { needsReboot: true });
    const outcome = async (): Promise<boolean> => {
      const now = work(await converge([rebooting]));
      assert.ok(now.kind === 'converged');
      return now.rebootPending;
    };
    assert.equal(await outcome(), true);
    assert.equal(await outcome(), true);
    await mac.reboot();
    assert.equal(await outcome(), false);
    assert.equal(existsSync(mac.path('/var/db/tartan/reboot-pending')), false);
  });

  test('reports a required reboot also after an interruption between the change and the stamp', async () => {
    const cutOnce = fakeStep('a', { needsReboot: true });
    const dying = {
      ...cutOnce,
      script: (cutOnce.script ?? '').replace('apply() {', 'apply() { really_apply; kill -9 $$; }\nreally_apply() {'),
    };
    assert.equal((await converge([dying])).kind, 'step failed');
    const outcome = work(await converge([cutOnce]));
    assert.ok(outcome.kind === 'converged' && outcome.rebootPending);
    assert.deepEqual(journal(), ['a']);
  });

  test('runs for one of two callers, and the other gets the lock holder', async () => {
    const outcomes = await Promise.all([converge([a, b], { owner: 'anna' }), converge([a, b], { owner: 'ben' })]);
    const kinds = outcomes.map(({ kind }) => kind);
    // Both may succeed, one after the other, but never both at once.
    assert.ok(kinds.includes('converged'), JSON.stringify(outcomes));
    assert.deepEqual(journal(), ['a', 'b']);
    const holder = await acquireLock(macConnection(mac), 'carla', hostRedactor({}));
    assert.ok(holder.kind === 'acquired');
    const locked = await converge([fakeStep('d')], { owner: 'anna' });
    assert.ok(locked.kind === 'locked' && locked.by === 'carla', JSON.stringify(locked));
    await holder.release();
  });

  test('stops after it has lost the lock, also before optional steps', async () => {
    const thief = fakeStep('a', { optional: true });
    const stealing = {
      ...thief,
      script: (thief.script ?? '').replace(
        'apply() {',
        'apply() { echo thief#1 >"$STATE/lock/999999999"; really_apply; }\nreally_apply() {',
      ),
    };
    const outcome = await converge([stealing, fakeStep('b', { optional: true })]);
    assert.ok(outcome.kind === 'step failed', JSON.stringify(outcome));
    assert.deepEqual([outcome.error.failure, outcome.error.exitCode], ['lock lost', 75]);
    assert.deepEqual(journal(), ['a']);
    assert.equal(existsSync(mac.path('/var/db/tartan/steps/a')), false);
  });

  test('converges from any state that an interrupted connection leaves', async () => {
    const steps = [fakeStep('b', { payload: (_, { joinKubeconfig }) => joinKubeconfig }), c];
    let cuts = 0;
    for (const cut of ['before', 'after'] as const) {
      for (let nth = 0; ; nth++) {
        rmSync(mac.path('/var/db/tartan'), { recursive: true, force: true });
        rmSync(mac.path('/var/fake'), { recursive: true, force: true });
        const first = await converge(steps, { cut: (_, at) => (at === nth ? cut : undefined) });
        const again = work(await converge(steps));
        assert.ok(again.kind === 'converged');
        assert.deepEqual(again.stamps, wantedStamps(spec, steps), `${cut} ${nth}`);
        assert.deepEqual(journal(), ['b', 'c'], `${cut} ${nth}`);
        if (first.kind === 'converged') break;
        assert.equal(first.kind, 'connection lost');
        cuts++;
      }
    }
    // Three inventories, the lock and two steps, each cut before and after; a cut during the release of the lock has no effect.
    assert.equal(cuts, 12);
  });

  test('never leaves half a payload when the connection is interrupted', async () => {
    const secret = fakeStep('b', { payload: (_, { joinKubeconfig }) => joinKubeconfig });
    for (const inputAfter of [0, 5, secrets.joinKubeconfig.length]) {
      const cut = (script: string): { inputAfter: number } | undefined =>
        script.includes("HAS_PAYLOAD='yes'") ? { inputAfter } : undefined;
      assert.equal((await converge([secret], { cut })).kind, 'connection lost');
      assert.deepEqual([journal(), existsSync(mac.path('/var/fake/b.secret'))], [[], false]);
    }
    work(await converge([secret]));
    assert.equal(readIfThere('/var/fake/b.secret'), secrets.joinKubeconfig);
  });

  test('stops when the caller aborts, and releases the lock', async () => {
    const controller = new AbortController();
    const outcome = await converge([a, b], {
      signal: controller.signal,
      report: (event) => event.kind === 'step finished' && controller.abort(),
    });
    assert.deepEqual([outcome.kind, 'during' in outcome ? outcome.during : ''], ['aborted', 'b']);
    assert.deepEqual(journal(), ['a']);
    assert.equal((await acquireLock(macConnection(mac), 'somebody else', hostRedactor({}))).kind, 'acquired');
  });

  const answers: readonly (readonly [string, string, string, string])[] = [
    ['an invalid inventory', 'fact tartan-inventory', 'Last login: Tue\n', 'unreadable host'],
    ['a step without a result', "STEP='a'", '', 'no result'],
    ['a step with extra output', "STEP='a'", 'result\tapplied\nlogout\n', 'no result'],
    ['a step with the result of a check', "STEP='a'", 'result\tdifferent\n', 'no result'],
    ['a step without a stamp', "STEP='a'", 'result\tapplied\n', 'not stamped'],
    ['an invalid lock', "VERB='acquire'", 'yes\n', 'rejected'],
  ];
  for (const [what, marker, stdout, expected] of answers) {
    test(`fails after ${what}`, async () => {
      const outcome = await converge([a], {
        answer: (script) => (script.includes(marker) ? { kind: 'done', stdout, stderr: '' } : undefined),
      });
      assert.equal(outcome.kind === 'step failed' ? outcome.error.failure : outcome.kind, expected);
    });
  }

  test('changes nothing when preflight fails', async () => {
    const outcome = await converge([a], { spec: { ...spec, user: 'somebody-else' } });
    assert.ok(outcome.kind === 'unsuitable host', JSON.stringify(outcome));
    assert.equal(existsSync(mac.path('/var/db/tartan')), false);
  });

  test('returns no secret, whatever scripts print', async () => {
    const noisy = fakeStep('a', {
      payload: (_, { joinKubeconfig }) => joinKubeconfig,
      script: `
check() { differs "it is not ${secrets.joinKubeconfig}"; }
apply() {
  secret=$(cat)
  echo "$secret" >&2
  printf '%s' "$secret" | base64 >&2
  fail "cannot write $secret"
}
check_absent() { :; }
remove() { :; }
`,
    });
    const events: HostEvent[] = [];
    const connection = macConnection(mac);
    const outcome = await convergeHost(connection, spec, secrets, {
      owner: 'test',
      idle: true,
      steps: [noisy],
      report: (event) => events.push(event),
    });
    assert.ok(outcome.kind === 'step failed');
    assert.match(outcome.error.message, /cannot write \[redacted\]/);
    const everything = [
      JSON.stringify([outcome, events]),
      outcome.error.message,
      outcome.error.tail,
      outcome.error.stack ?? '',
    ];
    const sent = connection.scripts.map((script) => script.replace(noisy.script ?? '', ''));
    for (const text of [...everything, ...sent]) {
      assert.ok(!text.includes(secrets.joinKubeconfig));
      assert.ok(!text.includes(Buffer.from(secrets.joinKubeconfig).toString('base64').slice(0, 20)));
    }
  });

  test('runs steps that need root after steps without root have made it available', async () => {
    rmSync(mac.path(`/etc/sudoers.d/${mac.user.name}-nopasswd`));
    try {
      const root = fakeStep('root', {
        unprivileged: true,
        script: `
file=$ROOT/etc/sudoers.d/m1-nopasswd
check() { sudo -n true 2>/dev/null || differs 'there is no root'; }
apply() { printf '%s\\n' "$(cat)" | sudo -S sh -c "echo 'm1 ALL=(ALL) NOPASSWD: ALL' >'$file' && chmod 440 '$file'"; }
check_absent() { :; }
remove() { :; }
`,
        payload: () => mac.user.password,
      });
      work(await converge([a, root]));
      assert.deepEqual(applied(), ['root', 'a']);
    } finally {
      grantRoot(mac);
    }
  });
});
