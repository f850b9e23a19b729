import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import {
  convergeHost,
  type HostEvent,
  type HostSecrets,
  type HostSpec,
  preparationSteps,
  summaryHash,
} from '@tartan/host';
import { connectToMac, fleetKey, plantedSecrets, workingSpec } from '@tartan/host/testing';
import { systemClock } from '@tartan/kube/clock';
import { testDeadline } from '@tartan/kube/testing';
import { type Mac, startMac } from '@tartan/sim-mac';
import { createHostWork } from './create-host-work.ts';
import type { HostJob, WorkOutcome } from './host-work.ts';
import { startTcpProxy, type TcpProxy } from './testing/tcp-proxy.ts';

/** Over real SSH, on one Mac, in order. */
describe('work on a Mac', () => {
  let folder: string;
  let mac: Mac;
  let line: TcpProxy;
  let spec: HostSpec;
  let secrets: Required<HostSecrets>;
  const { publicKey, privateKey } = fleetKey();
  const hostWork = createHostWork({ clock: systemClock });
  const pins: string[] = [];
  const said: unknown[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-host-work-'));
    mac = await startMac({ folder: join(folder, 'mac'), pace: 0.01, authorizedKeys: [publicKey] });
    line = await startTcpProxy(mac.address);
    const { ghActionsRunner: _, ...rest } = await workingSpec(join(folder, 'artifacts'));
    spec = rest;
    secrets = plantedSecrets(mac.user.password);
  });
  afterEach(() => line.idle());
  after(async () => {
    await line.close();
    await mac.stop();
    rmSync(folder, { recursive: true });
  });

  const converge = (changes: Partial<HostJob['task'] & { kind: 'converge' }> = {}): HostJob['task'] => ({
    kind: 'converge',
    mode: 'changed',
    spec,
    secrets,
    idle: true,
    ...changes,
  });
  const perform = async (changes: Partial<HostJob> = {}, signal = testDeadline()): Promise<WorkOutcome> => {
    const outcome = await hostWork.perform(
      {
        addresses: [{ host: '127.0.0.1', port: line.port, transport: 'public' }],
        privateKey,
        user: mac.user.name,
        pinnedHostKey: mac.hostKey(),
        retiredHostKeys: [],
        pin: async (hostKey) => void pins.push(hostKey),
        task: converge(),
        owner: 'test',
        report: (event) => said.push(event),
        ...changes,
      },
      signal,
    );
    said.push(outcome);
    return outcome;
  };
  const firstContact = (changes: Partial<HostJob> = {}): Promise<WorkOutcome> =>
    perform({ pinnedHostKey: undefined, ...changes });
  const message = (outcome: WorkOutcome, kind: WorkOutcome['kind']): string => {
    assert.equal(outcome.kind, kind, JSON.stringify(outcome));
    assert.ok('message' in outcome);
    return outcome.message;
  };
  const stamps = (): string[] => {
    const stampFolder = mac.path('/var/db/tartan/steps');
    return existsSync(stampFolder) ? readdirSync(stampFolder).sort() : [];
  };
  const isUntouched = (): boolean =>
    !existsSync(mac.path('/var/db/tartan')) && readdirSync(mac.path('/etc/sudoers.d')).length === 0;
  const put = (path: string, content: string): void => {
    mkdirSync(dirname(mac.path(path)), { recursive: true });
    writeFileSync(mac.path(path), content);
  };

  test('is unreachable when nothing listens', async () => {
    const nobody = { host: '127.0.0.1', port: 1, transport: 'public' } as const;
    const tailnet = { host: '127.0.0.1', port: 2, transport: 'tailnet' } as const;
    const outcome = await firstContact({ addresses: [nobody, tailnet] });
    assert.match(message(outcome, 'unreachable'), /127\.0\.0\.1:1: .*ECONNREFUSED.*127\.0\.0\.1:2 in the tailnet: /);
    assert.match(message(await firstContact({ addresses: [] }), 'unreachable'), /no address of it is known/);
  });

  test('is aborted when the signal has fired', async () => {
    assert.deepEqual(await perform({}, AbortSignal.abort()), { kind: 'aborted' });
    assert.equal(line.connections(), 0);
  });

  test('is rejected with advice by a Mac without the key of the fleet', async () => {
    const outcome = await firstContact({ privateKey: fleetKey().privateKey });
    assert.match(
      message(outcome, 'rejected'),
      /first boot of an install only.*Reinstall the Mac, or add the public key/,
    );
    assert.ok(outcome.kind === 'rejected' && outcome.step === 'login');
  });

  test('reports an unwiped Mac for a retired host key, with or without a login', async () => {
    const retiredHostKeys = ['SHA256:another', mac.hostKey()];
    for (const key of [privateKey, fleetKey().privateKey]) {
      const outcome = await firstContact({ retiredHostKeys, privateKey: key });
      assert.match(message(outcome, 'not wiped'), /host key SHA256:.* of an earlier install/);
      assert.ok(outcome.kind === 'not wiped' && outcome.hostKey === mac.hostKey());
    }
    assert.deepEqual([pins, isUntouched()], [[], true]);
  });

  test('changes nothing when the host key could not be stored', async () => {
    const problem = new Error('the Secret was changed meanwhile');
    await assert.rejects(firstContact({ pin: () => Promise.reject(problem) }), problem);
    assert.ok(isUntouched());
    await line.idle();
  });

  test('stores the host key first, also when it then fails with a wrong password, which is redacted', async () => {
    const wrong = 'planted wrong password';
    let untouched = false;
    const outcome = await firstContact({
      task: converge({ secrets: { ...secrets, userPassword: wrong } }),
      pin: async (hostKey) => {
        untouched = isUntouched();
        pins.push(hostKey);
      },
    });
    assert.match(message(outcome, 'rejected'), /the Mac refused the password/);
    assert.ok(outcome.kind === 'rejected' && outcome.step === 'passwordless-sudo');
    assert.deepEqual([pins, untouched], [[mac.hostKey()], true]);
    assert.ok(!JSON.stringify(said).includes(wrong));
  });

  test('detects stamps of an earlier machine, and changes nothing', async () => {
    put('/var/db/tartan/steps/passwordless-sudo', 'a hash\n');
    put('/var/db/tartan/steps/tart', 'a hash\n');
    const outcome = await firstContact();
    assert.match(message(outcome, 'not wiped'), /stamps of steps that this machine never ran \(tart\)/);
    assert.equal(pins.length, 1);
    assert.deepEqual(stamps(), ['passwordless-sudo', 'tart']);
    rmSync(mac.path('/var/db/tartan'), { recursive: true });
  });

  test('detects an agent without stamps', async () => {
    const link = '"$TARTAN_ROOT/usr/local/lib/tart-kubelet';
    await mac.run(`mkdir -p ${link}" && ln -s releases/0123 ${link}/current"`, { asRoot: true });
    assert.match(message(await firstContact(), 'not wiped'), /a release of the agent \(0123\)/);
    rmSync(mac.path('/usr/local/lib/tart-kubelet'), { recursive: true });
  });

  test('rejects a Mac with unreadable answers, and redacts secrets in them', async () => {
    put('/var/db/tartan/reboot-pending', `not a boot: ${secrets.userPassword}`);
    assert.match(message(await firstContact(), 'rejected'), /not a boot: \[redacted\]/);
    assert.equal(pins.length, 1);
    rmSync(mac.path('/var/db/tartan'), { recursive: true });
  });

  test('accepts a Mac prepared with `tartan prepare-host`, and converges it', async () => {
    const connection = await connectToMac(mac, privateKey);
    const prepared = await convergeHost(connection, { user: spec.user }, secrets, {
      owner: 'tartan prepare-host',
      idle: true,
      steps: preparationSteps,
    });
    await connection.close();
    assert.equal(prepared.kind, 'converged');
    assert.deepEqual(stamps(), preparationSteps.map(({ name }) => name).sort());
    const events: HostEvent[] = [];
    let stampsAtPin: string[] = [];
    const outcome = await firstContact({
      addresses: [
        { host: '127.0.0.1', port: 1, transport: 'public' },
        { host: '127.0.0.1', port: line.port, transport: 'public' },
      ],
      pin: async () => {
        assert.deepEqual(events, []);
        stampsAtPin = stamps();
      },
      report: (event) => events.push(event),
    });
    said.push(events);
    assert.deepEqual(outcome, {
      kind: 'done',
      summary: summaryHash(spec),
      deferred: [],
      optionalFailures: [],
      rebootPending: outcome.kind === 'done' && outcome.rebootPending,
    });
    assert.deepEqual(stampsAtPin, preparationSteps.map(({ name }) => name).sort());
    assert.ok(events.some(({ kind }) => kind === 'step started'));
  });

  test('changes nothing on a converged Mac with a pinned key', async () => {
    const before = pins.length;
    const events: HostEvent[] = [];
    const outcome = await perform({ report: (event) => events.push(event) });
    assert.ok(outcome.kind === 'done' && outcome.summary === summaryHash(spec), JSON.stringify(outcome));
    assert.equal(pins.length, before);
    assert.deepEqual(events, [], 'no step is run that has not changed');
  });

  test('verifies every step on request, and reports deferred ones', async () => {
    const events: HostEvent[] = [];
    put('/usr/local/bin/tart', 'changed by hand\n');
    const task = converge({ mode: 'verify', idle: false });
    const outcome = await perform({ task, report: (event) => events.push(event) });
    assert.ok(outcome.kind === 'done', JSON.stringify(outcome));
    assert.deepEqual(outcome.deferred, [{ step: 'tart', reason: 'the host is not idle' }]);
    assert.ok(events.filter(({ kind }) => kind === 'step started').length > 9);
    assert.equal((await perform({ task: converge({ mode: 'verify' }) })).kind, 'done');
  });

  test('is locked while another owner works', async () => {
    const lock = await mac.run(
      `printf '%s\\n' 'manager-2#1' "$(sysctl -n kern.bootsessionuuid)" "$(date +%s)" >"$TARTAN_ROOT/var/db/tartan/lock/900000000"`,
      { asRoot: true },
    );
    assert.equal(lock.code, 0, lock.stderr);
    for (const task of [converge({ mode: 'verify' }), { kind: 'roll back' } as const])
      assert.match(message(await perform({ task }), 'locked'), /manager-2, since 20/);
    rmSync(mac.path('/var/db/tartan/lock/900000000'));
  });

  test('cannot roll back on a Mac that had only one agent', async () => {
    const outcome = await perform({ task: { kind: 'roll back' } });
    assert.match(message(outcome, 'rejected'), /there is none to go back to/);
    assert.ok(outcome.kind === 'rejected' && outcome.step === 'roll-back-agent');
  });

  test('rolls back: the previous agent runs again, and the hash follows', async () => {
    const plist = (): string => readFileSync(mac.path('/Library/LaunchDaemons/dev.tuist.tart-kubelet.plist'), 'utf8');
    const old = plist();
    const fuller = { ...spec, agent: { ...spec.agent, maxPods: 5 } };
    const rolled = await perform({ task: converge({ spec: fuller }) });
    assert.ok(rolled.kind === 'done' && rolled.summary === summaryHash(fuller), JSON.stringify(rolled));
    assert.notEqual(plist(), old);
    const undone = await perform({ task: { kind: 'roll back' } });
    assert.ok(undone.kind === 'done', JSON.stringify(undone));
    assert.ok(![summaryHash(fuller), summaryHash(spec)].includes(undone.summary));
    assert.equal(plist(), old);
  });

  test('is aborted at once when its machine is deleted', async () => {
    const deleted = new AbortController();
    const report = (event: HostEvent): void => {
      if (event.kind === 'step started') deleted.abort();
    };
    const task = converge({ mode: 'verify' });
    assert.deepEqual(await perform({ task, report }, deleted.signal), { kind: 'aborted' });
  });

  test('is unreachable, not rejected, when the connection is lost', async () => {
    const report = (event: HostEvent): void => {
      if (event.kind === 'step started' && event.step === 'hostname') line.closeConnections();
    };
    const task = converge({ mode: 'verify' });
    assert.match(message(await perform({ task, report }), 'unreachable'), /was lost during hostname/);
  });

  test('sends nothing to a Mac with another host key than the pinned one', async () => {
    const pinnedHostKey = mac.hostKey();
    await mac.changeHostKey();
    const before = stamps();
    const text = message(await perform({ pinnedHostKey }), 'host key changed');
    assert.ok(text.includes(pinnedHostKey) && text.includes(mac.hostKey()) && /Nothing was sent/.test(text), text);
    assert.deepEqual(stamps(), before);
  });

  test('leaks no secret in all of the above', () => {
    const all = JSON.stringify(said);
    assert.ok(said.length > 15);
    const words = [...Object.values(secrets), 'planted.0123456789abcdef', ...privateKey.split('\n').slice(1, -2)];
    for (const secret of words) assert.ok(!all.includes(JSON.stringify(secret).slice(1, -1)), secret.slice(0, 9));
  });

  test('rejects the promise when the private key cannot be parsed', async () => {
    await assert.rejects(perform({ privateKey: 'no key' }), /The SSH private key cannot be read/);
  });
});
