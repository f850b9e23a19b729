import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { annotations, macFleet, machine } from '@tartan/api';
import { type Client, createInformer, createLogger, type KubeObject, nodes, type Resource } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { connect } from '@tartan/sim-fleet';
import { unpackPreviousRelease } from '@tartan/tools-kubernetes';
import { coreMachineDeployments } from '../../packages/provider/src/core/kinds.ts';
import { createFleetController } from '../../packages/provider/src/fleet/controller.ts';
import { indexesOf } from '../../packages/provider/src/indexes.ts';
import { coreMachines, type FleetRelease, fleetRelease, applyMethods } from './chart/fleet-release.ts';
import { type ChartPlane, startChartPlane } from './chart/plane.ts';

/** Only the fleet controller, as in the manager. Macs are not provisioned: only the set of Machines counts. */
const startFleetController = async (client: Client, signal: AbortSignal): Promise<void> => {
  const log = createLogger({ clock, level: 'error', write: (line) => process.stderr.write(line) });
  const follow = async <T extends KubeObject>(resource: Resource<T>) => {
    const cache = createInformer({
      client,
      resource,
      indexes: indexesOf(resource),
      clock,
      random: Math.random,
      log,
    });
    void cache.run(signal);
    await cache.synced;
    return cache;
  };
  const deployments = coreMachineDeployments('v1beta2');
  const controller = createFleetController({
    client,
    macFleets: await follow(macFleet.resource),
    machines: await follow(machine.resource),
    nodes: await follow(nodes),
    clusters: { get: () => undefined, subscribe: () => () => {} },
    machineDeployments: await follow(deployments),
    machineDeploymentResource: deployments,
    events: { event: () => {} },
    revisionOf: async () => 'r1',
    releaseID: undefined,
    retryAfterMs: undefined,
    clock,
    log,
  });
  void controller.run(signal);
};

interface Story {
  readonly title: string;
  /** How many Machines a user removes by `kubectl scale`. */
  readonly scaledAway?: number;
  /** Starts with eight Machines of the previous chart; returns how many there are in the end. */
  play(release: FleetRelease): Promise<number>;
}

const isPaused = (release: FleetRelease): Promise<unknown> =>
  release.macFleet('is paused', ({ spec }) => spec.paused || spec.pausedByRelease === true);

const stories: readonly Story[] = [
  {
    title: 'an upgrade, a rollback and another upgrade',
    play: async (release) => {
      await release.upgrade({ replicas: 8 });
      await release.settled(8);
      await release.rollback(1);
      await release.settled(8);
      await release.upgrade({ replicas: 8 });
      return 8;
    },
  },
  {
    title: 'kubectl scale up before the upgrade, and up again after it, then a rollback',
    play: async (release) => {
      await release.scale(9);
      await release.upgrade({ replicas: 8 });
      await release.settled(9);
      await release.upgrade({ replicas: 8, waitForMacs: false });
      await release.scale(10);
      await release.upgrade({ replicas: 8 });
      await release.settled(10);
      await release.rollback(3);
      return 10;
    },
  },
  {
    title: 'kubectl scale down before the upgrade, and down again after it, then a rollback',
    scaledAway: 2,
    play: async (release) => {
      await release.scale(7);
      await release.settled(7);
      await release.upgrade({ replicas: 8 });
      await release.scale(6);
      await release.settled(6);
      await release.upgrade({ replicas: 8, waitForMacs: false });
      await release.settled(6);
      await release.rollback(2);
      return 6;
    },
  },
  {
    title: 'a number, null, and the number again, with kubectl scale in between',
    play: async (release) => {
      await release.upgrade({ replicas: null });
      await release.settled(8);
      await release.upgrade({ replicas: 8 });
      await release.scale(9);
      await release.upgrade({ replicas: null });
      await release.settled(9);
      await release.upgrade({ replicas: 8 });
      return 9;
    },
  },
  {
    title: 'tartan roll pause before the upgrade, and after it, then a rollback',
    play: async (release) => {
      await release.pause(true);
      await release.upgrade({ replicas: 8 });
      await isPaused(release);
      await release.upgrade({ replicas: 8, waitForMacs: false });
      await isPaused(release);
      await release.pause(false);
      await release.upgrade({ replicas: 8 });
      await release.pause(true);
      await release.upgrade({ replicas: 8, waitForMacs: false });
      await release.rollback(4);
      await isPaused(release);
      return 8;
    },
  },
  {
    title: 'another number is written once',
    play: async (release) => {
      await release.upgrade({ replicas: 8 });
      await release.upgrade({ replicas: 10 });
      await release.settled(10);
      await release.scale(11);
      await release.upgrade({ replicas: 10, rollout: { paused: true } });
      await isPaused(release);
      return 11;
    },
  },
];

describe('eight Macs of the previous release, upgraded to this one', () => {
  let harness: ChartPlane;
  let client: Client;
  let close: () => void;
  const stopping = new AbortController();
  const folder = mkdtempSync(join(tmpdir(), 'tartan-upgrade-'));
  const before8 = join(folder, 'charts/tartan');
  const deleted = new Map<string, string[]>();

  before(async () => {
    await unpackPreviousRelease(folder, ['charts/tartan']);
    harness = await startChartPlane();
    const connection = await connect(harness.plane.adminKubeconfigPath);
    client = connection.client;
    close = () => connection.transport.close();
    await startFleetController(client, stopping.signal);
    const log = createLogger({ clock, level: 'error', write: () => {} });
    const machines = createInformer({ client, resource: coreMachines, clock, random: Math.random, log });
    machines.subscribe((change) => {
      const { metadata } = change.type === 'removed' ? change.previous : change.object;
      if (change.type !== 'removed' && metadata.deletionTimestamp === undefined) return;
      deleted.set(metadata.namespace ?? '', [...(deleted.get(metadata.namespace ?? '') ?? []), metadata.name]);
    });
    void machines.run(stopping.signal);
    await machines.synced;
  });
  after(async () => {
    stopping.abort();
    close?.();
    await harness?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  // Most of the time is spent waiting for core.
  for (const [index, way] of applyMethods.entries())
    describe(way.name, { concurrency: stories.length }, () => {
      for (const [number, { title, play, scaledAway = 0 }] of stories.entries())
        test(`keep their Machines: ${title}`, async () => {
          const namespace = `w${index}-${number}`;
          const release = await fleetRelease(harness, client, way, namespace);
          await release.install(before8, { replicas: 8 });
          const first = await release.settled(8);
          const last = await release.settled(await play(release));
          assert.equal(first.filter((uid) => !last.includes(uid)).length, scaledAway);
          assert.equal(new Set(deleted.get(namespace)).size, scaledAway);
          await release.deployment(
            'tells no autoscaler anything',
            ({ metadata }) => !(annotations.autoscalerMaxSize in (metadata.annotations ?? {})),
          );
        });
    });
});
