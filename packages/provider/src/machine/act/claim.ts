import { formatProviderID } from '@tartan/api';
import { isKubeError, requeueAfter } from '@tartan/kube';
import { ScalewayError, type Server } from '@tartan/scaleway';
import { reserveHost, takeHost } from '../../claim/claim-host.ts';
import { writeMachineSecret } from '../../host-work/secrets.ts';
import { blocked, stale } from '../decision.ts';
import type { Outcome } from '../last-attempt.ts';
import { intervals } from '../requeue.ts';
import { isProvisioned } from '../snapshot.ts';
import {
  type ActContext,
  type ActionOutput,
  callOptions,
  currentStatus,
  requeue,
  requeueStale,
  secretLocation,
} from '../options.ts';
import { detachHost } from './deletion.ts';
import { pinnedKey } from './push.ts';

/** Compare-and-swap 1: the machine names the Mac, before the Mac names the machine. */
export const reserve = async (context: ActContext): Promise<ActionOutput> => {
  const { deps, patcher, observation } = context;
  if (observation.host === undefined) return requeueStale;
  const reservation = await reserveHost(deps.client, patcher.machine, observation.host, callOptions(context));
  if (reservation === undefined) return requeueStale;
  patcher.refresh(reservation);
  return requeue(0);
};

/** Compare-and-swap 2. If it is lost, the reservation is removed, or the machine would wait for the Mac of another machine. */
export const take = async (context: ActContext): Promise<ActionOutput> => {
  const { deps, patcher, observation } = context;
  const { host, wanted, snapshot } = observation;
  const taking = { machine: patcher.machine, wanted, host, now: snapshot.now };
  const outcome = await takeHost(deps.client, { ...taking, ...callOptions(context) });
  switch (outcome.kind) {
    case 'taken':
      patcher.refresh(outcome.machine);
      return requeue(0);
    case 'conflict':
      return requeueStale;
    case 'lost':
      // A provisioned machine keeps its server for ever, even if another machine holds it: the next pass reports that.
      if (isProvisioned(currentStatus(context))) return { result: stale, next: requeueAfter(intervals.poll) };
      return { ...(await detachHost(context)), result: stale };
  }
};

/**
 * Reads the login from Scaleway and stores it, with or without a password: users put one into the Secret if Scaleway has none. What a user
 * has stored for this server stays.
 */
export const fetchCredentials = async (context: ActContext): Promise<ActionOutput> => {
  const { deps, patcher, observation } = context;
  const serverID = currentStatus(context).serverID ?? '';
  const zone = observation.host?.spec.zone ?? patcher.machine.spec.zone;
  const before = observation.login?.serverID === serverID ? observation.login : undefined;

  const server = await readServer(() => deps.pool.getServer(zone, serverID, callOptions(context)));
  if (server instanceof ScalewayError) return credentialsMissing(context, 'CredentialsRefreshFailed', server.message);
  const password = usablePassword(server.password) ?? before?.password;
  if (password !== undefined) deps.redactor.add(password.reveal());
  const hostFingerprint = pinnedKey(patcher.machine, observation);
  const login = { serverID, username: server.sshUsername, password, hostFingerprint };
  try {
    await writeMachineSecret(deps.client, secretLocation(context), login, observation.login, callOptions(context));
  } catch (error) {
    if (isKubeError(error, 'conflict', 'alreadyExists', 'notFound')) return requeueStale;
    if (!isKubeError(error, 'forbidden', 'invalid')) throw error;
    return credentialsMissing(context, 'CredentialsPersistFailed', error.message);
  }
  if (password !== undefined || isProvisioned(currentStatus(context))) {
    deps.failedReads.forget(patcher.machine.metadata.uid);
    return requeue(0);
  }
  const { namespace, machine } = secretLocation(context);
  const message = `Scaleway knows no password of the server ${serverID}. Put it into sudo-password of the Secret ${namespace}/${machine}-bootstrap.`;
  return credentialsMissing(context, 'MissingSudoPassword', message);
};

/** A provisioned machine works without credentials, and keeps the records of its updates. */
const credentialsMissing = (context: ActContext, outcome: Outcome, message: string): ActionOutput => {
  context.deps.failedReads.record(context.patcher.machine, outcome);
  return {
    result: blocked,
    next: requeueAfter(intervals.poll),
    ...(!isProvisioned(currentStatus(context)) && { attempt: { task: 'Credentials', outcome, message } }),
  };
};

/** The text that macOS writes in place of a password is none, and too many attempts with it lock the user (INC-207). */
const usablePassword = (password: Server['password']): Server['password'] =>
  password === undefined || ['', '<sealed>'].includes(password.reveal()) ? undefined : password;

/** An error is not the same as a missing password (INC-204). */
const readServer = async (get: () => Promise<Server>): Promise<Server | ScalewayError> => {
  try {
    return await get();
  } catch (error) {
    if (!(error instanceof ScalewayError)) throw error;
    return error;
  }
};

/** Set once: guarded by the version of the machine that had none. */
export const setProviderID = async (context: ActContext): Promise<ActionOutput> => {
  const { patcher, observation } = context;
  const { serverID } = currentStatus(context);
  if (observation.host === undefined || !serverID || patcher.machine.spec.providerID) return requeueStale;
  const providerID = formatProviderID({ zone: observation.host.spec.zone, serverID });
  await patcher.patchGuarded({ spec: { providerID } });
  return requeue(0);
};
