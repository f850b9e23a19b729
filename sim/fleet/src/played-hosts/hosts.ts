import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { agentArguments, summaryOf, wantedStamps } from '@tartan/host';
import type { Logger } from '@tartan/kube';
import { type Clock, type Random, sleep } from '@tartan/kube/clock';
import type { ProviderDeps } from '@tartan/provider';
import type { HostPool } from '@tartan/scaleway';
import { z } from 'zod';
import { createPlayedAgent } from './agent.ts';

type HostWork = NonNullable<ProviderDeps['hostWork']>;
type HostJob = Parameters<HostWork['perform']>[0];
type Convergence = Extract<HostJob['task'], { kind: 'converge' }>;

interface PlayedHostsOptions {
  /** A folder per Mac, so that agents continue after a restart of this process. */
  readonly folder: string;
  /** How long a push takes. */
  readonly pushMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** An installed agent, as launchd would know it. */
const jobSchema = z.object({ version: z.string(), arguments: z.array(z.string()) });
type AgentJob = z.infer<typeof jobSchema>;

interface RunningAgent {
  readonly job: string;
  stop(): Promise<void>;
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';
const readIfPresent = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });

const writeFiles = async (files: Readonly<Record<string, string>>): Promise<void> => {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(file), { recursive: true });
    // The agent reads them at any time, and ignores names with a dot.
    const unfinished = join(dirname(file), '.unfinished');
    await writeFile(unfinished, text, { mode: 0o600 });
    await rename(unfinished, file);
  }
};

/**
 * Macs without SSH and shells: each accepts every push, and its agent then joins the cluster.
 * Guarantees: a Mac shows one host key for each install. A reinstall stops its agent and empties its disk; a reboot restarts its agent.
 * Caveats: a push never fails, and a builder has no runner.
 */
export const createPlayedHosts = ({ folder, pushMs, clock, random, log }: PlayedHostsOptions) => {
  const agents = new Map<string, RunningAgent>();
  /** Changes of a Mac, one after the other. */
  const changes = new Map<string, Promise<unknown>>();
  const inTurn = <T>(address: string, change: () => Promise<T>): Promise<T> => {
    const next = (changes.get(address) ?? Promise.resolve()).then(change);
    changes.set(
      address,
      next.catch(() => {}),
    );
    return next;
  };
  const paths = (address: string) => ({
    disk: join(folder, address),
    hostKey: join(folder, address, 'host-key'),
    job: join(folder, address, 'agent.json'),
    stamps: join(folder, address, 'steps'),
  });

  const start = (address: string, job: AgentJob): void => {
    const { disk, stamps } = paths(address);
    const stopping = new AbortController();
    const running = createPlayedAgent({ folder: disk, stamps, ...job, clock, random, log }).run(stopping.signal);
    running.catch((error: unknown) => log.error('The agent of a played Mac has failed', { address, error }));
    agents.set(address, {
      job: JSON.stringify(job),
      stop: async () => {
        stopping.abort();
        await running.catch(() => {});
      },
    });
  };
  const stop = async (address: string): Promise<void> => {
    const agent = agents.get(address);
    agents.delete(address);
    await agent?.stop();
  };
  const boot = async (address: string): Promise<void> => {
    const text = await readIfPresent(paths(address).job);
    if (text !== undefined) start(address, jobSchema.parse(JSON.parse(text)));
  };

  const hostKeyOf = async (address: string): Promise<string> => {
    const { hostKey } = paths(address);
    const known = await readIfPresent(hostKey);
    if (known !== undefined) return known;
    const fresh = `SHA256:${randomBytes(32).toString('base64').replaceAll('=', '')}`;
    await writeFiles({ [hostKey]: fresh });
    return fresh;
  };

  const converge = async (address: string, { spec, secrets }: Convergence): ReturnType<HostWork['perform']> => {
    const { disk, job: jobFile, stamps } = paths(address);
    const { release } = spec.agent;
    const job: AgentJob = { version: `v0.0.0-${release.sha256.slice(0, 8)}`, arguments: [...agentArguments(spec)] };
    const wanted = wantedStamps(spec);
    await writeFiles({
      ...(secrets.joinKubeconfig !== undefined && {
        [join(disk, 'etc/tart-kubelet/kubeconfig')]: secrets.joinKubeconfig,
      }),
      [jobFile]: JSON.stringify(job),
      ...Object.fromEntries(Object.entries(wanted).map(([step, hash]) => [join(stamps, step), hash])),
    });
    if (agents.get(address)?.job !== JSON.stringify(job)) {
      await stop(address);
      start(address, job);
    }
    return {
      kind: 'done',
      summary: summaryOf(wanted),
      deferred: [],
      optionalFailures: [],
      rebootPending: false,
    };
  };

  const work = async (address: string, job: HostJob): ReturnType<HostWork['perform']> => {
    const hostKey = await hostKeyOf(address);
    if (job.pinnedHostKey === undefined) {
      const isUsed = (await readIfPresent(paths(address).job)) !== undefined;
      if (isUsed || job.retiredHostKeys.includes(hostKey))
        return { kind: 'not wiped', hostKey, message: 'The Mac was not wiped after its last machine.' };
      await job.pin(hostKey);
    } else if (job.pinnedHostKey !== hostKey) {
      return { kind: 'host key changed', message: `The Mac at ${address} shows the host key ${hostKey}.` };
    }
    return job.task.kind === 'converge'
      ? converge(address, job.task)
      : { kind: 'rejected', step: 'agent-job', message: 'A played Mac keeps no earlier agent.' };
  };

  const hostWork: HostWork = {
    perform: async (job, signal) => {
      await sleep(clock, pushMs, signal);
      if (signal.aborted) return { kind: 'aborted' };
      const address = job.addresses[0]?.host;
      if (address === undefined) return { kind: 'unreachable', message: 'The Mac has no address yet.' };
      return inTurn(address, () => work(address, job));
    },
  };

  return {
    hostWork,
    /** The pool, whose Macs are wiped and rebooted here. */
    poolOf: (pool: HostPool): HostPool => ({
      ...pool,
      reinstall: async (zone, id, osID, options) => {
        const { ip } = await pool.getServer(zone, id, options);
        await pool.reinstall(zone, id, osID, options);
        await inTurn(ip, async () => {
          await stop(ip);
          await rm(paths(ip).disk, { recursive: true, force: true });
        });
      },
      reboot: async (zone, id, options) => {
        const { ip } = await pool.getServer(zone, id, options);
        await pool.reboot(zone, id, options);
        await inTurn(ip, async () => {
          await stop(ip);
          await boot(ip);
        });
      },
    }),
    /** Starts the agents of an earlier process. */
    boot: async (): Promise<void> => {
      await mkdir(folder, { recursive: true });
      for (const address of await readdir(folder)) await boot(address);
    },
    stop: async (): Promise<void> => {
      await Promise.all([...agents.keys()].map(stop));
    },
  };
};
