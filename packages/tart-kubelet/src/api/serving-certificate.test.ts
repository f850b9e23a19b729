import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
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
import { systemClock } from '@tartan/kube/clock';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import { makeSelfSigned, makeServingRequest } from './certificate/serving-request.ts';
import type { ServingIdentity } from './server.ts';
import { createServingCertificate, servingSigner } from './serving-certificate.ts';

const subject = { nodeName: 'mac-1', addresses: ['192.0.2.7', '2001:db8::1:0:7'], dnsNames: ['mac-1.example'] };
const log = createLogger({ clock: systemClock, level: 'error', write: () => {} });

describe('a certificate by which the kubelet API is known', () => {
  test('of its own names the node, its addresses, and what it is for', () => {
    const made = makeSelfSigned(subject, Date.now());
    const certificate = new X509Certificate(made.certificate);
    assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:mac-1');
    assert.equal(certificate.checkIP('192.0.2.7'), '192.0.2.7');
    assert.ok(certificate.checkIP('2001:db8::1:0:7'));
    assert.equal(certificate.checkIP('192.0.2.8'), undefined);
    assert.equal(certificate.checkHost('mac-1.example'), 'mac-1.example');
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.ok(certificate.verify(certificate.publicKey));
    assert.ok(Date.parse(certificate.validTo) > Date.now());
    assert.throws(() => makeSelfSigned({ nodeName: 'x', addresses: ['mac.local'] }, 0), /is no IP address/);
  });

  test('is asked for in a form that a signer reads', async () => {
    const kubernetes = await createKubernetes();
    try {
      const { request } = makeServingRequest(subject);
      const signed = await kubernetes.identity.sign(request, ['server auth', 'digital signature'], 600);
      assert.equal(new X509Certificate(signed).subject, 'O=system:nodes\nCN=system:node:mac-1');
      assert.equal(new X509Certificate(signed).checkIP('192.0.2.7'), '192.0.2.7');
    } finally {
      kubernetes.stop();
    }
  });
});

describe('the serving certificate of the agent', { timeout: 30_000 }, () => {
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
  const nextRequest = async (client: Client, known: number) => {
    for (;;) {
      const { items } = await client.list(certificateSigningRequests);
      const found = items[known];
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  /** Waiting takes no time in the agent; the controllers of the cluster live on the real clock. */
  const hasty = { ...systemClock, after: (_milliseconds: number, run: () => void) => systemClock.after(5, run) };

  const start = (world: World, kept: ServingIdentity | undefined, addresses: () => string[]) => {
    const identities: ServingIdentity[] = [];
    const saved: ServingIdentity[] = [];
    let told = (): void => {};
    const certificate = createServingCertificate({
      client: world.agent,
      subject: () => ({ nodeName: 'mac-1', addresses: addresses() }),
      store: { load: async () => kept, save: async (identity) => void saved.push(identity) },
      onIdentity: (identity) => {
        identities.push(identity);
        told();
      },
      clock: hasty,
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

  test('is requested, used once it is issued, and asked for again when an address has changed', () =>
    withWorld(async (world) => {
      let addresses = ['192.0.2.7'];
      const running = start(world, undefined, () => addresses);
      try {
        const first = await nextRequest(world.client, 0);
        assert.equal(first.spec.signerName, servingSigner);
        assert.deepEqual(first.spec.usages, ['digital signature', 'server auth']);
        await world.subresources.approveCertificate(first, verdict);
        await running.count(1);
        assert.deepEqual(running.saved, running.identities, 'kept before it is used');
        addresses = ['192.0.2.8'];
        const names = new Set([first.metadata.name]);
        for (;;) {
          const { items } = await world.client.list(certificateSigningRequests);
          const next = items.find(({ metadata }) => !names.has(metadata.name));
          if (next) {
            await world.subresources.approveCertificate(next, verdict);
            break;
          }
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        await running.count(2);
        assert.ok(new X509Certificate(running.identities[1]?.certificate ?? '').checkIP('192.0.2.8'));
      } finally {
        await running.close();
      }
    }));

  test('that was kept is used without asking, unless it does not fit', () =>
    withWorld(async (world) => {
      const kept = makeSelfSigned({ nodeName: 'mac-1', addresses: ['192.0.2.7'] }, Date.now());
      const running = start(world, kept, () => ['192.0.2.7']);
      await running.count(1);
      await running.close();
      assert.deepEqual((await world.client.list(certificateSigningRequests)).items, []);
      const misfits = [
        makeSelfSigned({ nodeName: 'mac-1', addresses: ['192.0.2.9'] }, Date.now()),
        makeSelfSigned({ nodeName: 'mac-1', addresses: ['192.0.2.7'] }, 0),
        { certificate: kept.certificate, key: makeSelfSigned(subject, 0).key },
        { certificate: 'rubbish', key: 'rubbish' },
      ];
      for (const [index, misfit] of misfits.entries()) {
        const again = start(world, misfit, () => ['192.0.2.7']);
        await nextRequest(world.client, index);
        assert.deepEqual(again.identities, []);
        await again.close();
      }
    }));

  test('that is refused is asked for again', () =>
    withWorld(async (world) => {
      const running = start(world, undefined, () => ['192.0.2.7']);
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
