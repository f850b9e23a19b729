import type { OnDemandSecrets } from '@tartan/host';
import { requeueAfter } from '@tartan/kube';
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

/** The next reconcile waits for as long as the outcome asks for. */
export const pushed = (outcome: WorkOutcome): ActionOutput => ({
  result: { kind: 'pushed', outcome },
  next: requeueAfter(outcome.kind === 'aborted' ? intervals.conflict : 0),
});

/** Does a task on the machine's Mac. Ended when the machine is being deleted or paused. */
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
  // Credentials were made since the slot was taken, which takes its time.
  if ((await readMachinePauseReasons(deps, machine.metadata, { signal })).length > 0) return { kind: 'aborted' };
  deps.gate.pass();
  return deps.pushes.run(machine.metadata.uid, signal, (ending) => deps.hostWork.perform(job, ending));
};

/**
 * The machine, and not this process: who leads next takes the lock over at once from one that was killed in the middle of a push, instead
 * of half an hour later. Each push has a word of its own besides, so one that was only frozen is refused by the Mac when it thaws; and
 * nobody gets the lock while a script is still at work.
 */
const lockOwner = ({ metadata: { namespace = '', name, uid } }: Machine): string =>
  `machine ${namespace}/${name} (${uid})`;

/**
 * The key first, then for which install it counts: who crashes in between has no pin, and meets the Mac for the first time again, which
 * nothing has been changed on so far.
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
 * How a push gets what the runner of a builder registers with, and what it was told. Made only when a step has looked at the Mac and must register: a runner that is there costs GitHub no call, and needs
 * none.
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
    /** Why there was none, when one was needed. */
    problem: () => problem,
  };
};

/**
 * For what works on a Mac: at most so many at a time, and users see that it has begun. Who does not lead any more begins nothing: a
 * manager that was frozen would else make join credentials and push them beside its successor.
 */
export const withPushSlot = async (
  context: ActContext,
  attempt: Pick<AttemptResult, 'task' | 'message'>,
  work: () => Promise<ActionOutput>,
): Promise<ActionOutput> => {
  const release = context.deps.slots.acquire();
  if (release === undefined) return { result: noSlot, next: requeueAfter(intervals.pushSlot) };
  try {
    context.deps.gate.pass();
    await context.reportStarted(attempt);
    return await work();
  } finally {
    release();
  }
};

/**
 * The host key that the Mac must show. It counts for the install that it was met on: of this server, and no older than its last reinstall.
 * Anything else would lock us out of a Mac that was wiped, or trust one that is another. The Secret first, where people look
 * for it; who loses that has not lost the key.
 */
export const pinnedKey = (
  { metadata, status }: Machine,
  { login, snapshot }: Pick<Observation, 'login' | 'snapshot'>,
): string | undefined => {
  if (snapshot.host.kind !== 'present') return undefined;
  const stored = login?.serverID === status?.serverID ? login?.hostFingerprint : undefined;
  // The status was lost; the Secret goes with the Mac, so its key is of this install.
  if (status?.hostKeyEpoch === undefined) return login?.machineUID === metadata.uid ? stored : undefined;
  return status.hostKeyEpoch === snapshot.host.installs ? (stored ?? status.hostKey) : undefined;
};
