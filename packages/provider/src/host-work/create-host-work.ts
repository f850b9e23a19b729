import {
  connect,
  type ConnectOptions,
  type ConnectOutcome,
  convergeHost,
  type HostConnection,
  rollBackAgent,
} from '@tartan/host';
import { createRedactor } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { outcomeOfConnection } from './connection-outcome.ts';
import { firstContact, retiredKeyMet } from './first-contact.ts';
import { outcomeOfHost, outcomeOfRollBack } from './host-outcome.ts';
import type { HostJob, HostWork, WorkOutcome } from './host-work.ts';
import { overheard } from './overheard.ts';

export interface HostWorkOptions extends Pick<ConnectOptions, 'connectDeadline' | 'deadline' | 'keepalive'> {
  readonly clock: Clock;
}

/**
 * Work on Macs over SSH.
 *
 * Flow: connect; at a first contact see that the Mac was wiped, and store its host key; then the task.
 * Guarantees: nothing is sent to a Mac that shows another key than the pinned one, and nothing is changed before the key is pinned.
 * The connection is closed whatever happens. No secret of the job is in an outcome.
 * Rejects for what is no Mac's doing: a private key that cannot be read, a specification that no Mac can have, what `pin` says.
 */
export const createHostWork = (options: HostWorkOptions): HostWork => ({
  perform: async (job, signal) => {
    const late = overheard(job);
    return withoutSecrets(await attempt(late.job, options, signal), job, late.secrets);
  },
});

const attempt = async (job: HostJob, options: HostWorkOptions, signal: AbortSignal): Promise<WorkOutcome> => {
  const outcome = await reach(job, options, signal);
  if (outcome === undefined) return { kind: 'aborted' };
  try {
    const retired = 'hostKey' in outcome ? retiredKeyMet(outcome.hostKey, job) : undefined;
    if (retired !== undefined) return retired;
    if (outcome.kind !== 'connected') return outcomeOfConnection(outcome, job);
    return await carryOut(outcome.connection, job, options.clock, signal);
  } finally {
    if (outcome.kind === 'connected') await outcome.connection.close();
  }
};

/** Undefined when the caller did not want to wait. */
const reach = async (
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

const carryOut = async (
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
  const { spec, secrets, lateSecrets = {}, mode, idle } = task;
  const options = { owner, idle, mode, lateSecrets, clock, signal, ...(report && { report }) };
  return outcomeOfHost(await convergeHost(connection, spec, secrets, options));
};

/** Once more, over all that is said: outcomes become conditions and events, which everybody may read. */
const withoutSecrets = (outcome: WorkOutcome, { task, privateKey }: HostJob, late: readonly string[]): WorkOutcome => {
  const redactor = createRedactor();
  for (const secret of [privateKey, ...late]) redactor.add(secret);
  // What macOS leaves in place of a wrong password is no secret, and errors speak of it.
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
