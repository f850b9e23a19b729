import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { type ManualClock, manualClock } from '../clock/manual-clock.ts';
import { loadConfig } from './load-config.ts';
import { issueCertificates, type IssuedCertificate } from './testing/kubeconfig-fixtures.ts';

describe('an exec plugin', () => {
  const v1 = 'client.authentication.k8s.io/v1';
  let pair: IssuedCertificate;
  let other: IssuedCertificate;
  let folder: string;
  let clock: ManualClock;

  before(async () => {
    ({ first: pair, second: other } = await issueCertificates());
    folder = await mkdtemp(join(tmpdir(), 'exec-plugin-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  beforeEach(async () => {
    clock = manualClock();
    await Promise.all(['runs', 'seen'].map((name) => rm(join(folder, name), { force: true })));
  });

  /** A plugin that counts its runs, then runs the script. */
  const plugin = async (script: string, exec: Record<string, unknown> = {}, cluster: Record<string, unknown> = {}) => {
    await writeFile(join(folder, 'plugin'), `#!/bin/sh\necho run >> ${folder}/runs\n${script}\n`);
    await chmod(join(folder, 'plugin'), 0o755);
    const kubeconfig = stringify({
      clusters: [{ name: 'c', cluster: { server: 'https://host', ...cluster } }],
      users: [
        { name: 'u', user: { exec: { apiVersion: v1, command: './plugin', interactiveMode: 'Never', ...exec } } },
      ],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    });
    await writeFile(join(folder, 'config'), kubeconfig);
    return loadConfig({
      env: { PATH: process.env['PATH'], INHERITED: 'yes' },
      clock,
      kubeconfigPath: join(folder, 'config'),
    });
  };

  const saying = async (status: unknown, envelope: object = {}): Promise<string> => {
    const answer = { apiVersion: v1, kind: 'ExecCredential', status, ...envelope };
    await writeFile(join(folder, 'answer'), JSON.stringify(answer));
    return `cat ${folder}/answer`;
  };
  const runs = async (): Promise<number> =>
    (await readFile(join(folder, 'runs'), 'utf8').catch(() => '')).split('\n').length - 1;
  const seen = async (): Promise<unknown> => JSON.parse(await readFile(join(folder, 'seen'), 'utf8'));

  describe('an exec plugin', () => {
    it('returns a token, and runs only when credentials are requested', async () => {
      const config = await plugin(await saying({ token: 'abc' }));
      assert.equal(await runs(), 0);
      assert.deepEqual(await config.credentials(), { headers: { authorization: 'Bearer abc' } });
    });

    it('returns a client certificate', async () => {
      const config = await plugin(await saying({ clientCertificateData: pair.certificate, clientKeyData: pair.key }));
      assert.deepEqual(await config.credentials(), { certificate: { cert: pair.certificate, key: pair.key } });
    });

    it('runs once for concurrent requests, and not again before its token expires', async () => {
      const config = await plugin(await saying({ token: 'abc', expirationTimestamp: '2026-01-01T00:01:00Z' }));
      const [first, second] = await Promise.all([config.credentials(), config.credentials()]);
      assert.equal(first, second);
      clock.advance(59_999);
      await config.credentials();
      assert.equal(await runs(), 1);
    });

    it('runs again when its token has expired', async () => {
      const config = await plugin(await saying({ token: 'abc', expirationTimestamp: '2026-01-01T01:01:00+01:00' }));
      await config.credentials();
      clock.advance(60_000);
      await saying({ token: 'def' });
      assert.deepEqual(await config.credentials(), { headers: { authorization: 'Bearer def' } });
      clock.advance(1e9);
      await config.credentials();
      assert.equal(await runs(), 2, 'without a time it lasts until refused');
    });

    it('runs again when the server rejected the token, once for all rejected requests', async () => {
      const config = await plugin(await saying({ token: 'abc' }));
      const refused = await config.credentials();
      await saying({ token: 'def' });
      config.refresh(refused);
      const renewed = config.credentials();
      config.refresh(refused);
      assert.equal(await config.credentials(), await renewed);
      config.refresh(refused);
      assert.equal(await config.credentials(), await renewed);
      assert.equal(await runs(), 2);
    });

    it('gets KUBERNETES_EXEC_INFO, with the cluster if provideClusterInfo is set', async () => {
      const script = `printf '%s' "$KUBERNETES_EXEC_INFO" > ${folder}/seen; ${await saying({ token: 'abc' })}`;
      await (await plugin(script)).credentials();
      assert.deepEqual(await seen(), { apiVersion: v1, kind: 'ExecCredential', spec: { interactive: false } });
      const cluster = {
        'insecure-skip-tls-verify': true,
        'tls-server-name': 'n',
        extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } }],
      };
      await (await plugin(script, { provideClusterInfo: true }, cluster)).credentials();
      assert.deepEqual(await seen(), {
        apiVersion: v1,
        kind: 'ExecCredential',
        spec: {
          interactive: false,
          cluster: {
            server: 'https://host',
            'tls-server-name': 'n',
            'insecure-skip-tls-verify': true,
            config: { audience: 'a' },
          },
        },
      });
    });

    it('gets its arguments, the configured and the inherited environment, and no stdin', async () => {
      const script = `printf '["%s","%s","%s","%s"]' "$1" "$OWN" "$INHERITED" "$(cat)" > ${folder}/seen; ${await saying({ token: 'a' })}`;
      const config = await plugin(script, { args: ['one two'], env: [{ name: 'OWN', value: 'mine' }] });
      await config.credentials();
      assert.deepEqual(await seen(), ['one two', 'mine', 'yes', '']);
    });

    it('may use v1beta1 without an interactiveMode', async () => {
      const apiVersion = 'client.authentication.k8s.io/v1beta1';
      const config = await plugin(await saying({ token: 'a' }, { apiVersion }), { apiVersion, interactiveMode: null });
      assert.deepEqual(await config.credentials(), { headers: { authorization: 'Bearer a' } });
    });

    it('that is not installed is named with its install hint', async () => {
      const config = await plugin('', { command: 'no-such-plugin', installHint: 'See example.com.' });
      const text =
        /\/config: users\[0\]\.user\.exec: the command "no-such-plugin" is not installed\. See example\.com\.$/;
      await assert.rejects(config.credentials(), text);
      const bare = await plugin('', { command: 'no-such-plugin' });
      await assert.rejects(bare.credentials(), /is not installed\. Install it/);
    });

    it('that is not executable is named', async () => {
      const config = await plugin('true');
      await chmod(join(folder, 'plugin'), 0o644);
      await assert.rejects(config.credentials(), /is not executable/);
    });

    it('runs again after a failure', async () => {
      const config = await plugin(`test -e ${folder}/answer || exit 3; cat ${folder}/answer`);
      await rm(join(folder, 'answer'));
      await assert.rejects(config.credentials(), /plugin" failed with exit code 3\. Run it by hand/);
      await saying({ token: 'abc' });
      assert.deepEqual(await config.credentials(), { headers: { authorization: 'Bearer abc' } });
    });

    const bad: [string, () => Promise<string>, RegExp][] = [
      ['fails', async () => 'echo hunter2; echo hunter2 >&2; exit 1', /failed with exit code 1/],
      ['is killed', async () => 'kill -9 $$', /was ended by SIGKILL/],
      ['prints no JSON', async () => 'echo hunter2', /not a JSON object/],
      ['prints a list', async () => 'echo "[]"', /not a JSON object/],
      ['prints another kind', () => saying({}, { kind: 'Hunter2' }), /kind is not ExecCredential/],
      ['prints another version', () => saying({}, { apiVersion: 'hunter2' }), /another apiVersion/],
      ['has no status', () => saying('hunter2'), /without a status/],
      ['has no credentials', () => saying({}), /neither a token nor a client certificate/],
      ['has a number as token', () => saying({ token: 5 }), /token that is not text/],
      ['has a bad token', () => saying({ token: 'hunter2\r\nx: y' }), /the token has spaces/],
      ['has a bad time', () => saying({ token: 'a', expirationTimestamp: 'hunter2' }), /not an RFC 3339 time/],
      ['has half a certificate', () => saying({ clientKeyData: 'hunter2' }), /but not both/],
      [
        'has a bad certificate',
        () => saying({ clientCertificateData: 'hunter2', clientKeyData: 'x' }),
        /not a certificate/,
      ],
      [
        'has a strange key',
        () => saying({ clientCertificateData: pair.certificate, clientKeyData: other.key }),
        /belong/,
      ],
      ['never stops talking', async () => 'yes hunter2', /more than 1 MiB and was stopped/],
    ];
    for (const [name, script, message] of bad)
      it(`that ${name} is an error without its output`, async () => {
        const config = await plugin(await script(), { args: ['--secret=hunter2'] });
        await assert.rejects(config.credentials(), (error) => {
          assert.ok(error instanceof Error);
          assert.match(error.message, message);
          assert.match(error.message, /\/config: users\[0\]\.user\.exec: /);
          assert.doesNotMatch(error.message, /hunter2/i);
          return true;
        });
      });

    it('that does not answer in time is killed with its children', async () => {
      const path = join(folder, 'socket');
      const server = createServer().listen(path);
      await once(server, 'listening');
      try {
        const child = `${process.execPath} -e 'require("net").connect(process.argv[1]).resume()' ${path}`;
        const config = await plugin(`${child} & ${child}`);
        const failure = assert.rejects(config.credentials(), /did not answer within 30 s and was stopped/);
        const sockets: Socket[] = [];
        while (sockets.length < 2) sockets.push(...((await once(server, 'connection')) as Socket[]));
        const closed = sockets.map((socket) => once(socket.resume(), 'close'));
        clock.advance(30_000);
        await failure;
        await Promise.all(closed);
      } finally {
        server.close();
      }
    });
  });
});
