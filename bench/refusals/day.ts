import { machine } from '@tartan/api';
import { namespace } from '../../packages/provider/src/manager/testing/harness.ts';
import { startVirtualFleet } from '../virtual-fleet.ts';

export interface DayOptions {
  readonly hosts: number;
  /** Hosts that are released at the start of the day. */
  readonly released: number;
  /** Whether Scaleway has locked those: it refuses to reinstall them. */
  readonly locked: boolean;
  readonly hours: number;
}

export interface Day {
  /** Requests to Scaleway that name a released host, for each hour. */
  readonly aboutReleased: readonly number[];
  readonly imageLists: number;
  readonly requests: number;
  /** From the creation of a machine to its `spec.providerID`, in seconds. */
  readonly claims: readonly number[];
}

const minute = 60_000;
const hour = 60 * minute;
/** A machine is created every quarter of an hour, at no full minute, and deleted after two hours. */
const claimEveryMs = 15 * minute + 7_000;
const lifetimeMs = 2 * hour;
const pushMs = 3 * minute;

/** A simulated day of a manager in this process, with the rate limit and the speed of the real Scaleway. */
export const simulateDay = async ({ hosts, released, locked, hours }: DayOptions): Promise<Day> => {
  const { time, client, scaleway, machines, createMachine, stop } = await startVirtualFleet({ hosts, pushMs });
  try {
    const claimedAt = new Map<string, number>();
    const createdAt = new Map<string, number>();
    machines.subscribe((change) => {
      if (change.type === 'removed' || change.object.spec.providerID === undefined) return;
      const { name } = change.object.metadata;
      if (!claimedAt.has(name)) claimedAt.set(name, time.now());
    });
    const create = async (name: string): Promise<void> => {
      createdAt.set(name, time.now());
      await createMachine(name);
    };
    const remove = (name: string): Promise<unknown> => client.delete(machine.resource, { namespace, name });

    // The machines whose hosts are released.
    const first = Array.from({ length: released }, (_, index) => `first-${index}`);
    await time.pass(2 * minute);
    for (const name of first) await create(name);
    await time.pass(hour);
    const ids = scaleway.servers().filter(({ name }) => first.includes(name));
    if (ids.length !== released) throw new Error(`${ids.length} of ${released} machines have a host after an hour`);
    if (locked) for (const server of ids) server.status = 'locked';
    const about = new RegExp(`/servers/(${ids.map(({ id }) => id).join('|')})`);

    const aboutReleased: number[] = [];
    const before = scaleway.requests.length;
    for (const name of first) await remove(name);
    const begin = time.now();
    const due: { at: number; run: () => Promise<unknown> }[] = [];
    for (let at = claimEveryMs; at < hours * hour; at += claimEveryMs) {
      const name = `mac-${at / 1000}`;
      due.push({ at, run: () => create(name) }, { at: at + lifetimeMs, run: () => remove(name) });
    }
    due.sort((a, b) => a.at - b.at);
    for (let passed = 1; passed <= hours; passed += 1) {
      const from = scaleway.requests.length;
      const end = passed * hour;
      while ((due[0]?.at ?? Infinity) < end) {
        const { at, run } = due.shift() ?? { at: 0, run: async () => {} };
        await time.pass(begin + at - time.now());
        await run();
      }
      await time.pass(begin + end - time.now());
      aboutReleased.push(scaleway.requests.slice(from).filter((request) => about.test(request)).length);
    }
    const requests = scaleway.requests.slice(before);
    const isLater = (name: string): boolean => !first.includes(name);
    const claims = [...createdAt.keys()]
      .filter(isLater)
      .map((name) => ((claimedAt.get(name) ?? Infinity) - (createdAt.get(name) ?? 0)) / 1000);
    return {
      aboutReleased,
      imageLists: requests.filter((request) => /\/os\?/.test(request)).length,
      requests: requests.length,
      claims,
    };
  } finally {
    await stop();
  }
};
