import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  certificateSigningRequests,
  type Client,
  createClient,
  createLogger,
  createSubresources,
  inProcessTransport,
  type Subresources,
} from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import { createCertificateRequest, createSelfSignedCertificate } from '../certificates/x509.ts';
import { type NodeCertificate, readCertificate, writeCertificate } from '../identity/node-certificate.ts';
import { keepServingCertificate, servingSigner } from './serving-certificate.ts';

const subject = { nodeName: 'mac-1', address: '192.0.2.7' };
const log = createLogger({ clock: systemClock, level: 'error', write: () => {} });

describe('a certificate of the kubelet API', () => {
  test('that is self-signed names the Node, its address and its usages', () => {
    const made = createSelfSignedCertificate(subject, systemClock.now());
    const certificate = new X509Certificate(made.cert);
    assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:mac-1');
    assert.equal(certificate.checkIP('192.0.2.7'), '192.0.2.7');
    assert.equal(certificate.checkIP('192.0.2.8'), undefined);
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.ok(certificate.verify(certificate.publicKey));
    assert.ok(Date.parse(certificate.validTo) > systemClock.now());
    assert.throws(() => createSelfSignedCertificate({ nodeName: 'x', address: 'mac.local' }, 0), /is no IPv4 address/);
  });

  test('is requested in a form that a signer can read', async () => {
    const kubernetes = await createKubernetes();
    try {
      const { request } = createCertificateRequest(subject);
      const signed = await kubernetes.identity.sign(request, ['server auth', 'digital signature'], 600);
      assert.equal(new X509Certificate(signed).subject, 'O=system:nodes\nCN=system:node:mac-1');
      assert.equal(new X509Certificate(signed).checkIP('192.0.2.7'), '192.0.2.7');
    } finally {
      kubernetes.stop();
    }
  });
});

