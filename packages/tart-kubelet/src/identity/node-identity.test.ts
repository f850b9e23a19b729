import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { certificateSigningRequests, createClient, isKubeError, leases, nodes } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { readCertificate } from './node-certificate.ts';
import { createNodeIdentity, type NodeIdentity } from './node-identity.ts';
import { createFakeCluster, type FakeCluster } from './testing/fake-cluster.ts';
import { createRecordingLogger } from './testing/recording-logger.ts';
import { flushEventLoop } from './testing/flush-event-loop.ts';

const day = 24 * 3_600_000;
const minute = 60_000;

interface Harness {
  readonly cluster: FakeCluster;
  readonly clock: ReturnType<typeof manualClock>;
  readonly lines: string[];
  readonly kubeconfig: string;
  readonly pem: string;
  /** Starts an agent's identity, and stops the previous one. */
  start(): NodeIdentity;
  /** The API server's response to the running identity. */
  answer(): Promise<string>;
  asked(): Promise<number>;
  /** Advances time in steps, and runs everything in between. */
  pass(milliseconds: number, step?: number): Promise<void>;
  /** Advances time until the condition holds. */
  passUntil(what: string, isSo: () => boolean | Promise<boolean>, step?: number): Promise<true>;
}

const withHarness = async (body: (stage: Harness) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'identity-'));
  const clock = manualClock();
  const cluster = await createFakeCluster(clock);
  const { log, lines } = createRecordingLogger();
  const kubeconfig = join(folder, 'kubeconfig');
  let ending = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let identity: NodeIdentity | undefined;
  const stage: Harness = {
    cluster,
    clock,
    lines,
    kubeconfig,
    pem: join(folder, 'node-certificate.pem'),
    start: () => {
      ending.abort();
      ending = new AbortController();
      const { createTransport } = cluster;
      identity = createNodeIdentity({ kubeconfig, nodeName: 'mac-1', clock, random: () => 0.5, log, createTransport });
      running = identity.run(ending.signal);
      return identity;
    },
    answer: async () => {
      const client = createClient(identity?.transport ?? assert.fail(), { clock });
      try {
        await client.get(nodes, { name: 'mac-1' });
        return 'found';
      } catch (error) {
        return isKubeError(error) ? error.reason : String(error);
      }
    },
    asked: async () => (await cluster.admin.list(certificateSigningRequests)).items.length,
    pass: async (milliseconds, step = milliseconds) => {
      for (let left = milliseconds; left > 0; left -= step) {
        clock.advance(Math.min(step, left));
        await flushEventLoop();
      }
    },
    passUntil: (what, isSo, step = 1_000) =>
      eventually(what, async () => {
        if (await isSo()) return true;
        clock.advance(step);
        await flushEventLoop();
        return isSo();
      }),
  };
  try {
    await body(stage);
  } finally {
    ending.abort();
    await running;
    cluster.stop();
    await rm(folder, { recursive: true });
  }
};

const joined = async (stage: Harness): Promise<NodeIdentity> => {
  await writeFile(stage.kubeconfig, await stage.cluster.joinKubeconfig());
  const identity = stage.start();
  await identity.ready;
  return identity;
};

