import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { constants, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { manualClock, systemClock } from '@tartan/kube/clock';
import { eventually, settle } from '@tartan/kube/testing';
import { createGitHub, type EmbeddedGitHub } from '@tartan/sim-github';
import { type Mac, standInSoftware, startMac } from '@tartan/sim-mac';
import { openRunnerBridge, type RunnerBridge, runnerGuestScript } from './guests.ts';

/** A configuration for a runner of that name, as its controller gets it. */
const mint = async (github: EmbeddedGitHub, name: string): Promise<string> => {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(systemClock.now() / 1000);
  const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ iss: github.app.clientID, iat: now - 60, exp: now + 540 })}`;
  const jwt = `${signed}.${createSign('RSA-SHA256').update(signed).sign(github.app.privateKey, 'base64url')}`;
  const post = async (path: string, token: string, body: object): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await github.fetch(`https://github.invalid${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Record<string, string>;
  };
  const { token = '' } = await post('/app/installations/7001/access_tokens', jwt, {});
  const wanted = { name, runner_group_id: 1, labels: ['macos'] };
  const { encoded_jit_config: config = '' } = await post(
    '/orgs/acme/actions/runners/generate-jitconfig',
    token,
    wanted,
  );
  return config;
};

describe('a runner in a guest of a simulated Mac', { timeout: 60_000 }, () => {
  let folder: string;
  let mac: Mac;
  let github: EmbeddedGitHub;
  let bridge: RunnerBridge;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-runner-guest-'));
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    github = createGitHub({ app: { privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) } });
    bridge = await openRunnerBridge({
      folder: join(folder, 'bridge'),
      url: 'https://github.invalid',
      fetch: github.fetch,
      work: async ({ name }) => (name === 'bad' ? 'failure' : 'success'),
    });
    const guest = runnerGuestScript(bridge.folder, 'echo no runner >said; shutdown -h now\n');
    const { tart } = await standInSoftware(join(folder, 'software'), { guest });
    mac = await startMac({ folder: join(folder, 'mac'), pace: 0.001 });
    mkdirSync(mac.path('/usr/local'), { recursive: true });
    execFileSync('tar', ['-xzf', tart.file, '-C', mac.path('/usr/local')]);
  });
  after(async () => {
    await mac.stop();
    await bridge.close();
    await github.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a guest with these shares until it has halted by itself. */
  const run = async (vm: string, shares: readonly string[]): Promise<void> => {
    const dirs = shares.map((name) => `--dir=${name}:${join(folder, vm, name)}`).join(' ');
    const { code, stderr } = await mac.run(`
      PATH="$TARTAN_ROOT/usr/local/tart.app/Contents/MacOS:$PATH"
      mkdir -p "$HOME/.tart/.fake/host"; echo Aqua >"$HOME/.tart/.fake/host/session"
      tart clone ghcr.io/a/b:1 ${vm} >/dev/null && tart run ${vm} --no-graphics ${dirs}
    `);
    assert.equal(code, 0, stderr);
  };
  const put = (path: string, text: string): void => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  };

  for (const [name, conclusion] of [
    ['good', 'success'],
    ['bad', 'failure'],
  ] as const)
    test(`runs a job that ends with ${conclusion}, and halts; the runner itself succeeds`, async () => {
      const job = github.queueJob({ repository: 'acme/app', labels: ['macos'], name });
      put(`${name}/env/tuist.env`, 'TUIST_RUNNER_POOL=macos\n');
      put(`${name}/runner/jitconfig`, await mint(github, name));
      mkdirSync(join(folder, name, 'status'));
      await run(name, ['env', 'runner', 'status']);
      const said = (file: string): string => readFileSync(join(folder, name, 'status', file), 'utf8');
      assert.deepEqual([job.conclusion, said('runner-rc'), said('job-started')], [conclusion, '0\n', '']);
      assert.match(
        said('runner.log'),
        new RegExp(`^Running job: ${name}\\nJob completed with result: ${conclusion}$`, 'm'),
      );
    });

  test('a guest that is deleted before its job starts does no work', { timeout: 60_000 }, async (t) => {
    const work = t.mock.fn(async () => 'success');
    const bridge = await openRunnerBridge({
      folder: join(folder, 'gone'),
      url: 'https://github.invalid',
      fetch: github.fetch,
      work,
    });
    github.queueJob({ repository: 'acme/app', labels: ['macos'], name: 'gone' });
    put(`gone/${process.pid}/configuration`, await mint(github, 'gone'));
    const commands = join(folder, 'gone', String(process.pid), 'commands');
    execFileSync('mkfifo', [commands]);
    const pipe = new Socket({ fd: openSync(commands, constants.O_RDWR | constants.O_NONBLOCK), writable: false });
    writeFileSync(join(folder, 'gone', 'notify'), `${process.pid} ${process.pid}\n`);
    const [order] = (await once(pipe, 'data')) as [Buffer];
    assert.equal(String(order), 'job gone\n');
    await bridge.close();
    pipe.destroy();
    assert.equal(work.mock.callCount(), 0);
  });

  test('a guest that is gone when it gets a job does not begin it: GitHub gives the job to another runner', async () => {
    const bridge = await openRunnerBridge({
      folder: join(folder, 'dead'),
      url: 'https://github.invalid',
      fetch: github.fetch,
      // It does not notice by itself that the guest is gone.
      clock: manualClock(),
      work: async () => 'success',
    });
    const guest = spawn('/bin/sleep', ['1000'], { stdio: 'ignore' });
    put(`dead/${guest.pid}/configuration`, await mint(github, 'dead'));
    writeFileSync(join(folder, 'dead', 'notify'), `${guest.pid} ${process.pid}\n`);
    await eventually('its runner is online', () =>
      github.runners().some(({ name, isOnline }) => name === 'dead' && isOnline),
    );
    await settle();
    guest.kill('SIGKILL');
    await once(guest, 'exit');
    const job = github.queueJob({ repository: 'acme/app', labels: ['macos'], name: 'dead' });
    await eventually('its runner has ended', () => bridge.count() === 0 || job.status === 'in_progress');
    await bridge.close();
    assert.equal(job.status, 'queued');
  });

  test('a guest without a runner share runs the other script', async () => {
    put('other/env/tuist.env', '');
    await run('other', ['env']);
    assert.equal(readFileSync(mac.path('/Users/m1/.tart/vms/other/guest/said'), 'utf8'), 'no runner\n');
  });
});
