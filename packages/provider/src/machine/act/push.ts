import type { OnDemandSecrets } from '@tartan/host';
import { keyOf, requeueAfter } from '@tartan/kube';
import type { Machine } from '../../controller-deps.ts';
import type { HostJob, WorkOutcome } from '../../host-work/host-work.ts';
import { writeMachineSecret } from '../../host-work/secrets.ts';
import { sshAddressOf } from '../../host-work/ssh-address.ts';
import { readMachinePauseReasons } from '../../pause/pauses.ts';
import { noSlot } from '../decision.ts';
import type { AttemptResult } from '../last-attempt.ts';
import { sshKeyName } from '../machine.ts';
import type { Observation } from '../observe.ts';
import { intervals } from '../requeue.ts';
import { type ActContext, type ActionOutput, callOptions, secretLocation } from '../options.ts';

const tailnetPort = 22;

/** The requeue depends on the outcome. */
export const pushed = (outcome: WorkOutcome): ActionOutput => ({
  result: { kind: 'pushed', outcome },
  next: requeueAfter(outcome.kind === 'aborted' ? intervals.conflict : 0),
});

/** Runs a task on the machine's Mac. Aborted when the machine is deleted or paused. */
export const push = async (context: ActContext, task: HostJob['task']): Promise<WorkOutcome> => {
  const { deps, patcher, observation, signal } = context;
  const { machine } = patcher;
  const { login } = observation;
  const key = deps.fleetKeys.of(sshKeyName(machine));
  if (login === undefined || key.kind !== 'ready')
    return { kind: 'unreachable', message: 'The login or the SSH key of the Mac is being made again.' };
  const addresses = addressesOf(context, task);
  if (addresses.length === 0) return { kind: 'unreachable', message: 'Scaleway has not said the address of the Mac.' };
  const job: HostJob = {
    addresses,
    privateKey: key.privateKey,
    user: login.username,
    pinnedHostKey: pinnedKey(machine, observation),
    retiredHostKeys: observation.host?.status?.retiredHostKeys ?? [],
    pin: (hostKey) => pinHostKey(context, hostKey),
    task,
    owner: lockOwner(machine),
    report: (event) => deps.log.debug('Working on a Mac', { machine: machine.metadata.name, event }),
  };
  // Creating credentials since the slot was acquired may have taken a while.
  if ((await readMachinePauseReasons(deps, machine.metadata, { signal })).length > 0) return { kind: 'aborted' };
  deps.gate.pass();
  return deps.pushes.run(machine.metadata.uid, signal, (ending) => deps.hostWork.perform(job, ending));
};

/**
 * The machine, and not this process: so the next leader takes over the lock of a killed push at once, instead of half an hour later. Each
 * push also has its own token, so the Mac refuses a push that was only frozen; and the lock is not granted while a script is still running.
 */
const lockOwner = ({ metadata: { namespace = '', name, uid } }: Machine): string =>
  `machine ${namespace}/${name} (${uid})`;

/**
 * The key first, then the install that it is valid for: a crash in between leaves no pin, and the first contact is repeated, with a Mac on
 * which nothing was changed.
 */
const pinHostKey = async (context: ActContext, hostKey: string): Promise<void> => {
  const { deps, patcher, observation } = context;
  const { login, snapshot } = observation;
  if (login === undefined || snapshot.host.kind !== 'present') throw new Error('a Mac was met that is not reserved');
  const { installs } = snapshot.host;
  await writeMachineSecret(
    deps.client,
    secretLocation(context),
    { ...login, hostFingerprint: hostKey },
    login,
    callOptions(context),
  );
  await patcher.updateStatus((status) => ({ ...status, hostKeyEpoch: installs, hostKey }));
};

const addressesOf = ({ deps, patcher, observation }: ActContext, task: HostJob['task']): HostJob['addresses'] => {
  const ip = observation.host?.status?.ip;
  const address = ip === undefined ? undefined : sshAddressOf(ip);
  const tailnet = task.kind === 'converge' ? task.spec.tailscale : deps.settings.tailscale;
  return [
    ...(address === undefined ? [] : [address]),
    ...(tailnet === undefined
      ? []
      : [{ host: patcher.machine.metadata.name, port: tailnetPort, transport: 'tailnet' as const }]),
  ];
};

/**
 * Provides a push with the registration token of a builder's runner, and records why there was none. Fetched only when a step has found
 * that the runner must register: an existing runner needs no call to GitHub.
 */
export const runnerTokenSource = ({ deps, patcher }: ActContext) => {
  let problem: string | undefined;
  const onDemandSecrets: OnDemandSecrets = {
    actionsRunnerToken: async (signal) => {
      const answer = await deps.builderRunners.registrationToken(patcher.machine, { ...(signal && { signal }) });
      if (answer.kind === 'known') return { kind: 'known', secret: answer.token.reveal() };
      problem = answer.message;
      return answer;
    },
  };
  const isBuilder = patcher.machine.spec.ghActionsRunner !== undefined;
  return {
    onDemandSecrets: isBuilder ? onDemandSecrets : {},
    /** Why there was no token, if one was needed. */
    problem: () => problem,
  };
};

/** The maximum number of pushes is running. The end of one wakes the machine. */
export const awaitSlot: ActionOutput = { result: noSlot, next: requeueAfter(intervals.resync) };

/**
 * Limits how many Macs are worked on at a time, and reports the start to users. Only the leader starts: otherwise a manager that was frozen
 * would create and push join credentials beside its successor.
 */
export const withPushSlot = async (
  context: ActContext,
  attempt: Pick<AttemptResult, 'task' | 'message'>,
  work: () => Promise<ActionOutput>,
): Promise<ActionOutput> => {
  const release = context.deps.slots.acquire(keyOf(context.patcher.machine.metadata));
  if (release === undefined) return awaitSlot;
  try {
    context.deps.gate.pass();
    await context.reportStarted(attempt);
    return await work();
  } finally {
    release();
  }
};

/**
 * The host key that the Mac must show. It is valid for the install that it was pinned on: of this server, and no older than its last
 * reinstall. Otherwise we would be locked out of a wiped Mac, or trust another one. Prefers the Secret, where users look; the status is the
 * backup.
 */
export const pinnedKey = (
  { metadata, status }: Machine,
  { login, snapshot }: Pick<Observation, 'login' | 'snapshot'>,
): string | undefined => {
  if (snapshot.host.kind !== 'present') return undefined;
  const stored = login?.serverID === status?.serverID ? login?.hostFingerprint : undefined;
  // The status was lost. The Secret is deleted with the Mac's other objects, so its key is of this install.
  if (status?.hostKeyEpoch === undefined) return login?.machineUID === metadata.uid ? stored : undefined;
  return status.hostKeyEpoch === snapshot.host.installs ? (stored ?? status.hostKey) : undefined;
};
