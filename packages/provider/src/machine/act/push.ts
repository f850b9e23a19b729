import type { LateSecrets } from '@tartan/host';
import { sshAddressOf } from '../../host-work/ssh-address.ts';
import type { HostJob, WorkOutcome } from '../../host-work/host-work.ts';
import { readPausesOfMachine } from '../../pause/read-pauses.ts';
import { writeMachineSecret } from '../../host-work/machine-secret.ts';
import { keyNameOf } from '../key-name.ts';
import { pinnedKey } from '../pinned.ts';
import { type Act, callOf, secretPlace } from './context.ts';

const tailnetPort = 22;

/** Does a task on the machine's Mac. Ended when the machine is being deleted or paused. */
export const push = async (act: Act, task: HostJob['task']): Promise<WorkOutcome> => {
  const { world, record, observation, signal } = act;
  const { machine } = record;
  const { login } = observation;
  const key = world.fleetKeys.of(keyNameOf(machine));
  if (login === undefined || key.kind !== 'ready')
    return { kind: 'unreachable', message: 'The login or the SSH key of the Mac is being made again.' };
  const addresses = addressesOf(act, task);
  if (addresses.length === 0) return { kind: 'unreachable', message: 'Scaleway has not said the address of the Mac.' };
  const job: HostJob = {
    addresses,
    privateKey: key.privateKey,
    user: login.username,
    pinnedHostKey: pinnedKey(machine, observation),
    retiredHostKeys: observation.host?.status?.retiredHostKeys ?? [],
    pin: (hostKey) => pin(act, hostKey),
    task,
    owner: lockOwnerOf(machine),
    report: (event) => world.log.debug('Working on a Mac', { machine: machine.metadata.name, event }),
  };
  // Credentials were made since the slot was taken, which takes its time.
  if ((await readPausesOfMachine(world, machine.metadata, { signal })).length > 0) return { kind: 'aborted' };
  world.gate.pass();
  return world.pushes.run(machine.metadata.uid, signal, (ending) => world.hostWork.perform(job, ending));
};

/**
 * The machine, and not this process: who leads next takes the lock over at once from one that was killed in the middle of a push, instead
 * of half an hour later. Each push has a word of its own besides, so one that was only frozen is refused by the Mac when it thaws; and
 * nobody gets the lock while a script is still at work.
 */
const lockOwnerOf = ({ metadata: { namespace = '', name, uid } }: Act['record']['machine']): string =>
  `machine ${namespace}/${name} (${uid})`;

/**
 * The key first, then for which install it counts: who crashes in between has no pin, and meets the Mac for the first time again, which
 * nothing has been changed on so far.
 */
const pin = async (act: Act, hostKey: string): Promise<void> => {
  const { world, record, observation } = act;
  const { login, snapshot } = observation;
  if (login === undefined || snapshot.host.kind !== 'present') throw new Error('a Mac was met that is not reserved');
  const { installs } = snapshot.host;
  await writeMachineSecret(world.client, secretPlace(act), { ...login, hostFingerprint: hostKey }, login, callOf(act));
  await record.write((status) => ({ ...status, hostKeyEpoch: installs, hostKey }));
};

const addressesOf = ({ world, record, observation }: Act, task: HostJob['task']): HostJob['addresses'] => {
  const ip = observation.host?.status?.ip;
  const address = ip === undefined ? undefined : sshAddressOf(ip);
  const tailnet = task.kind === 'converge' ? task.spec.tailscale : world.settings.tailscale;
  return [
    ...(address === undefined ? [] : [address]),
    ...(tailnet === undefined
      ? []
      : [{ host: record.machine.metadata.name, port: tailnetPort, transport: 'tailnet' as const }]),
  ];
};

/** How a push gets what the runner of a builder registers with, and what it was told. */
export interface RunnerToken {
  readonly lateSecrets: LateSecrets;
  /** Why there was none, when one was needed. */
  problem(): string | undefined;
}

/** Made only when a step has looked at the Mac and must register: a runner that is there costs GitHub no call, and needs none. */
export const runnerToken = (act: Act): RunnerToken => {
  const { world, record } = act;
  let problem: string | undefined;
  if (record.machine.spec.ghActionsRunner === undefined) return { lateSecrets: {}, problem: () => undefined };
  return {
    lateSecrets: {
      actionsRunnerToken: async (signal) => {
        const answer = await world.builderRunners.registrationToken(record.machine, { ...(signal && { signal }) });
        if (answer.kind === 'known') return { kind: 'known', secret: answer.token.reveal() };
        problem = answer.message;
        return answer;
      },
    },
    problem: () => problem,
  };
};
