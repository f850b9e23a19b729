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

const withHarness = async (body: (harness: Harness) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'identity-'));
  const clock = manualClock();
  const cluster = await createFakeCluster(clock);
  const { log, lines } = createRecordingLogger();
  const kubeconfig = join(folder, 'kubeconfig');
  let ending = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let identity: NodeIdentity | undefined;
  const harness: Harness = {
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
    await body(harness);
  } finally {
    ending.abort();
    await running;
    cluster.stop();
    await rm(folder, { recursive: true });
  }
};

const joined = async (harness: Harness): Promise<NodeIdentity> => {
  await writeFile(harness.kubeconfig, await harness.cluster.joinKubeconfig());
  const identity = harness.start();
  await identity.ready;
  return identity;
};

describe('the identity of the Node', () => {
  test('exchanges the join token for a certificate, stores it, and needs the token no more', () =>
    withHarness(async (harness) => {
      const identity = await joined(harness);
      assert.equal(await harness.answer(), 'notFound');
      const kept = await readCertificate(harness.pem);
      assert.deepEqual(identity.validity, { ...kept, stored: true });
      assert.equal(kept?.user, 'system:node:mac-1');
      const [request] = (await harness.cluster.admin.list(certificateSigningRequests)).items;
      assert.deepEqual(request?.spec.usages, ['client auth', 'digital signature']);
      assert.equal(request?.spec.expirationSeconds, 604_800);
      assert.equal(request?.spec.signerName, 'kubernetes.io/kube-apiserver-client-kubelet');
      assert.equal(request?.spec.username, 'system:bootstrap:tok001');

      await harness.cluster.revokeToken(await readFile(harness.kubeconfig, 'utf8'));
      await harness.start().ready;
      assert.equal(await harness.answer(), 'notFound');
      assert.equal(await harness.asked(), 1);
    }));

  test('renews the certificate with itself after two thirds of its lifetime (INC-421)', () =>
    withHarness(async (harness) => {
      await joined(harness);
      await harness.cluster.revokeToken(await readFile(harness.kubeconfig, 'utf8'));
      const before = await readCertificate(harness.pem);
      await harness.pass(4.6 * day);
      assert.equal(await harness.asked(), 1);
      await harness.pass(0.1 * day);
      await harness.passUntil(
        'there is another certificate',
        async () => (await readCertificate(harness.pem))?.cert !== before?.cert,
      );
      const requests = (await harness.cluster.admin.list(certificateSigningRequests)).items;
      assert.ok(requests.some(({ spec }) => spec.username === 'system:node:mac-1'));
      assert.equal(await harness.answer(), 'notFound');
    }));

  test('is valid without a gap for a month', () =>
    withHarness(async (harness) => {
      await joined(harness);
      await harness.cluster.revokeToken(await readFile(harness.kubeconfig, 'utf8'));
      for (let half = 0; half < 60; half += 1) {
        await harness.pass(day / 2);
        await harness.passUntil('the certificate is good', async () => {
          const { notAfter = 0 } = (await readCertificate(harness.pem)) ?? {};
          return notAfter - harness.clock.now() > 2.2 * day;
        });
        assert.equal(await harness.answer(), 'notFound');
      }
    }));

  test('waits for a kubeconfig and then joins', () =>
    withHarness(async (harness) => {
      const identity = harness.start();
      await flushEventLoop();
      assert.equal(await harness.answer(), 'unauthorized');
      await writeFile(harness.kubeconfig, 'not: [a, kubeconfig');
      await harness.pass(10_000, 1_000);
      await writeFile(harness.kubeconfig, await harness.cluster.joinKubeconfig());
      await harness.passUntil('it has joined', async () => (await harness.answer()) === 'notFound');
      await identity.ready;
    }));

  test('retries a denied request with backoff', () =>
    withHarness(async (harness) => {
      harness.cluster.approverAction = 'deny';
      await writeFile(harness.kubeconfig, await harness.cluster.joinKubeconfig());
      harness.start();
      await eventually('it was denied', () =>
        harness.lines.some((line) => line.includes('Denied Test: it was Denied')),
      );
      const before = harness.clock.now();
      await harness.passUntil('it has asked nine times', async () => (await harness.asked()) >= 9);
      // Half of the sum of 1, 2, 4 … 128 s, however long each request took.
      assert.ok(harness.clock.now() - before >= 2 * minute, `${harness.clock.now() - before} ms`);
      harness.cluster.approverAction = 'approve';
      await harness.passUntil('it has joined', async () => (await harness.answer()) === 'notFound', 5_000);
    }));

  test('makes a new request when nobody approves the first', () =>
    withHarness(async (harness) => {
      harness.cluster.approverAction = 'ignore';
      await writeFile(harness.kubeconfig, await harness.cluster.joinKubeconfig());
      harness.start();
      await eventually('it has asked', async () => (await harness.asked()) === 1);
      harness.cluster.approverAction = 'approve';
      await harness.pass(4 * minute, minute);
      assert.equal(await harness.asked(), 1);
      await harness.passUntil('it has joined', async () => (await harness.answer()) === 'notFound', 10_000);
      assert.equal(await harness.asked(), 2);
    }));

  test('makes a new request when somebody deletes it', () =>
    withHarness(async (harness) => {
      harness.cluster.approverAction = 'ignore';
      await writeFile(harness.kubeconfig, await harness.cluster.joinKubeconfig());
      harness.start();
      await eventually('it has asked', async () => (await harness.asked()) === 1);
      harness.cluster.approverAction = 'approve';
      const [request] = (await harness.cluster.admin.list(certificateSigningRequests)).items;
      await harness.cluster.admin.delete(certificateSigningRequests, { name: request?.metadata.name ?? '' });
      const before = harness.clock.now();
      await harness.passUntil('it has joined', async () => (await harness.answer()) === 'notFound');
      assert.ok(harness.clock.now() - before < minute, 'it was not taken for lost, but seen to be gone');
    }));

  test('joins again with new credentials after weeks offline', () =>
    withHarness(async (harness) => {
      await joined(harness);
      await harness.cluster.revokeToken(await readFile(harness.kubeconfig, 'utf8'));
      harness.cluster.reachable = false;
      await harness.pass(30 * day, 10 * day);
      harness.cluster.reachable = true;
      harness.start();
      await flushEventLoop();
      await harness.pass(10 * minute, 30_000);
      assert.equal(await harness.answer(), 'unauthorized');
      await writeFile(harness.kubeconfig, await harness.cluster.joinKubeconfig());
      const before = harness.clock.now();
      await harness.passUntil('it is back', async () => (await harness.answer()) === 'notFound');
      // However long the backoff had grown.
      assert.ok(harness.clock.now() - before < minute);
    }));

  test('uses new join credentials only once the certificate is rejected', () =>
    withHarness(async (harness) => {
      await joined(harness);
      const { cert = '' } = (await readCertificate(harness.pem)) ?? {};
      await writeFile(harness.kubeconfig, await harness.cluster.joinKubeconfig());
      await harness.pass(2 * minute, 10_000);
      assert.equal(await harness.asked(), 1);
      harness.cluster.revoked.add(cert);
      assert.equal(await harness.answer(), 'unauthorized');
      // Without time passing: the 401 itself triggers it.
      await harness.passUntil('it has joined anew', async () => (await harness.answer()) === 'notFound', 0);
      await eventually('the new one is kept', async () => (await readCertificate(harness.pem))?.cert !== cert);
    }));

  test('follows a new cluster address without a restart, with the same certificate', () =>
    withHarness(async (harness) => {
      await joined(harness);
      const { cert = '' } = (await readCertificate(harness.pem)) ?? {};
      const text = await readFile(harness.kubeconfig, 'utf8');
      await writeFile(harness.kubeconfig, text.replace('cluster.example', 'moved.example'));
      await harness.pass(minute);
      const asksThere = async (): Promise<boolean> => {
        await harness.answer();
        return harness.cluster.servers.at(-1) === 'https://moved.example:6443';
      };
      await harness.passUntil('it asks there', asksThere, 0);
      assert.equal(await harness.answer(), 'notFound');
      assert.equal((await readCertificate(harness.pem))?.cert, cert);
      assert.equal(await harness.asked(), 1);
    }));

  test('keeps the certificate after a temporary 401', () =>
    withHarness(async (harness) => {
      await joined(harness);
      await harness.cluster.revokeToken(await readFile(harness.kubeconfig, 'utf8'));
      const { cert = '' } = (await readCertificate(harness.pem)) ?? {};
      harness.cluster.revoked.add(cert);
      assert.equal(await harness.answer(), 'unauthorized');
      await harness.pass(10_000, 1_000);
      harness.cluster.revoked.delete(cert);
      assert.equal(await harness.answer(), 'notFound');
      harness.cluster.requests.length = 0;
      await harness.pass(10 * minute, 30_000);
      assert.deepEqual(harness.cluster.requests, []);
    }));

  test('ignores a stored certificate of another Node', () =>
    withHarness(async (harness) => {
      await joined(harness);
      const text = await readFile(harness.pem, 'utf8');
      const { log } = createRecordingLogger();
      const ending = new AbortController();
      const other = createNodeIdentity({
        kubeconfig: harness.kubeconfig,
        nodeName: 'mac-2',
        clock: harness.clock,
        random: () => 0.5,
        log,
        createTransport: harness.cluster.createTransport,
      });
      const running = other.run(ending.signal);
      await other.ready;
      ending.abort();
      await running;
      assert.notEqual(await readFile(harness.pem, 'utf8'), text);
      assert.equal((await readCertificate(harness.pem))?.user, 'system:node:mac-2');
    }));

  test('uses a certificate that cannot be stored, and stores it later', () =>
    withHarness(async (harness) => {
      await writeFile(harness.kubeconfig, await harness.cluster.joinKubeconfig());
      await rm(harness.pem, { force: true });
      // A folder makes the rename fail.
      await mkdir(join(harness.pem, 'x'), { recursive: true });
      await harness.start().ready;
      assert.equal(await harness.answer(), 'notFound');
      await rmdir(join(harness.pem, 'x'));
      await rmdir(harness.pem);
      await harness.passUntil('it is stored', async () => (await readCertificate(harness.pem)) !== undefined);
      assert.equal(await harness.asked(), 1);
    }));

  test('may write its own Lease, and logs no token or key', () =>
    withHarness(async (harness) => {
      harness.cluster.approverAction = 'deny';
      await writeFile(harness.kubeconfig, await harness.cluster.joinKubeconfig());
      const identity = harness.start();
      await eventually('it was denied', () => harness.lines.some((line) => line.includes('Denied')));
      harness.cluster.approverAction = 'approve';
      await harness.passUntil('it has joined', async () => (await harness.answer()) === 'notFound');
      const client = createClient(identity.transport, { clock: harness.clock });
      const metadata = { namespace: 'kube-node-lease', name: 'mac-1' };
      await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} });
      const { key = '' } = (await readCertificate(harness.pem)) ?? {};
      const secretLines = [
        ...key.split('\n').filter((line) => line !== '' && !line.startsWith('-')),
        '0123456789abcdef',
      ];
      for (const line of harness.lines) for (const secret of secretLines) assert.ok(!line.includes(secret));
    }));
});
