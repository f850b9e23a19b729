import assert from 'node:assert/strict';
import { labels, type MacFleet, macFleet } from '@tartan/api';
import { type Client, defineResource, type KubeObject, type Live } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { ensureBinaries } from '@tartan/tools-kubernetes';
import { setPaused } from '../../../packages/cli/src/roll/pause.ts';
import { createWaits } from '../../system/waits.ts';
import { chart as thisChart, run, type CommandResult } from './helm.ts';
import type { ChartPlane } from './plane.ts';

/** One way in which helm applies a release. */
export interface ApplyMethod {
  readonly name: string;
  readonly helm: 'helm' | 'helm-3';
  readonly install: readonly string[];
  /** For upgrades and rollbacks. */
  readonly later: readonly string[];
}

export const applyMethods: readonly ApplyMethod[] = [
  { name: 'helm 3', helm: 'helm-3', install: [], later: [] },
  { name: 'helm 4, client-side', helm: 'helm', install: ['--server-side=false'], later: ['--server-side=false'] },
  { name: 'helm 4, server-side', helm: 'helm', install: ['--server-side=true'], later: ['--server-side=true'] },
  {
    name: 'helm 4, server-side, --force-conflicts',
    helm: 'helm',
    install: ['--server-side=true'],
    later: ['--server-side=true', '--force-conflicts'],
  },
];

interface MachineDeployment extends KubeObject {
  spec?: { replicas?: number };
  status?: { observedGeneration?: number; replicas?: number };
}
const core = { group: 'cluster.x-k8s.io', version: 'v1beta2', namespaced: true } as const;
const machineDeployments = defineResource<MachineDeployment>({
  ...core,
  kind: 'MachineDeployment',
  plural: 'machinedeployments',
});
export const coreMachines = defineResource<KubeObject>({ ...core, kind: 'Machine', plural: 'machines' });

/** A release with one fleet, in its own namespace, applied in one way. */
export const fleetRelease = async (harness: ChartPlane, client: Client, way: ApplyMethod, namespace: string) => {
  const binaries = await ensureBinaries(['helm', 'helm-3']);
  const env = { ...process.env, KUBECONFIG: harness.plane.adminKubeconfigPath, HOME: harness.plane.dir };
  const release = `tartan-${namespace}`;
  const fleet = `${release}-macos-fleet`;
  await harness.done(['create', 'namespace', namespace]);
  const helm = async (args: readonly string[], values?: object): Promise<CommandResult> => {
    const input = values === undefined ? '' : JSON.stringify(values);
    const all = [...args, '--namespace', namespace, '--no-hooks', ...(values ? ['--values', '-'] : [])];
    const said = await run(binaries[way.helm], all, input, env);
    assert.equal(said.code, 0, `helm ${args.join(' ')}: ${said.stderr}`);
    return said;
  };
  const waits = createWaits(client, undefined, namespace);
  const valuesOf = (values: object) => ({ macosFleet: { enabled: true, ...values } });
  const machines = async (): Promise<readonly Live<KubeObject>[]> =>
    (await client.list(coreMachines, { namespace })).items;
  return {
    fleet,
    install: (chart: string, values: object) =>
      helm(['install', release, chart, '--skip-crds', ...way.install], valuesOf(values)),
    upgrade: (values: object, chart = thisChart) => helm(['upgrade', release, chart, ...way.later], valuesOf(values)),
    rollback: (revision: number) => helm(['rollback', release, String(revision), ...way.later]),
    scale: (replicas: number) =>
      harness.done(['-n', namespace, 'scale', 'machinedeployment', fleet, `--replicas=${replicas}`]),
    pause: async (paused: boolean) => {
      const { changed } = await setPaused({ client, clock }, { name: fleet, namespace, paused }, {});
      assert.equal(changed, true);
    },
    macFleet: (what: string, holds: (fleet: Live<MacFleet>) => boolean) =>
      waits.waitFor(macFleet.resource, fleet, what, holds),
    deployment: (what: string, holds: (deployment: Live<KubeObject>) => boolean) =>
      waits.waitFor(machineDeployments, fleet, what, holds),
    /**
     * Waits until core has finished and the fleet controller has seen it. Returns the UIDs of the machines, of which none is being deleted.
     */
    settled: async (replicas: number): Promise<readonly string[]> => {
      await waits.waitFor(
        machineDeployments,
        fleet,
        `has ${replicas} machines, and is seen by core`,
        ({ metadata, spec, status }) =>
          spec?.replicas === replicas &&
          status?.replicas === replicas &&
          status.observedGeneration === metadata.generation,
      );
      await waits.waitFor(
        macFleet.resource,
        fleet,
        `is seen, with ${replicas} wanted`,
        ({ metadata, status }) => status?.observedGeneration === metadata.generation && status?.desired === replicas,
      );
      const found = await machines();
      for (const { metadata } of found) {
        assert.equal(metadata.deletionTimestamp, undefined, `${metadata.name} is being deleted`);
        assert.equal(metadata.labels?.[labels.fleet], fleet);
      }
      assert.equal(found.length, replicas);
      return found.map(({ metadata }) => metadata.uid).toSorted();
    },
  };
};

export type FleetRelease = Awaited<ReturnType<typeof fleetRelease>>;
