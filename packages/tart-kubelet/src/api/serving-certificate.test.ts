import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
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
import {
  createKeyPairFile,
  createServingCertificate,
  type ServingKeyPair,
  servingSigner,
} from './serving-certificate.ts';

const subject = { nodeName: 'mac-1', addresses: ['192.0.2.7', '198.51.100.7'] };
const log = createLogger({ clock: systemClock, level: 'error', write: () => {} });

describe('a certificate of the kubelet API', () => {
  test('that is self-signed names the Node, its addresses and its usages', () => {
    const made = createSelfSignedCertificate(subject, systemClock.now());
    const certificate = new X509Certificate(made.certificate);
    assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:mac-1');
    assert.equal(certificate.checkIP('192.0.2.7'), '192.0.2.7');
    assert.ok(certificate.checkIP('198.51.100.7'));
    assert.equal(certificate.checkIP('192.0.2.8'), undefined);
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.ok(certificate.verify(certificate.publicKey));
    assert.ok(Date.parse(certificate.validTo) > systemClock.now());
    assert.throws(
      () => createSelfSignedCertificate({ nodeName: 'x', addresses: ['mac.local'] }, 0),
      /is no IPv4 address/,
    );
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
  interface World {
    kubernetes: Kubernetes;
    client: Client;
    subresources: Subresources;
    agent: Client;
  }
  const withWorld = async (play: (world: World) => Promise<void>): Promise<void> => {
    const kubernetes = await createKubernetes();
    try {
      const admin = inProcessTransport(kubernetes.handle, {
        user: { commonName: 'admin', organizations: ['system:masters'] },
      });
      const node = inProcessTransport(kubernetes.handle, {
        user: { commonName: 'system:node:mac-1', organizations: ['system:nodes'] },
      });
      await play({
        kubernetes,
        client: createClient(admin, { clock: systemClock }),
        subresources: createSubresources(admin, { clock: systemClock }),
        agent: createClient(node, { clock: systemClock }),
      });
    } finally {
      kubernetes.stop();
    }
  };
  /** Requests as they come. */
  const nextRequest = (client: Client, known: number) =>
    eventually('there is a request', async () => (await client.list(certificateSigningRequests)).items[known]);
  const undecided = (client: Client) =>
    eventually('there is an undecided request', async () => {
      const { items } = await client.list(certificateSigningRequests);
      return items.find(({ status }) => status?.conditions === undefined);
    });
  /** Waiting takes no time in the agent; the controllers of the cluster live on the real clock. */
  const hasty: Clock = {
    ...systemClock,
    after: (milliseconds, run) => systemClock.after(milliseconds === 15 * 60_000 ? patienceMs : 5, run),
  };
  let addresses = ['192.0.2.7'];
  /** How long it waits for a verdict. */
  let patienceMs = 15 * 60_000;

  const start = (world: World, kept: ServingKeyPair | undefined, full = false, clock = hasty) => {
    const identities: ServingKeyPair[] = [];
    const saved: ServingKeyPair[] = [];
    let told = (): void => {};
    const certificate = createServingCertificate({
      client: world.agent,
      subject: () => ({ nodeName: 'mac-1', addresses }),
      store: {
        load: async () => kept,
        save: async (identity) => {
          if (full) throw new Error('no space');
          saved.push(identity);
        },
      },
      onKeyPair: (identity) => {
        identities.push(identity);
        told();
      },
      clock,
      random: () => 0.5,
      log,
    });
    const stop = new AbortController();
    const done = certificate.run(stop.signal);
    return {
      identities,
      saved,
      count: async (wanted: number): Promise<void> => {
        while (identities.length < wanted) {
          await new Promise<void>((resolve) => {
            told = resolve;
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

  test('is requested, stored, used once issued, and requested again when an address has changed', () =>
    withWorld(async (world) => {
      const running = start(world, undefined);
      try {
        const first = await nextRequest(world.client, 0);
        assert.equal(first.spec.signerName, servingSigner);
        assert.deepEqual(first.spec.usages, ['digital signature', 'server auth']);
        await world.subresources.approveCertificate(first, verdict);
        await running.count(1);
        assert.deepEqual(running.saved, running.identities, 'kept before it is used');
        assert.ok(new X509Certificate(running.identities[0]?.certificate ?? '').checkIP('192.0.2.7'));
        addresses = ['192.0.2.8'];
        await world.subresources.approveCertificate(await undecided(world.client), verdict);
        await running.count(2);
        assert.ok(new X509Certificate(running.identities[1]?.certificate ?? '').checkIP('192.0.2.8'));
      } finally {
        addresses = ['192.0.2.7'];
        await running.close();
      }
    }));

  test('is used even if it cannot be stored', () =>
    withWorld(async (world) => {
      const running = start(world, undefined, true);
      await world.subresources.approveCertificate(await nextRequest(world.client, 0), verdict);
      await running.count(1);
      await running.close();
    }));

  test('is not requested in a loop by a Mac whose clock is ahead', () =>
    withWorld(async (world) => {
      /** From when it has a certificate, that one's life is nearly over. */
      const late = (identity: ServingKeyPair): number => {
        const { validFromDate, validToDate } = new X509Certificate(identity.certificate);
        return validFromDate.getTime() + 0.9 * (validToDate.getTime() - validFromDate.getTime());
      };
      let saved: readonly ServingKeyPair[] = [];
      let waits = 0;
      // No minute ever passes.
      const ahead: Clock = {
        ...systemClock,
        now: () => (saved[0] === undefined ? systemClock.now() : late(saved[0])),
        after: (milliseconds, run) => {
          if (milliseconds < 60_000) return systemClock.after(milliseconds, run);
          waits += 1;
          return () => {};
        },
      };
      const running = start(world, undefined, false, ahead);
      ({ saved } = running);
      try {
        await world.subresources.approveCertificate(await nextRequest(world.client, 0), verdict);
        await running.count(1);
        // The first was for the verdict.
        await eventually('it waits for a minute', () => waits > 1);
        assert.equal((await world.client.list(certificateSigningRequests)).items.length, 1);
      } finally {
        await running.close();
      }
    }));

  test('is requested again when nobody approves or denies', () =>
    withWorld(async (world) => {
      patienceMs = 5;
      const running = start(world, undefined);
      await nextRequest(world.client, 1);
      await running.close();
      patienceMs = 15 * 60_000;
    }));

  test('that was stored is used without a request, unless it does not match', () =>
    withWorld(async (world) => {
      const kept = createSelfSignedCertificate({ nodeName: 'mac-1', addresses: ['192.0.2.7'] }, systemClock.now());
      const running = start(world, kept);
      await running.count(1);
      await running.close();
      assert.deepEqual((await world.client.list(certificateSigningRequests)).items, []);
      const misfits = [
        createSelfSignedCertificate({ nodeName: 'mac-1', addresses: ['192.0.2.9'] }, systemClock.now()),
        createSelfSignedCertificate({ nodeName: 'mac-1', addresses: ['192.0.2.7'] }, 0),
        { certificate: kept.certificate, key: createSelfSignedCertificate(subject, 0).key },
        { certificate: 'rubbish', key: 'rubbish' },
      ];
      for (const [index, misfit] of misfits.entries()) {
        const again = start(world, misfit);
        await nextRequest(world.client, index);
        assert.deepEqual(again.identities, []);
        await again.close();
      }
    }));

  test('is requested again after a denial', () =>
    withWorld(async (world) => {
      const running = start(world, undefined);
      try {
        const first = await nextRequest(world.client, 0);
        await world.subresources.approveCertificate(first, { ...verdict, type: 'Denied' });
        await nextRequest(world.client, 1);
        assert.deepEqual(running.identities, []);
      } finally {
        await running.close();
      }
    }));
});

describe('the file of a serving certificate', () => {
  test('holds certificate and key with mode 0600; other content is ignored', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'serving-'));
    try {
      const file = createKeyPairFile(join(folder, 'serving-certificate.pem'));
      assert.equal(await file.load(), undefined);
      const made = createSelfSignedCertificate(subject, systemClock.now());
      await file.save({ ...made, certificate: made.certificate.trimEnd() });
      assert.deepEqual(await file.load(), made);
      assert.equal((await stat(join(folder, 'serving-certificate.pem'))).mode & 0o777, 0o600);
      await file.save({ certificate: made.certificate, key: createSelfSignedCertificate(subject, 0).key });
      assert.equal(await file.load(), undefined);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
