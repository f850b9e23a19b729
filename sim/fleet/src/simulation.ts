import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FakeRunnerOptions } from '@tartan/sim-github';
import { type AgentRelease, artifactFlags, managerProgram, playedHostsProgram, runnersProgram } from './artifacts.ts';
import type { ControlPlane } from './control-plane.ts';
import { ensureFleets, type FleetSizes, fleetsOf } from './fleets.ts';
import { githubURLVariable, simulatedWork, startGitHubFor } from './github.ts';
import { demoGuestScript, openRunnerBridge, runnerGuestScript } from './guests.ts';
import { createInstaller } from './installer.ts';
import { ensureSSHKey, type MacPool, startMacPool } from './mac-pool.ts';
import { createManagerDeployment, type ManagerDeployment } from './manager-deployment.ts';
import { playedHostsVariable } from './played-hosts/variable.ts';
import {
  deleteRuntimeObjects,
  installProvider,
  providerFlags,
  shortIntervalFlags,
  writeProviderKubeconfig,
} from './provider.ts';
import { deleteRunners, ensureRunnerPool, installRunners, type SimulatedRunners, startRunners } from './runners.ts';
import { startClusterApi, startEmbedded, startReal, useExistingCluster } from './start-control-plane.ts';

export const hostKinds = ['simulated', 'played'] as const;
export type HostKind = (typeof hostKinds)[number];

export interface SimulationOptions {
  /** The folder of all files. An earlier simulation in it is continued. */
  readonly folder: string;
  /** Keeps the objects on disk, so that the next start continues. */
  readonly persistent?: boolean;
  readonly kubernetes?: 'embedded' | 'real' | { readonly kubeconfig: string };
  /** Of the embedded Kubernetes; 0: any free port. */
  readonly port?: number;
  /**
   * `simulated`: Macs with SSH, a shell and the agent as a process. `played`: Macs of which only the agents' part exists, in the process
   * of the provider. Default: simulated.
   */
  readonly hosts?: HostKind;
  /** Minimum number of Macs. */
  readonly pool: number;
  /** Desired machines. */
  readonly fleets: FleetSizes;
  /** A simulated GitHub, runners for its jobs on the fleet runners, and the software of builders. */
  readonly runners?: {
    /** Additional flags of the runners controller. */
    readonly flags?: readonly string[];
    /** The work of a job in a guest. Default: takes some time, and succeeds. */
    readonly work?: FakeRunnerOptions['work'];
  };
  /** 1: as slow as real Macs. */
  readonly pace: number;
  /** Of Scaleway, where a reinstall takes 10 min. Default: `pace`. */
  readonly scalewayPace?: number;
  /** Of the first agent. */
  readonly version?: string;
  /** Additional flags of the provider, which override its other flags. */
  readonly flags?: readonly string[];
  readonly managers?: number;
  /** Called when a part has started. */
  readonly progress?: (done: Progress) => void;
  /** Called when a manager has crashed. It is restarted. */
  readonly onCrash?: (code: number | null, what: string) => void;
}

export type Progress =
  | { readonly what: 'kubernetes'; readonly url: string }
  | { readonly what: 'pool'; readonly macs: number; readonly url: string }
  | { readonly what: 'provider' }
  | { readonly what: 'runners'; readonly url: string };

/**
 * A fleet on this machine: an embedded or real Kubernetes, a simulated Scaleway with simulated Macs, Cluster API core or its stand-in,
 * and the provider as a process with its own service account. Agents are processes on the Macs.
 */
export interface Simulation {
  readonly folder: string;
  readonly controlPlane: ControlPlane;
  readonly macs: MacPool;
  readonly managerDeployment: ManagerDeployment;
  /** Undefined: the simulation has no runners. */
  readonly runners: SimulatedRunners | undefined;
  /** The log file of the managers. */
  readonly log: string;
  /** Replaces the managers by ones that roll out this agent, as an upgrade of the chart does. */
  upgrade(
    release: AgentRelease,
    how?: { readonly flags?: readonly string[]; readonly managers?: number },
  ): Promise<void>;
  /** Rejects when a part has failed that cannot be restarted. */
  readonly failure: Promise<never>;
  stop(): Promise<void>;
}

const startControlPlane = (options: SimulationOptions): Promise<ControlPlane> => {
  const { folder, kubernetes = 'embedded', port = 0, persistent = false } = options;
  if (kubernetes === 'embedded')
    return startEmbedded({ folder, port, ...(persistent && { data: join(folder, 'kubernetes') }) });
  return kubernetes === 'real' ? startReal() : useExistingCluster(kubernetes.kubeconfig);
};