describe('the identity of the Node', () => {
  test('exchanges the join token for a certificate, stores it, and needs the token no more', () =>
    withHarness(async (stage) => {
      const identity = await joined(stage);
      assert.equal(await stage.answer(), 'notFound');
      const kept = await readCertificate(stage.pem);
      assert.deepEqual(identity.validity, { ...kept, stored: true });
      assert.equal(kept?.user, 'system:node:mac-1');
      const [request] = (await stage.cluster.admin.list(certificateSigningRequests)).items;
      assert.deepEqual(request?.spec.usages, ['client auth', 'digital signature']);
      assert.equal(request?.spec.expirationSeconds, 604_800);
      assert.equal(request?.spec.signerName, 'kubernetes.io/kube-apiserver-client-kubelet');
      assert.equal(request?.spec.username, 'system:bootstrap:tok001');

      await stage.cluster.revokeToken(await readFile(stage.kubeconfig, 'utf8'));
      await stage.start().ready;
      assert.equal(await stage.answer(), 'notFound');
      assert.equal(await stage.asked(), 1);
    }));

  test('renews the certificate with itself after two thirds of its lifetime (INC-421)', () =>
    withHarness(async (stage) => {
      await joined(stage);
      await stage.cluster.revokeToken(await readFile(stage.kubeconfig, 'utf8'));
      const before = await readCertificate(stage.pem);
      await stage.pass(4.6 * day);
      assert.equal(await stage.asked(), 1);
      await stage.pass(0.1 * day);
      await stage.passUntil(
        'there is another certificate',
        async () => (await readCertificate(stage.pem))?.cert !== before?.cert,
      );
      const requests = (await stage.cluster.admin.list(certificateSigningRequests)).items;
      assert.ok(requests.some(({ spec }) => spec.username === 'system:node:mac-1'));
      assert.equal(await stage.answer(), 'notFound');
    }));

  test('is valid without a gap for a month', () =>
    withHarness(async (stage) => {
      await joined(stage);
      await stage.cluster.revokeToken(await readFile(stage.kubeconfig, 'utf8'));
      for (let half = 0; half < 60; half += 1) {
        await stage.pass(day / 2);
        await stage.passUntil('the certificate is good', async () => {
          const { notAfter = 0 } = (await readCertificate(stage.pem)) ?? {};
          return notAfter - stage.clock.now() > 2.2 * day;
        });
        assert.equal(await stage.answer(), 'notFound');
      }
    }));

  test('waits for a kubeconfig and then joins', () =>
    withHarness(async (stage) => {
      const identity = stage.start();
      await flushEventLoop();
      assert.equal(await stage.answer(), 'unauthorized');
      await writeFile(stage.kubeconfig, 'not: [a, kubeconfig');
      await stage.pass(10_000, 1_000);
      await writeFile(stage.kubeconfig, await stage.cluster.joinKubeconfig());
      await stage.passUntil('it has joined', async () => (await stage.answer()) === 'notFound');
      await identity.ready;
    }));

  test('retries a denied request with backoff', () =>
    withHarness(async (stage) => {
      stage.cluster.approverAction = 'deny';
      await writeFile(stage.kubeconfig, await stage.cluster.joinKubeconfig());
      stage.start();
      await eventually('it was denied', () => stage.lines.some((line) => line.includes('Denied Test: it was Denied')));
      const before = stage.clock.now();
      await stage.passUntil('it has asked nine times', async () => (await stage.asked()) >= 9);
      // Half of the sum of 1, 2, 4 … 128 s, however long each request took.
      assert.ok(stage.clock.now() - before >= 2 * minute, `${stage.clock.now() - before} ms`);
      stage.cluster.approverAction = 'approve';
      await stage.passUntil('it has joined', async () => (await stage.answer()) === 'notFound', 5_000);
    }));

  test('makes a new request when nobody approves the first', () =>
    withHarness(async (stage) => {
      stage.cluster.approverAction = 'ignore';
      await writeFile(stage.kubeconfig, await stage.cluster.joinKubeconfig());
      stage.start();
      await eventually('it has asked', async () => (await stage.asked()) === 1);
      stage.cluster.approverAction = 'approve';
      await stage.pass(4 * minute, minute);
      assert.equal(await stage.asked(), 1);
      await stage.passUntil('it has joined', async () => (await stage.answer()) === 'notFound', 10_000);
      assert.equal(await stage.asked(), 2);
    }));

  test('makes a new request when somebody deletes it', () =>
    withHarness(async (stage) => {
      stage.cluster.approverAction = 'ignore';
      await writeFile(stage.kubeconfig, await stage.cluster.joinKubeconfig());
      stage.start();
      await eventually('it has asked', async () => (await stage.asked()) === 1);
      stage.cluster.approverAction = 'approve';
      const [request] = (await stage.cluster.admin.list(certificateSigningRequests)).items;
      await stage.cluster.admin.delete(certificateSigningRequests, { name: request?.metadata.name ?? '' });
      const before = stage.clock.now();
      await stage.passUntil('it has joined', async () => (await stage.answer()) === 'notFound');
      assert.ok(stage.clock.now() - before < minute, 'it was not taken for lost, but seen to be gone');
    }));

  test('joins again with new credentials after weeks offline', () =>
    withHarness(async (stage) => {
      await joined(stage);
      await stage.cluster.revokeToken(await readFile(stage.kubeconfig, 'utf8'));
      stage.cluster.reachable = false;
      await stage.pass(30 * day, 10 * day);
      stage.cluster.reachable = true;
      stage.start();
      await flushEventLoop();
      await stage.pass(10 * minute, 30_000);
      assert.equal(await stage.answer(), 'unauthorized');
      await writeFile(stage.kubeconfig, await stage.cluster.joinKubeconfig());
      const before = stage.clock.now();
      await stage.passUntil('it is back', async () => (await stage.answer()) === 'notFound');
      // However long the backoff had grown.
      assert.ok(stage.clock.now() - before < minute);
    }));

  test('uses new join credentials only once the certificate is rejected', () =>
    withHarness(async (stage) => {
      await joined(stage);
      const { cert = '' } = (await readCertificate(stage.pem)) ?? {};
      await writeFile(stage.kubeconfig, await stage.cluster.joinKubeconfig());
      await stage.pass(2 * minute, 10_000);
      assert.equal(await stage.asked(), 1);
      stage.cluster.revoked.add(cert);
      assert.equal(await stage.answer(), 'unauthorized');
      // Without time passing: the 401 itself triggers it.
      await stage.passUntil('it has joined anew', async () => (await stage.answer()) === 'notFound', 0);
      await eventually('the new one is kept', async () => (await readCertificate(stage.pem))?.cert !== cert);
    }));

  test('follows a new cluster address without a restart, with the same certificate', () =>
    withHarness(async (stage) => {
      await joined(stage);
      const { cert = '' } = (await readCertificate(stage.pem)) ?? {};
      const text = await readFile(stage.kubeconfig, 'utf8');
      await writeFile(stage.kubeconfig, text.replace('cluster.example', 'moved.example'));
      await stage.pass(minute);
      const asksThere = async (): Promise<boolean> => {
        await stage.answer();
        return stage.cluster.servers.at(-1) === 'https://moved.example:6443';
      };
      await stage.passUntil('it asks there', asksThere, 0);
      assert.equal(await stage.answer(), 'notFound');
      assert.equal((await readCertificate(stage.pem))?.cert, cert);
      assert.equal(await stage.asked(), 1);
    }));

  test('keeps the certificate after a temporary 401', () =>
    withHarness(async (stage) => {
      await joined(stage);
      await stage.cluster.revokeToken(await readFile(stage.kubeconfig, 'utf8'));
      const { cert = '' } = (await readCertificate(stage.pem)) ?? {};
      stage.cluster.revoked.add(cert);
      assert.equal(await stage.answer(), 'unauthorized');
      await stage.pass(10_000, 1_000);
      stage.cluster.revoked.delete(cert);
      assert.equal(await stage.answer(), 'notFound');
      stage.cluster.requests.length = 0;
      await stage.pass(10 * minute, 30_000);
      assert.deepEqual(stage.cluster.requests, []);
    }));

  test('ignores a stored certificate of another Node', () =>
    withHarness(async (stage) => {
      await joined(stage);
      const text = await readFile(stage.pem, 'utf8');
      const { log } = createRecordingLogger();
      const ending = new AbortController();
      const other = createNodeIdentity({
        kubeconfig: stage.kubeconfig,
        nodeName: 'mac-2',
        clock: stage.clock,
        random: () => 0.5,
        log,
        createTransport: stage.cluster.createTransport,
      });
      const running = other.run(ending.signal);
      await other.ready;
      ending.abort();
      await running;
      assert.notEqual(await readFile(stage.pem, 'utf8'), text);
      assert.equal((await readCertificate(stage.pem))?.user, 'system:node:mac-2');
    }));

  test('uses a certificate that cannot be stored, and stores it later', () =>
    withHarness(async (stage) => {
      await writeFile(stage.kubeconfig, await stage.cluster.joinKubeconfig());
      await rm(stage.pem, { force: true });
      // A folder makes the rename fail.
      await mkdir(join(stage.pem, 'x'), { recursive: true });
      await stage.start().ready;
      assert.equal(await stage.answer(), 'notFound');
      await rmdir(join(stage.pem, 'x'));
      await rmdir(stage.pem);
      await stage.passUntil('it is stored', async () => (await readCertificate(stage.pem)) !== undefined);
      assert.equal(await stage.asked(), 1);
    }));

  test('may write its own Lease, and logs no token or key', () =>
    withHarness(async (stage) => {
      stage.cluster.approverAction = 'deny';
      await writeFile(stage.kubeconfig, await stage.cluster.joinKubeconfig());
      const identity = stage.start();
      await eventually('it was denied', () => stage.lines.some((line) => line.includes('Denied')));
      stage.cluster.approverAction = 'approve';
      await stage.passUntil('it has joined', async () => (await stage.answer()) === 'notFound');
      const client = createClient(identity.transport, { clock: stage.clock });
      const metadata = { namespace: 'kube-node-lease', name: 'mac-1' };
      await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} });
      const { key = '' } = (await readCertificate(stage.pem)) ?? {};
      const secretLines = [
        ...key.split('\n').filter((line) => line !== '' && !line.startsWith('-')),
        '0123456789abcdef',
      ];
      for (const line of stage.lines) for (const secret of secretLines) assert.ok(!line.includes(secret));
    }));
});
