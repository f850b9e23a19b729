import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient } from '../../client/create-client.ts';
import { createNamespace, waitFor } from '../../client/suite/fixture.ts';
import type { ClusterUnderTest } from '../../client/suite/run.ts';
import type { Client } from '../../client/client.ts';
import { systemClock } from '../../clock/index.ts';
import { isRecord } from '../../json.ts';
import type { Logger } from '../../logs/logger.ts';
import { namespaces } from '../../objects/builtin.ts';
import { createLeaderElection } from '../election.ts';
import { type Lease, leases } from '../lease.ts';

const quiet = (): void => {};
const log: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, with: () => log };

const fieldOf = ({ spec }: Lease, name: string): unknown => (isRecord(spec) ? spec[name] : undefined);

/** A candidate that runs until `stop`, which resolves with its result. */
const takePart = (client: Client, namespace: string, identity: string) => {
  const stopping = new AbortController();
  const election = createLeaderElection({
    client,
    identity,
    log,
    clock: systemClock,
    random: Math.random,
    lease: { namespace, name: 'it' },
    durations: { leaseMs: 5_000, renewDeadlineMs: 4_000, retryPeriodMs: 300 },
  });
  const leads = Promise.withResolvers<void>();
  const done = election.run(stopping.signal, (signal) => {
    leads.resolve();
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  });
  return {
    leads: leads.promise,
    gate: election.gate,
    stop: (): Promise<'stopped' | 'lost'> => {
      stopping.abort();
      return done;
    },
  };
};

/** The server behaviour that leader election relies on. */
export const runElectionSuite = (title: string, start: () => Promise<ClusterUnderTest>): void => {
  describe(title, { timeout: 120_000 }, () => {
    let cluster: ClusterUnderTest;
    let client: Client;
    before(async () => {
      cluster = await start();
      client = createClient(cluster.transport, { clock: systemClock });
    });
    after(async () => {
      cluster.transport.close();
      cluster.stranger.close();
      await cluster.close();
    });

    test('a lease is created, renewed, released and taken over', async ({ signal }) => {
      const namespace = await createNamespace(client);
      const name = { namespace, name: 'it' };
      const a = takePart(client, namespace, 'a');
      await a.leads;
      assert.ok(a.gate.pass().remainingMs > 0);
      const first = await client.get(leases, name);
      assert.equal(fieldOf(first, 'holderIdentity'), 'a');
      assert.equal(fieldOf(first, 'leaseTransitions'), 0);
      assert.match(String(fieldOf(first, 'renewTime')), /\.\d{6}Z$/);
      const renewed = await waitFor({ client, signal }, leases, name, (lease) => {
        return fieldOf(lease, 'renewTime') !== fieldOf(first, 'renewTime');
      });
      assert.equal(fieldOf(renewed, 'acquireTime'), fieldOf(first, 'acquireTime'));
      const b = takePart(client, namespace, 'b');
      assert.equal(await a.stop(), 'stopped');
      await b.leads;
      assert.throws(() => a.gate.pass(), { name: 'NotLeadingError' });
      const second = await client.get(leases, name);
      assert.equal(fieldOf(second, 'holderIdentity'), 'b');
      assert.equal(fieldOf(second, 'leaseTransitions'), 1);
      assert.equal(await b.stop(), 'stopped');
      const last = await client.get(leases, name);
      assert.equal(fieldOf(last, 'holderIdentity'), '');
      assert.equal(fieldOf(last, 'leaseDurationSeconds'), 1);
      await client.delete(namespaces, { name: namespace });
    });

    test('a lease whose holder is gone is taken over, and its other fields are kept', async () => {
      const namespace = await createNamespace(client);
      const time = '2999-01-01T00:00:00.000000Z';
      await client.create(leases, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace, name: 'it', labels: { team: 'macs' } },
        spec: { holderIdentity: 'gone', leaseDurationSeconds: 1, renewTime: time, leaseTransitions: 6 },
      });
      const a = takePart(client, namespace, 'a');
      await a.leads;
      const lease = await client.get(leases, { namespace, name: 'it' });
      assert.equal(fieldOf(lease, 'holderIdentity'), 'a');
      assert.equal(fieldOf(lease, 'leaseTransitions'), 7);
      assert.deepEqual(lease.metadata.labels, { team: 'macs' });
      assert.equal(await a.stop(), 'stopped');
      await client.delete(namespaces, { name: namespace });
    });
  });
};
