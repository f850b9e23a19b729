import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, leases, type Live, nodes } from '@tartan/kube';
import { microTimestamp, timestamp } from '@tartan/kube/clock';
import { connect } from '@tartan/sim-fleet';

/**
 * Heartbeats with the intervals of the kubelet: each Node updates its Lease every 10 s and patches its status every 5 min. The first
 * heartbeats are spread over the interval.
 */

const leaseMs = 10_000;
const statusMs = 5 * 60_000;
const tickMs = 50;
const maxInFlight = 64;

type Lease = NonNullable<(typeof leases)['ofType']>;

const counts = { done: 0, wanted: 0 };

const renew = async (client: Client, known: Map<string, Live<Lease>>, name: string): Promise<void> => {
  const at = { namespace: 'kube-node-lease', name };
  const lease = known.get(name) ?? (await client.get(leases, at));
  // Forgotten if the update fails, and then read again.
  known.delete(name);
  known.set(
    name,
    await client.update(leases, { ...lease, spec: { ...lease.spec, renewTime: microTimestamp(Date.now()) } }),
  );
};

const report = async (client: Client, conditionTypes: readonly string[], name: string): Promise<void> => {
  const at = timestamp(Date.now());
  const conditions = conditionTypes.map((type) => ({ type, lastHeartbeatTime: at }));
  await client.patch(
    nodes,
    { name },
    { type: 'strategic', body: { status: { conditions } } },
    { subresource: 'status' },
  );
};

const [{ kubeconfig, names }] = (await once(process, 'message')) as [{ kubeconfig: string; names: string[] }];
const { client } = await connect(kubeconfig);
const known = new Map<string, Live<Lease>>();
const first = await client.get(nodes, { name: names[0] ?? '' });
const conditionTypes = (first.status?.conditions ?? []).map(({ type }) => type);
process.on('message', () => process.send?.({ ...counts }));
process.on('disconnect', () => process.exit(0));
process.send?.('started');

let inFlight = 0;
const began = performance.now();
const due = (interval: number, since: number, until: number): string[] =>
  names.filter((_, index) => {
    const phase = (index / names.length) * interval;
    return Math.floor((until - phase) / interval) > Math.floor((since - phase) / interval);
  });
const beat = (work: Promise<void>): void => {
  inFlight += 1;
  work
    .then(() => {
      counts.done += 1;
    })
    .catch(() => {
      // The API server restarts: the next heartbeat follows.
    })
    .finally(() => {
      inFlight -= 1;
    });
};

for (let last = 0; ; ) {
  await sleep(tickMs);
  const now = performance.now() - began;
  const [renewing, reporting] = [due(leaseMs, last, now), due(statusMs, last, now)];
  counts.wanted += renewing.length + reporting.length;
  for (const name of renewing) if (inFlight < maxInFlight) beat(renew(client, known, name));
  for (const name of reporting) if (inFlight < maxInFlight) beat(report(client, conditionTypes, name));
  last = now;
}
