import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { machine as machineKind } from '@tartan/api';
import fc from 'fast-check';
import type { Host, Machine } from '../controller-deps.ts';
import { listerOf, machineIndexes, macHostIndexes } from '../indexes.ts';
import { choiceFacts, hostRequirements } from '../machine/observe/host.ts';
import { chooseHost } from './choose-host.ts';
import { exampleRelease, heldBy, hostWith } from './testing/hosts.ts';

const now = Date.parse('2026-06-01T00:00:00Z');
const machineWith = (name: string, serverID?: string): Machine => ({
  ...machineKind.make({
    metadata: { name },
    spec: { zone: 'fr-par-1', type: 'M2-L', os: 'Tahoe', adoptPoolPrefix: 'tuist-pool-' },
  }),
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  status: { ...(serverID !== undefined && { serverID }) },
});
const wanting = machineWith('a');
const wanted = hostRequirements(wanting, undefined);

const sourcesOf = (hosts: Host[], machines: Machine[] = []) => ({
  macHosts: listerOf(hosts, macHostIndexes),
  machines: listerOf(machines, machineIndexes),
  clock: { now: () => now },
});
const messageOf = (sources: ReturnType<typeof sourcesOf>): string | undefined => {
  const [choice] = choiceFacts(sources, wanting, wanted);
  return choice.kind === 'none' ? choice.message : undefined;
};

describe('why no Mac is free', () => {
  test('is told without a look at Macs that are in no pool, or of another kind', () => {
    let reads = 0;
    const others = Array.from({ length: 100 }, (_, at) =>
      at % 2 === 0
        ? hostWith(`h${at}`, { spec: { consumerRef: heldBy('b', 'uid-b') }, status: { state: 'held' } })
        : hostWith(`h${at}`, { status: { type: 'M4-M' } }),
    );
    const counted = others.map((host) =>
      Object.defineProperty({ ...host }, 'spec', { get: () => ((reads += 1), host.spec) }),
    );
    const { macHosts, ...sources } = sourcesOf(counted);
    // Builds the indexes, which an informer keeps.
    messageOf({ ...sources, macHosts });
    reads = 0;
    const message = messageOf({ ...sources, macHosts: { ...macHosts, list: () => assert.fail('all Macs were read') } });
    assert.match(message ?? '', /Instead there are: 50 M2-L with Tahoe held, 50 M4-M with Tahoe free\. Order/);
    assert.equal(reads, 0);
  });

  test('is told of its own server alone to a machine with a providerID', () => {
    const bound = { ...wanting, spec: { ...wanting.spec, providerID: 'scw-applesilicon://fr-par-1/own' } };
    const held = { spec: { consumerRef: heldBy('b', 'uid-b') } };
    const [choice] = choiceFacts(
      sourcesOf([hostWith('own', held), hostWith('free'), hostWith('x', held)]),
      bound,
      wanted,
    );
    assert.match(choice.kind === 'none' ? choice.message : '', /Instead there are: 1 M2-L with Tahoe held\. Order/);
  });

  const seldom = fc.nat(7).map((number) => number === 0);
  const mac = fc.record({
    holder: fc.constantFrom(undefined, undefined, 'uid-b'),
    release: seldom,
    zone: fc.constantFrom('fr-par-1', 'fr-par-1', 'fr-par-3'),
    deleting: seldom,
    reserved: seldom,
    abandoned: seldom,
    status: fc.record(
      {
        type: fc.constantFrom('M2-L', 'M2-L', 'M4-M'),
        state: fc.constantFrom('pool', 'pool', 'held', 'releasing', 'quarantined', 'stranded', 'abandoned'),
        name: fc.constantFrom('tuist-pool-1', 'other-pool-1'),
        osFamily: fc.constantFrom('Tahoe', 'Sequoia'),
        serverStatus: fc.constantFrom('ready', 'rebooting'),
        gone: seldom,
      },
      { requiredKeys: [] },
    ),
  });
  test('is the same as by a look at all Macs', () => {
    let told = 0;
    fc.assert(
      fc.property(fc.array(mac, { maxLength: 20, size: 'max' }), (macs) => {
        const hosts = macs.map(({ holder, release, zone, deleting, abandoned, status }, at): Host => {
          const { status: _, ...host } = hostWith(`h${at}`, {
            spec: { zone, ...(holder ? { consumerRef: heldBy('b', holder) } : release && { release: exampleRelease }) },
            metadata: {
              ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
              ...(abandoned && { annotations: { 'tuist.dev/abandon': '' } }),
            },
          });
          return Object.keys(status).length === 0 ? host : { ...host, status: status };
        });
        // Whether a Mac of another kind is reserved is not told.
        const isOfKind = ({ spec, status }: Host): boolean =>
          spec.zone === 'fr-par-1' && status?.type === 'M2-L' && status.state === 'pool';
        const reserved = hosts.filter((host, at) => macs[at]?.reserved && isOfKind(host));
        const machines = reserved.map(({ metadata }, at) => machineWith(`r${at}`, metadata.name));
        const listed = hosts.filter(({ status }) => status?.gone !== true);
        const choice = chooseHost(wanted, {
          candidates: listed,
          hosts: () => listed,
          counts: () => new Map(),
          isReservedByOther: (id) => reserved.some(({ metadata }) => metadata.name === id),
          now,
        });
        if (choice.kind !== 'none') return;
        told += 1;
        assert.equal(messageOf(sourcesOf(hosts, machines)), choice.message);
      }),
      { numRuns: 2000 },
    );
    assert.ok(told > 200, `only ${told} times was no Mac free`);
  });
});
