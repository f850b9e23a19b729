import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FakeRunnerOptions } from '@tartan/sim-github';
import { type AgentRelease, artifactFlags, managerProgram, runnersProgram } from './artifacts.ts';
import type { ControlPlane } from './control-plane.ts';
import { ensureFleets, type FleetSizes, fleetsOf } from './fleets.ts';
import { githubURLVariable, simulatedWork, startGitHubFor } from './github.ts';
import { demoGuestScript, openRunnerBridge, runnerGuestScript } from './guests.ts';
import { createInstaller } from './installer.ts';
import { ensureSSHKey, type MacPool, startMacPool } from './mac-pool.ts';
import { createManagerDeployment, type ManagerDeployment } from './manager-deployment.ts';
import {
  deleteRuntimeObjects,
  installProvider,
  providerFlags,
  shortIntervalFlags,
  writeProviderKubeconfig,
} from './provider.ts';
import { deleteRunners, ensureRunnerPool, installRunners, type SimulatedRunners, startRunners } from './runners.ts';
import { startClusterApi, startEmbedded, startReal, useExistingCluster } from './start-control-plane.ts';

export interface SimulationOptions {
  /** All of its files. What an earlier one has left there goes on. */
  readonly folder: string;
  /** Keep objects on the disk, so that another start can go on. */
  readonly persistent?: boolean;
  readonly kubernetes?: 'embedded' | 'real' | { readonly kubeconfig: string };
  /** Of the embedded Kubernetes; 0 takes any that is free. */
  readonly port?: number;
  /** Macs in the pool, at least. */
  readonly pool: number;
  /** Machines that are asked for, by fleet. */
  readonly fleets: FleetSizes;
  /** A simulated GitHub, runners for its jobs on the fleet of that name, and whatever builders need. None unless told. */
  readonly runners?: {
    /** More flags for their controller. */
    readonly flags?: readonly string[];
    /** What a job does once it has begun in a guest. Unless told it takes its time, and succeeds. */
    readonly work?: FakeRunnerOptions['work'];
  };
  /** 1 is as slow as real Macs. */
  readonly pace: number;
  /** Of Scaleway, where a reinstall takes 10 min. The same unless told. */
  readonly scalewayPace?: number;
  /** Of the agent that Macs get at first. */
  readonly version?: string;
  /** More flags for the provider; they win over those that it has anyway. */
  readonly flags?: readonly string[];
  readonly managers?: number;
  /** Hears what is there, in turn. */
  readonly progress?: (done: Progress) => void;
  /** A manager has ended by itself, and is started again. */
  readonly onCrash?: (code: number | null, what: string) => void;
}

export type Progress =
  | { readonly what: 'kubernetes'; readonly url: string }
  | { readonly what: 'pool'; readonly macs: number; readonly url: string }
  | { readonly what: 'provider' }
  | { readonly what: 'runners'; readonly url: string };

/**
 * A fleet on this machine, all of it as it ships but for the outside world: an embedded Kubernetes (or a real one), a simulated Scaleway
 * whose servers are simulated Macs, Cluster API core or its stand-in, and the provider, which is a process of its own with the rights of
 * its account. Agents are processes on their Macs.
 */
export interface Simulation {
  readonly folder: string;
  readonly controlPlane: ControlPlane;
  readonly macs: MacPool;
  readonly managerDeployment: ManagerDeployment;
  /** GitHub, and whoever looks after its runners. `undefined`: nobody has asked for them. */
  readonly runners: SimulatedRunners | undefined;
  /** Where managers log. */
  readonly log: string;
  /** Replaces the managers by ones that bring this agent, as an upgrade of the chart does. */
  upgrade(
    release: AgentRelease,
    how?: { readonly flags?: readonly string[]; readonly managers?: number },
  ): Promise<void>;
  /** Rejects when a part has ended that cannot be started again. */
  readonly failure: Promise<never>;
  stop(): Promise<void>;
}

const startControlPlane = (options: SimulationOptions): Promise<ControlPlane> => {
  const { folder, kubernetes = 'embedded', port = 0, persistent = false } = options;
  if (kubernetes === 'embedded')
    return startEmbedded({ folder, port, ...(persistent && { data: join(folder, 'kubernetes') }) });
  return kubernetes === 'real' ? startReal() : useExistingCluster(kubernetes.kubeconfig);
};

/** Starts all of it. Nothing is left running when that fails. */
export const startSimulation = async (options: SimulationOptions): Promise<Simulation> => {
  const { folder, persistent = false, pool, fleets, pace, version = '0.1.0', progress = () => {} } = options;
  const stops: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).toReversed()) await each();
  };
  try {
    await mkdir(folder, { recursive: true });
    const program = managerProgram(folder);
    const runnersFile = options.runners && runnersProgram(folder);
    runnersFile?.catch(() => {});
    // Whoever removes the folder must not find them there again.
    stops.push(() => Promise.allSettled([program, runnersFile]));
    const controlPlane = await startControlPlane(options);
    stops.push(controlPlane.stop);
    const { client, url } = controlPlane;
    const commonFlags = [...providerFlags, ...shortIntervalFlags, ...(options.flags ?? [])];
    // A cluster of ours goes as a whole; out of one that was there before, all goes that was put into it.
    const borrowed = typeof options.kubernetes === 'object';
    const baseObjects = createInstaller(client);
    if (borrowed) stops.push(baseObjects.remove, () => deleteRuntimeObjects(client));
    await installProvider(controlPlane, baseObjects, commonFlags);
    const github = options.runners && (await startGitHubFor(client, baseObjects));
    if (github) {
      stops.push(github.stop);
      await installRunners(baseObjects);
    }
    const runnerBridge =
      github &&
      (await openRunnerBridge({
        folder: join(folder, 'switchboard'),
        url: github.url,
        work: options.runners?.work ?? simulatedWork(pace),
      }));
    if (runnerBridge) stops.push(runnerBridge.close);
    progress({ what: 'kubernetes', url });

    const macs = await startMacPool({
      folder: join(folder, 'macs'),
      pace,
      persistent,
      ...(options.scalewayPace !== undefined && { scalewayPace: options.scalewayPace }),
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
      environment: macs.environment,
      log,
      ...(options.onCrash && { onCrash: options.onCrash }),
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
    if (borrowed) stops.push(fleetObjects.remove);
    await ensureFleets(fleetObjects, url, fleets);
    const runners =
      github && runnersFile && (await startRunners(github, { ...options, controlPlane, program: await runnersFile }));
    if (runners) {
      if (borrowed) stops.push(() => deleteRunners(client));
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
