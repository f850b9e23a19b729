import { type Artifact, summaryHash } from '@tartan/host';
import { createSecret } from '@tartan/kube';
import { type HostPool, ScalewayError, type Server } from '@tartan/scaleway';
import type { FleetKey, FleetKeys } from '../../fleet-key/controller.ts';
import type { HostSettings } from '../../host-work/host-settings.ts';
import type { HostJob, HostWork, WorkOutcome } from '../../host-work/host-work.ts';
import type { BuilderRunners, RunnerState, RunnerToken } from '../builder-runners.ts';

const artifact = (name: string): Artifact => ({ name, sha256: name.padEnd(64, '0'), size: 1, file: `/none/${name}` });

/** What Macs get; a test may choose the agent. */
export const hostSettingsWith = (release: string): HostSettings => ({
  agent: { runtime: artifact('node'), release: artifact(release), hostCPU: 8, hostMemoryMB: 14_336, maxPods: 2 },
  tart: artifact('tart'),
  nodeExporter: undefined,
  vmEgress: { allow: [] },
  tailscale: undefined,
  builder: undefined,
});

type FakeOutcome = WorkOutcome | ((job: HostJob, signal: AbortSignal) => Promise<WorkOutcome>);

/** Scripted Macs: each job takes the next outcome, or succeeds. The first contact pins the host key, as with real Macs. */
export const fakeHostWork = (hostKey = 'SHA256:first') => {
  const jobs: HostJob[] = [];
  const script: FakeOutcome[] = [];
  const work = {
    jobs,
    /** The outcomes of the next jobs, in order. */
    next: (...outcomes: readonly FakeOutcome[]) => script.push(...outcomes),
    hostKey,
    perform: async (job: HostJob, signal: AbortSignal): Promise<WorkOutcome> => {
      jobs.push(job);
      const scripted = script.shift() ?? doneOutcome(job);
      if (typeof scripted === 'function') return scripted(job, signal);
      const reached = scripted.kind === 'done' || scripted.kind === 'rejected';
      if (reached && job.pinnedHostKey === undefined) await job.pin(work.hostKey);
      return scripted;
    },
  };
  return work satisfies HostWork;
};

export const doneOutcome = (
  { task }: HostJob,
  more: Partial<Extract<WorkOutcome, { kind: 'done' }>> = {},
): WorkOutcome => ({
  kind: 'done',
  summary: task.kind === 'converge' ? summaryHash(task.spec) : 'what it had before',
  deferred: [],
  optionalFailures: [],
  rebootPending: false,
  ...more,
});

/** Scaleway, as far as the machine controller uses it. */
export const fakeHostPool = () => {
  const servers = new Map<string, Server | ScalewayError>();
  const asked: string[] = [];
  const pool: Pick<HostPool, 'getServer'> = {
    getServer: async (_zone, id) => {
      asked.push(id);
      const server = servers.get(id) ?? new ScalewayError('There is no such server.', { kind: 'not found' });
      if (server instanceof ScalewayError) throw server;
      return server;
    },
  };
  return {
    pool,
    asked,
    set: (id: string, password: string | undefined = 'hunter2') =>
      servers.set(id, {
        id,
        zone: 'fr-par-1',
        name: id,
        type: 'M2-L',
        status: 'ready',
        delivered: true,
        os: undefined,
        ip: '10.0.0.1',
        sshUsername: 'm1',
        password: password === undefined ? undefined : createSecret(password),
        createdAt: '2026-01-01T00:00:00Z',
      }),
    fail: (id: string, error: ScalewayError) => servers.set(id, error),
    remove: (id: string) => servers.delete(id),
  };
};

export const fakeFleetKeys = () => {
  let key: FleetKey = { kind: 'ready', privateKey: 'PRIVATE', publicKey: 'ssh-ed25519 AAAA' };
  const listeners = new Set<(fleet: string) => void>();
  const keys: FleetKeys = {
    of: () => key,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    keys,
    set: (next: FleetKey, fleet: string) => {
      key = next;
      for (const listener of listeners) listener(fleet);
    },
  };
};

/** The artifacts for builders. */
export const builderArtifacts: NonNullable<HostSettings['builder']> = {
  runner: artifact('runner'),
  packer: artifact('packer'),
  crane: artifact('crane'),
  oras: artifact('oras'),
};

/** GitHub's runners, for one builder. */
export const fakeBuilderRunners = () => {
  const asked: string[] = [];
  const runners = {
    asked,
    token: { kind: 'known', token: createSecret('AABB-token') } as RunnerToken,
    seen: { kind: 'none' } as RunnerState,
    /** The result of a removal that fails. */
    refusal: undefined as RunnerState | undefined,
    registrationToken: async () => {
      asked.push('token');
      return runners.token;
    },
    find: async () => {
      asked.push('look');
      return runners.seen;
    },
    remove: async (_machine: unknown, id: number) => {
      asked.push(`remove ${id}`);
      runners.seen = runners.refusal ?? { kind: 'none' };
      return runners.seen;
    },
  };
  return runners satisfies BuilderRunners;
};
