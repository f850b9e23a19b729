import { finalizers, formatRunnerVersion, runnerBusyCondition, secretKeys } from '@tartan/api';
import { type Client, isKubeError, type Live, nodes, pods, secrets } from '@tartan/kube';
import { type ManualClock, sleep, timestamp } from '@tartan/kube/clock';
import { type EmbeddedGitHub, runFakeRunner } from '@tartan/sim-github';
import { hasEnded, type Pod } from '../snapshot.ts';

export interface MacOptions {
  readonly client: Client;
  readonly clock: ManualClock;
  readonly github: EmbeddedGitHub;
  readonly namespace: string;
  /** How long the next job takes. */
  readonly jobMs: () => number;
  /** The behaviour of the next guest. `silent`: it never reports. `offline`: it reports a ready runner. In both no runner connects. */
  readonly guest: () => 'healthy' | 'silent' | 'offline';
  /** The release of the runner in the image. Undefined: the guest does not report it. */
  readonly version: () => string | undefined;
  /** Whether runners notice that GitHub has removed them. */
  readonly notices: () => boolean;
  /** Called for every virtual machine that is killed during a job. */
  readonly killed: (pod: string) => void;
}

interface Guest {
  readonly power: AbortController;
  state: 'boots' | 'waits' | 'works' | 'ended';
  exitCode: number;
  startedAt: number;
  version?: string | undefined;
}

/** A Mac with its agent, as far as a pool sees it: it starts assigned Pods, reports what the guest says, and stops deleted Pods. */
export const createRunnerMac = (options: MacOptions, name: string) => {
  const { client, clock, github, namespace } = options;
  const guests = new Map<string, Guest>();
  let isSilent = false;
  let holdsBack = false;

  const boot = (jitConfig: string): Guest => {
    const guest: Guest = { power: new AbortController(), state: 'boots', exitCode: 0, startedAt: clock.now() };
    const { signal } = guest.power;
    const kind = options.guest();
    const version = options.version();
    guest.version = version;
    const live = async (): Promise<void> => {
      await sleep(clock, 8000, signal);
      if (signal.aborted || kind === 'silent') return;
      guest.state = 'waits';
      if (kind === 'offline') return;
      const outcome = await runFakeRunner({
        url: 'https://github.invalid',
        fetch: github.fetch,
        clock,
        as: { jit_config: jitConfig },
        ...(version !== undefined && { version }),
        signal,
        work: async () => {
          guest.state = 'works';
          await sleep(clock, options.jobMs(), signal);
          return 'success';
        },
      });
      if (outcome === 'killed' || (outcome === 'not registered' && !options.notices())) return;
      guest.exitCode = outcome === 'job done' ? 0 : 1;
      guest.state = 'ended';
    };
    void live();
    return guest;
  };

  const statusOf = (guest: Guest) => {
    const busy = { boots: 'Unknown', waits: 'False', works: 'True', ended: undefined }[guest.state];
    const started = timestamp(guest.startedAt);
    const ended = {
      terminated: {
        exitCode: guest.exitCode,
        reason: 'Completed',
        startedAt: started,
        finishedAt: timestamp(clock.now()),
      },
    };
    const state = guest.state === 'ended' ? ended : { running: { startedAt: started } };
    const phase = guest.state !== 'ended' ? 'Running' : guest.exitCode === 0 ? 'Succeeded' : 'Failed';
    const container = { name: 'runner', image: 'x', imageID: '', ready: true, restartCount: 0, state };
    return {
      phase,
      containerStatuses: [container],
      ...(busy && {
        conditions: [
          {
            type: runnerBusyCondition,
            status: busy,
            ...(guest.version !== undefined && { message: formatRunnerVersion(guest.version) }),
          },
        ],
      }),
    };
  };

  const tell = async (pod: Live<Pod>, guest: Guest): Promise<void> => {
    const status = statusOf(guest);
    const said = JSON.stringify([pod.status?.phase, pod.status?.conditions?.at(-1)?.status]);
    if (
      said === JSON.stringify([status.phase, status.conditions?.[0]?.status ?? pod.status?.conditions?.at(-1)?.status])
    )
      return;
    const at = { namespace, name: pod.metadata.name };
    await client.patch(pods, at, { type: 'merge', body: { status } }, { subresource: 'status' });
  };

  const look = async (pod: Live<Pod>): Promise<void> => {
    const { uid, name: podName, deletionTimestamp } = pod.metadata;
    const guest = guests.get(uid);
    const at = { namespace, name: podName };
    if (deletionTimestamp !== undefined) {
      if (holdsBack) return;
      if (guest?.state === 'works') options.killed(podName);
      guest?.power.abort();
      guests.delete(uid);
      if ((pod.metadata.finalizers ?? []).length > 0)
        await client.patch(pods, at, { type: 'merge', body: { metadata: { finalizers: null } } });
      await client.delete(pods, at, { gracePeriodSeconds: 0 }).catch((error: unknown) => {
        if (!isKubeError(error, 'notFound')) throw error;
      });
      return;
    }
    if (hasEnded(pod)) return;
    if (guest !== undefined) return tell(pod, guest);
    const jitConfig = await client.get(secrets, at).then(
      ({ data }) => data?.[secretKeys.runner.jitConfig],
      () => undefined,
    );
    if (jitConfig === undefined) return;
    const held = { metadata: { finalizers: [finalizers.vmCleanup] } };
    await client.patch(pods, at, { type: 'merge', body: held });
    const started = boot(Buffer.from(jitConfig, 'base64').toString());
    guests.set(uid, started);
    await tell(pod, started);
  };

  const setReady = (status: 'True' | 'Unknown') =>
    client.patch(
      nodes,
      { name },
      {
        type: 'merge',
        body: { status: { conditions: [{ type: 'Ready', status, lastTransitionTime: timestamp(clock.now()) }] } },
      },
      { subresource: 'status' },
    );

  return {
    name,
    guests,
    join: async () => {
      await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
      await setReady('True');
    },
    cordon: (unschedulable: boolean) =>
      client.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable } } }),
    /** The agent neither reports nor acts; guests continue. */
    setSilent: async (silent: boolean) => {
      isSilent = silent;
      await setReady(silent ? 'Unknown' : 'True');
    },
    /** Whether the agent leaves deleted Pods as they are. */
    holdBack: (held: boolean) => {
      holdsBack = held;
    },
    /** The Mac is gone for good. */
    vanish: async () => {
      for (const guest of guests.values()) guest.power.abort();
      guests.clear();
      isSilent = true;
      await client.delete(nodes, { name });
    },
    turn: async (ofAll: readonly Live<Pod>[]) => {
      if (isSilent) return;
      for (const pod of ofAll) if (pod.spec?.nodeName === name) await look(pod);
    },
    stop: () => {
      for (const guest of guests.values()) guest.power.abort();
    },
  };
};

export type RunnerMac = ReturnType<typeof createRunnerMac>;
