import { formatProviderID } from '@tartan/api';
import { isKubeError, requeueAfter } from '@tartan/kube';
import { ScalewayError, type Server } from '@tartan/scaleway';
import { reserveHost, takeHost } from '../../claim/claim-host.ts';
import { writeMachineSecret } from '../../host-work/machine-secret.ts';
import { type ActionResult, stale, succeeded } from '../decision.ts';
import { intervals } from '../requeue.ts';
import {
  type ActContext,
  type ActionOutput,
  callOptions,
  currentStatus,
  requeueStale,
  secretLocation,
} from './context.ts';
import { detachHost } from './deletion.ts';
import { pinnedKey } from './push.ts';

/** Compare-and-swap 1: the machine names the Mac, before the Mac names the machine. */
export const reserve = async (context: ActContext): Promise<ActionOutput> => {
  const { deps, patcher, observation } = context;
  if (observation.host === undefined) return requeueStale;
  const reservation = await reserveHost(deps.client, patcher.machine, observation.host, callOptions(context));
  if (reservation.kind === 'conflict') return requeueStale;
  patcher.refresh(reservation.machine);
  return { result: succeeded, next: requeueAfter(0) };
};

/** Compare-and-swap 2. Who loses it gives the reservation up, or the machine would wait for somebody else's Mac. */
export const take = async (context: ActContext): Promise<ActionOutput> => {
  const { deps, patcher, observation } = context;
  const { host, wanted, snapshot } = observation;
  const taking = { machine: patcher.machine, wanted, host, now: snapshot.now };
  const outcome = await takeHost(deps.client, { ...taking, ...callOptions(context) });
  switch (outcome.kind) {
    case 'taken':
      patcher.refresh(outcome.machine);
      return { result: succeeded, next: requeueAfter(0) };
    case 'conflict':
      return requeueStale;
    case 'lost':
      // One that was made ready keeps its server for ever, whoever has it: the next look says so.
      if (currentStatus(context).initialization?.provisioned === true)
        return { result: stale, next: requeueAfter(intervals.otherController) };
      return { ...(await detachHost(context)), result: stale };
  }
};

/**
 * Asks Scaleway how to log in, and stores it, with or without a password: people put one into the Secret when Scaleway has none. What
 * somebody has put there for this server stays.
 */
export const fetchCredentials = async (context: ActContext): Promise<ActionOutput> => {
  const { deps, patcher, observation } = context;
  const { uid } = patcher.machine.metadata;
  const serverID = currentStatus(context).serverID ?? '';
  const zone = observation.host?.spec.zone ?? patcher.machine.spec.zone;
  const before = observation.login?.serverID === serverID ? observation.login : undefined;

  const server = await readServer(() => deps.pool.getServer(zone, serverID, callOptions(context)));
  if ('kind' in server) return { result: server, next: requeueAfter(intervals.otherController) };
  const password = usablePassword(server.password) ?? before?.password;
  if (password !== undefined) deps.redactor.add(password.reveal());
  const hostFingerprint = pinnedKey(patcher.machine, observation);
  const login = { serverID, username: server.sshUsername, password, hostFingerprint };
  try {
    await writeMachineSecret(deps.client, secretLocation(context), login, observation.login, callOptions(context));
  } catch (error) {
    if (isKubeError(error, 'conflict', 'alreadyExists', 'notFound')) return requeueStale;
    if (!isKubeError(error, 'forbidden', 'invalid')) throw error;
    const result: ActionResult = { kind: 'claim blocked', reason: 'CredentialsPersistFailed', message: error.message };
    return { result, next: requeueAfter(intervals.otherController) };
  }
  if (password !== undefined || currentStatus(context).initialization?.provisioned === true)
    return { result: succeeded, next: requeueAfter(0) };
  deps.backoffs.set(uid, intervals.manualFix);
  const { namespace, machine } = secretLocation(context);
  const message = `Scaleway knows no password of the server ${serverID}. Put it into sudo-password of the Secret ${namespace}/${machine}-bootstrap.`;
  return {
    result: { kind: 'bootstrap blocked', reason: 'MissingSudoPassword', message },
    next: requeueAfter(intervals.manualFix),
  };
};

/** What macOS writes in place of a password is none, and one try with it too many locks the user (INC-207). */
const usablePassword = (password: Server['password']): Server['password'] =>
  password === undefined || ['', '<sealed>'].includes(password.reveal()) ? undefined : password;

/** Not to be told is another thing than that there is none (INC-204). */
const readServer = async (get: () => Promise<Server>): Promise<Server | ActionResult> => {
  try {
    return await get();
  } catch (error) {
    if (!(error instanceof ScalewayError)) throw error;
    return { kind: 'bootstrap blocked', reason: 'CredentialsRefreshFailed', message: error.message };
  }
};

/** Once, and never again: guarded by the version of the machine that had none (invariant 7). */
export const setProviderID = async (context: ActContext): Promise<ActionOutput> => {
  const { patcher, observation } = context;
  const { serverID } = currentStatus(context);
  if (observation.host === undefined || !serverID || patcher.machine.spec.providerID) return requeueStale;
  const providerID = formatProviderID({ zone: observation.host.spec.zone, serverID });
  await patcher.patchGuarded({ spec: { providerID } });
  return { result: succeeded, next: requeueAfter(0) };
};