/** Starts a simulation. Stops all parts if one fails to start. */
export const startSimulation = async (options: SimulationOptions): Promise<Simulation> => {
  const { folder, persistent = false, pool, fleets, pace, version = '0.1.0', progress = () => {} } = options;
  const arePlayed = options.hosts === 'played';
  const stops: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).toReversed()) await each();
  };
  try {
    await mkdir(folder, { recursive: true });
    const program = arePlayed ? playedHostsProgram(folder) : managerProgram(folder);
    const runnersFile = options.runners && runnersProgram(folder);
    runnersFile?.catch(() => {});
    // The builds must not write into a removed folder.
    stops.push(() => Promise.allSettled([program, runnersFile]));
    const controlPlane = await startControlPlane(options);
    stops.push(controlPlane.stop);
    const { client, url } = controlPlane;
    const commonFlags = [...providerFlags, ...shortIntervalFlags, ...(options.flags ?? [])];
    // In an existing cluster, only the installed objects are removed at the end.
    const isExisting = typeof options.kubernetes === 'object';
    const baseObjects = createInstaller(client);
    if (isExisting) stops.push(baseObjects.remove, () => deleteRuntimeObjects(client));
    await installProvider(controlPlane, baseObjects, commonFlags);
    const github = options.runners && (await startGitHubFor(client, baseObjects));
    if (github) {
      stops.push(github.stop);
      await installRunners(baseObjects);
    }
    const runnerBridge =
      github &&
      (await openRunnerBridge({
        folder: join(folder, 'runner-bridge'),
        url: github.url,
        work: options.runners?.work ?? simulatedWork(pace),
      }));
    if (runnerBridge) stops.push(runnerBridge.close);
    progress({ what: 'kubernetes', url });

    const macs = await startMacPool({
      folder: join(folder, 'macs'),
      pace,
      persistent,
      reachable: !arePlayed,
      scalewayPace: options.scalewayPace ?? pace,
      ...(github && { environment: { [githubURLVariable]: github.url } }),
    });
    stops.push(macs.stop);
    for (const fleet of fleetsOf(fleets)) await ensureSSHKey(client, macs.pool, fleet);
    await macs.order(Math.max(0, pool - macs.scaleway.servers().length));
    progress({ what: 'pool', macs: macs.scaleway.servers().length, url: macs.scaleway.url });

    const coreLog = createWriteStream(join(folder, 'cluster-api.log'), { flags: 'a' });
    const core = controlPlane.needsClusterApi
      ? startClusterApi(controlPlane, (line) => void coreLog.write(line))
      : undefined;
    stops.push(async () => {
      await core?.stop();
      await new Promise<void>((resolve) => coreLog.end(resolve));
    });
    const log = join(folder, 'provider.log');
    const managerDeployment = createManagerDeployment({
      program: await program,
      environment: {
        ...macs.environment,
        ...(arePlayed && { [playedHostsVariable]: join(folder, 'played-hosts') }),
      },
      log,
      onCrash: options.onCrash,
    });
    stops.push(managerDeployment.stop);
    const upgrade: Simulation['upgrade'] = async (release, { flags = [], managers = options.managers } = {}) => {
      const kubeconfig = await writeProviderKubeconfig(controlPlane, folder);
      const artifacts = await artifactFlags(folder, release, {
        builders: (fleets.builders ?? 0) > 0,
        ...(runnerBridge && { guest: runnerGuestScript(runnerBridge.folder, demoGuestScript) }),
      });
      const where = github ? [`--github-api-url=${github.url}`] : [];
      await managerDeployment.replace(
        [...commonFlags, ...where, `--kubeconfig=${kubeconfig}`, ...artifacts, ...flags],
        managers,
      );
    };
    await upgrade({ version });
    progress({ what: 'provider' });
    const fleetObjects = createInstaller(client);
    if (isExisting) stops.push(fleetObjects.remove);
    await ensureFleets(fleetObjects, url, fleets);
    const runners =
      github && runnersFile && (await startRunners(github, { ...options, controlPlane, program: await runnersFile }));
    if (runners) {
      if (isExisting) stops.push(() => deleteRunners(client));
      stops.push(runners.controller.stop);
      await ensureRunnerPool(fleetObjects, fleets.runners);
      progress({ what: 'runners', url: github.url });
    }
    const failure = Promise.race([
      managerDeployment.failure,
      ...(core ? [core.failure] : []),
      ...(runners ? [runners.controller.failure] : []),
    ]);
    failure.catch(() => {});
    return { folder, controlPlane, macs, managerDeployment, runners, log, upgrade, failure, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
