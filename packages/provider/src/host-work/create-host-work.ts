import {
  connect,
  type ConnectOutcome,
  convergeHost,
  type ConvergeOptions,
  type HostConnection,
  type Inventory,
  preparationSteps,
  readInventory,
  rollBackAgent,
} from '@tartan/host';
import { createRedactor } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import {
  type HostJob,
  type HostWork,
  outcomeOfConnection,
  outcomeOfHost,
  outcomeOfInterruption,
  outcomeOfRollBack,
  unreadableHost,
  type WorkOutcome,
} from './host-work.ts';

interface HostWorkOptions {
  readonly clock: Clock;
}

/**
 * Work on Macs over SSH.
 * Flow: connect; at the first contact check that the Mac was wiped, and store its host key; then run the task.
 * Guarantees: nothing is sent to a Mac whose host key is not the pinned one, and nothing is changed before the key is pinned. The
 * connection is always closed. An outcome contains no secret of the job.
 * Rejects for errors that no Mac causes: an unreadable private key, an invalid specification, errors of `pin`.
 */
export const createHostWork = (options: HostWorkOptions): HostWork => ({
  perform: async (job, signal) => {
    const late = captureLateSecrets(job);
    return redactOutcome(await attempt(late.job, options, signal), job, late.secrets);
  },
});

const attempt = async (job: HostJob, options: HostWorkOptions, signal: AbortSignal): Promise<WorkOutcome> => {
  const outcome = await connectOrAbort(job, options, signal);
  if (outcome === undefined) return { kind: 'aborted' };
  try {
    const retired = 'hostKey' in outcome ? retiredKeyOutcome(outcome.hostKey, job) : undefined;
    if (retired !== undefined) return retired;
    if (outcome.kind !== 'connected') return outcomeOfConnection(outcome, job);
    return await runTask(outcome.connection, job, options.clock, signal);
  } finally {
    if (outcome.kind === 'connected') await outcome.connection.close();
  }
};

/** Undefined: the caller aborted. */
const connectOrAbort = async (
  { addresses, user, privateKey, pinnedHostKey }: HostJob,
  options: HostWorkOptions,
  signal: AbortSignal,
): Promise<ConnectOutcome | undefined> => {
  try {
    const pinned = pinnedHostKey === undefined ? {} : { pinnedHostKey };
    return await connect({ ...options, addresses, user, privateKey, ...pinned, signal });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
};

const runTask = async (
  connection: HostConnection,
  job: HostJob,
  clock: Clock,
  signal: AbortSignal,
): Promise<WorkOutcome> => {
  if (job.pinnedHostKey === undefined) {
    const ended = await firstContact(connection, job, signal);
    if (ended !== undefined) return ended;
  }
  const { task, owner, report } = job;
  if (task.kind === 'roll back') return outcomeOfRollBack(await rollBackAgent(connection, owner, signal));
  const { spec, secrets, onDemandSecrets = {}, mode, idle } = task;
  const options: ConvergeOptions = { owner, idle, mode, onDemandSecrets, clock, signal, ...(report && { report }) };
  return outcomeOfHost(await convergeHost(connection, spec, secrets, options));
};

/** Redacts every message once more: outcomes become conditions and events, which many users may read. */
const redactOutcome = (outcome: WorkOutcome, { task, privateKey }: HostJob, late: readonly string[]): WorkOutcome => {
  const redactor = createRedactor();
  for (const secret of [privateKey, ...late]) redactor.add(secret);
  // macOS writes this text in place of a wrong password. It is no secret, and errors mention it.
  const secrets = task.kind === 'converge' ? Object.values(task.secrets).filter((each) => each !== '<sealed>') : [];
  for (const secret of secrets) redactor.add(secret);
  switch (outcome.kind) {
    case 'aborted':
      return outcome;
    case 'done':
      return { ...outcome, optionalFailures: outcome.optionalFailures.map((text) => redactor.text(text)) };
    case 'unreachable':
    case 'host key changed':
    case 'not wiped':
    case 'locked':
    case 'rejected':
      return { ...outcome, message: redactor.text(outcome.message) };
  }
};

/** A host key of an earlier install: that install is still on the Mac, whatever Scaleway was asked to do since. */
const retiredKeyOutcome = (hostKey: string, { pinnedHostKey, retiredHostKeys }: HostJob): WorkOutcome | undefined =>
  pinnedHostKey === undefined && retiredHostKeys.includes(hostKey)
    ? notWiped(hostKey, `it shows the SSH host key ${hostKey} of an earlier install`)
    : undefined;

/**
 * The first contact of a machine with this install of its Mac.
 * Flow: look for traces of an earlier machine → `pin` the host key.
 * Guarantees: nothing is changed on the Mac. Once it returns undefined, the key is stored, and every later connection is checked against
 * it. Rejects with the error of `pin` if the key could not be stored.
 */
const firstContact = async (
  connection: HostConnection,
  job: HostJob,
  signal: AbortSignal,
): Promise<WorkOutcome | undefined> => {
  const read = await readInventory(connection, signal);
  if (read.kind === 'unreadable host') return unreadableHost(read.cause);
  if (read.kind !== 'read') return outcomeOfInterruption(read);
  const traces = tracesOf(read.inventory);
  if (traces !== undefined) return notWiped(connection.hostKey, traces);
  await job.pin(connection.hostKey);
  return undefined;
};

/** `tartan prepare-host` sets these stamps on a Mac that no machine has used yet. */
const preparationStamps = new Set(preparationSteps.map(({ name }) => name));

const tracesOf = ({ stamps, agentRelease }: Inventory): string | undefined => {
  const foreign = Object.keys(stamps).filter((step) => !preparationStamps.has(step));
  if (foreign.length > 0) return `it has stamps of steps that this machine never ran (${foreign.sort().join(', ')})`;
  return agentRelease === undefined ? undefined : `it has a release of the agent (${agentRelease})`;
};

const notWiped = (hostKey: string, reason: string): WorkOutcome => ({
  kind: 'not wiped',
  hostKey,
  message: `The Mac was not wiped after its last machine: ${reason}. Nothing was changed on it. It has to be reinstalled.`,
});

/** The same job, recording secrets that are fetched during it, so that they can be redacted from its outcome. */
const captureLateSecrets = (job: HostJob): { readonly job: HostJob; readonly secrets: readonly string[] } => {
  const secrets: string[] = [];
  const ask = job.task.kind === 'converge' ? job.task.onDemandSecrets?.actionsRunnerToken : undefined;
  if (job.task.kind !== 'converge' || ask === undefined) return { job, secrets };
  const actionsRunnerToken: typeof ask = async (signal) => {
    const answer = await ask(signal);
    if (answer.kind === 'known') secrets.push(answer.secret);
    return answer;
  };
  return { job: { ...job, task: { ...job.task, onDemandSecrets: { actionsRunnerToken } } }, secrets };
};
