import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Host } from '../controller-deps.ts';
import { heldBy, hostWith, wanted } from '../claim/testing/hosts.ts';
import { assignHosts } from './os-demand.ts';

type Waiting = Parameters<typeof assignHosts>[0][number];
type Assign = typeof assignHosts;

/** Searches all Macs for each machine. */
const assignBySearch: Assign = (waiting, hosts, serves, taken) =>
  waiting.filter((each) => {
    const host = hosts.find((one) => !taken.has(one.metadata.name) && serves(each, one));
    if (host) taken.set(host.metadata.name, each);
    return host === undefined;
  });

const kinds = ['Tahoe', 'Sequoia', 'Sonoma'];
const machine = fc.record({ os: fc.constantFrom(...kinds), pool: fc.constantFrom('a-', 'b-') });
/** Which kinds it serves in each of two steps, and the machine that holds it. */
const mac = fc.record({
  serves: fc.tuple(fc.subarray(kinds), fc.subarray(kinds)),
  pool: fc.constantFrom('a-', 'b-'),
  holder: fc.option(fc.nat(14)),
});

test('Macs are assigned as by a search of all Macs for each machine', () => {
  fc.assert(
    fc.property(fc.array(machine, { maxLength: 15 }), fc.array(mac, { maxLength: 15 }), (machines, macs) => {
      const waiting = machines.map(
        ({ os, pool }, at): Waiting => ({ wanted: { ...wanted, os, poolPrefix: pool, uid: `m${at}` }, since: 0 }),
      );
      const nameOf = (at: number): string => `h${String(at).padStart(2, '0')}`;
      const hosts = macs.map(({ holder }, at) =>
        hostWith(nameOf(at), holder === null ? {} : { spec: { consumerRef: heldBy('m', `m${holder}`) } }),
      );
      const macOf = new Map(macs.map((each, at) => [nameOf(at), each]));
      const inStep =
        (step: 0 | 1) =>
        ({ wanted: { os, poolPrefix, uid } }: Waiting, { metadata, spec }: Host): boolean => {
          const { serves = [[], []], pool } = macOf.get(metadata.name) ?? {};
          const holder = spec.consumerRef?.uid;
          if (holder !== undefined) return holder === uid && serves[step].length > 0;
          return pool === poolPrefix && serves[step].includes(os);
        };
      const run = (assign: Assign) => {
        const taken = new Map<string, Waiting>();
        const left = assign(waiting, hosts, inStep(0), taken);
        return { unmet: assign(left, hosts, inStep(1), taken), taken };
      };
      assert.deepEqual(run(assignHosts), run(assignBySearch));
    }),
    { numRuns: 1000 },
  );
});
