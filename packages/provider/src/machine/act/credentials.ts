import { again, isKubeError } from '@tartan/kube';
import { ScalewayError, type Server } from '@tartan/scaleway';
import { writeMachineSecret } from '../../host-work/machine-secret.ts';
import { pinnedKey } from '../pinned.ts';
import { done, type Result } from '../result.ts';
import { waits } from '../waits.ts';
import { type Act, type Acted, callOf, lookAgain, secretPlace, statusIn } from './context.ts';

/**
 * Asks Scaleway how to log in, and stores it, with or without a password: people put one into the Secret when Scaleway has none. What
 * somebody has put there for this server stays.
 */
export const fetchCredentials = async (act: Act): Promise<Acted> => {
  const { world, record, observation } = act;
  const { uid } = record.machine.metadata;
  const serverID = statusIn(act).serverID ?? '';
  const zone = observation.host?.spec.zone ?? record.machine.spec.zone;
  const before = observation.login?.serverID === serverID ? observation.login : undefined;

  const server = await ask(() => world.pool.getServer(zone, serverID, callOf(act)));
  if ('kind' in server) return { result: server, next: again(waits.others) };
  const password = usable(server.password) ?? before?.password;
  if (password !== undefined) world.redactor.add(password.reveal());
  const hostFingerprint = pinnedKey(record.machine, observation);
  const login = { serverID, username: server.sshUsername, password, hostFingerprint };
  try {
    await writeMachineSecret(world.client, secretPlace(act), login, observation.login, callOf(act));
  } catch (error) {
    if (isKubeError(error, 'conflict', 'alreadyExists', 'notFound')) return lookAgain;
    if (!isKubeError(error, 'forbidden', 'invalid')) throw error;
    const result: Result = { kind: 'no claim', reason: 'CredentialsPersistFailed', message: error.message };
    return { result, next: again(waits.others) };
  }
  if (password !== undefined || statusIn(act).initialization?.provisioned === true)
    return { result: done, next: again(0) };
  world.pauses.set(uid, waits.person);
  const { namespace, machine } = secretPlace(act);
  const message = `Scaleway knows no password of the server ${serverID}. Put it into sudo-password of the Secret ${namespace}/${machine}-bootstrap.`;
  return { result: { kind: 'no bootstrap', reason: 'MissingSudoPassword', message }, next: again(waits.person) };
};

/** What macOS writes in place of a password is none, and one try with it too many locks the user (I-36). */
const usable = (password: Server['password']): Server['password'] =>
  password === undefined || ['', '<sealed>'].includes(password.reveal()) ? undefined : password;

/** Not to be told is another thing than that there is none (I-34). */
const ask = async (get: () => Promise<Server>): Promise<Server | Result> => {
  try {
    return await get();
  } catch (error) {
    if (!(error instanceof ScalewayError)) throw error;
    return { kind: 'no bootstrap', reason: 'CredentialsRefreshFailed', message: error.message };
  }
};