describe('the serving certificate of the agent', { timeout: 60_000 }, () => {
  interface TestCluster {
    kubernetes: Kubernetes;
    client: Client;
    subresources: Subresources;
    agent: Client;
    /** The certificate file. */
    file: string;
  }
  const withCluster = async (scenario: (cluster: TestCluster) => Promise<void>): Promise<void> => {
    const kubernetes = await createKubernetes();
    const folder = await mkdtemp(join(tmpdir(), 'serving-'));
    try {
      const admin = inProcessTransport(kubernetes.handle, {
        user: { commonName: 'admin', organizations: ['system:masters'] },
      });
      const node = inProcessTransport(kubernetes.handle, {
        user: { commonName: 'system:node:mac-1', organizations: ['system:nodes'] },
      });
      await scenario({
        kubernetes,
        client: createClient(admin, { clock: systemClock }),
        subresources: createSubresources(admin, { clock: systemClock }),
        agent: createClient(node, { clock: systemClock }),
        file: join(folder, 'serving-certificate.pem'),
      });
    } finally {
      kubernetes.stop();
      await rm(folder, { recursive: true });
    }
  };
  /** Waits for the next request. */
  const nextRequest = (client: Client, known: number) =>
    eventually('there is a request', async () => (await client.list(certificateSigningRequests)).items[known]);
  /** Shortens the agent's waits; the cluster's controllers use the real clock. */
  const fastClock: Clock = {
    ...systemClock,
    after: (milliseconds, run) => systemClock.after(milliseconds === 15 * 60_000 ? approvalTimeoutMs : 5, run),
  };
  /** The agent's wait for the approval. */
  let approvalTimeoutMs = 15 * 60_000;

  const start = (cluster: TestCluster, clock = fastClock) => {
    const identities: NodeCertificate[] = [];
    let onChange = (): void => {};
    const onCertificate = (identity: NodeCertificate): void => {
      identities.push(identity);
      onChange();
    };
    const stop = new AbortController();
    const done = keepServingCertificate(
      { client: cluster.agent, subject, file: cluster.file, onCertificate, clock, random: () => 0.5, log },
      stop.signal,
    );
    return {
      identities,
      count: async (wanted: number): Promise<void> => {
        while (identities.length < wanted) {
          await new Promise<void>((resolve) => {
            onChange = resolve;
          });
        }
      },
      close: async () => {
        stop.abort();
        await done;
      },
    };
  };
  const verdict = { type: 'Approved', reason: 'Test', message: 'fine' } as const;

  test('is requested, stored with mode 0600, and used once issued', () =>
    withCluster(async (cluster) => {
      const running = start(cluster);
      const first = await nextRequest(cluster.client, 0);
      assert.equal(first.spec.signerName, servingSigner);
      assert.deepEqual(first.spec.usages, ['digital signature', 'server auth']);
      await cluster.subresources.approveCertificate(first, verdict);
      await running.count(1);
      assert.deepEqual(await readCertificate(cluster.file), running.identities[0]);
      assert.equal((await stat(cluster.file)).mode & 0o777, 0o600);
      assert.ok(new X509Certificate(running.identities[0]?.cert ?? '').checkIP('192.0.2.7'));
      await running.close();
    }));

  test('is used even if it cannot be stored', () =>
    withCluster(async (cluster) => {
      const running = start({ ...cluster, file: join(cluster.file, 'not a folder') });
      await cluster.subresources.approveCertificate(await nextRequest(cluster.client, 0), verdict);
      await running.count(1);
      await running.close();
    }));

  test('is not requested in a loop by a Mac whose clock is ahead', () =>
    withCluster(async (cluster) => {
      /** As soon as it has a certificate, most of its lifetime is over. */
      const late = ({ notBefore, notAfter }: NodeCertificate): number => notBefore + 0.9 * (notAfter - notBefore);
      let served: readonly NodeCertificate[] = [];
      let waits = 0;
      // No wait of a minute ever ends.
      const ahead: Clock = {
        ...systemClock,
        now: () => (served[0] === undefined ? systemClock.now() : late(served[0])),
        after: (milliseconds, run) => {
          if (milliseconds < 60_000) return systemClock.after(milliseconds, run);
          waits += 1;
          return () => {};
        },
      };
      const running = start(cluster, ahead);
      served = running.identities;
      try {
        await cluster.subresources.approveCertificate(await nextRequest(cluster.client, 0), verdict);
        await running.count(1);
        // The first wait was for the approval.
        await eventually('it waits for a minute', () => waits > 1);
        assert.equal((await cluster.client.list(certificateSigningRequests)).items.length, 1);
      } finally {
        await running.close();
      }
    }));

  test('is requested again when nobody approves or denies', () =>
    withCluster(async (cluster) => {
      approvalTimeoutMs = 5;
      const running = start(cluster);
      await nextRequest(cluster.client, 1);
      await running.close();
      approvalTimeoutMs = 15 * 60_000;
    }));

  test('that was stored is used without a request, unless it does not match', () =>
    withCluster(async (cluster) => {
      const kept = createSelfSignedCertificate(subject, systemClock.now());
      await writeCertificate(cluster.file, kept);
      const running = start(cluster);
      await running.count(1);
      await running.close();
      assert.deepEqual((await cluster.client.list(certificateSigningRequests)).items, []);
      const text = await readFile(cluster.file, 'utf8');
      const misfits = [
        createSelfSignedCertificate({ nodeName: 'mac-1', address: '192.0.2.9' }, systemClock.now()),
        createSelfSignedCertificate(subject, 0),
        { cert: kept.cert, key: createSelfSignedCertificate(subject, 0).key },
      ];
      for (const [index, misfit] of [...misfits, 'rubbish', text.slice(0, 200)].entries()) {
        if (typeof misfit === 'string') await writeFile(cluster.file, misfit);
        else await writeCertificate(cluster.file, misfit);
        const again = start(cluster);
        await nextRequest(cluster.client, index);
        assert.deepEqual(again.identities, []);
        await again.close();
      }
    }));

  test('is requested again after a denial', () =>
    withCluster(async (cluster) => {
      const running = start(cluster);
      try {
        const first = await nextRequest(cluster.client, 0);
        await cluster.subresources.approveCertificate(first, { ...verdict, type: 'Denied' });
        await nextRequest(cluster.client, 1);
        assert.deepEqual(running.identities, []);
      } finally {
        await running.close();
      }
    }));
});
