import { macHost, type ReleaseReason } from '@tartan/api';
import { patchIfUnchanged, requeueAfter } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { osFamilyKey } from '@tartan/scaleway';
import { type Release, releaseHeldHost } from '../../claim/claim-host.ts';
import { omitUndefined } from '../../omit-undefined.ts';
import type { WorkOutcome } from '../../host-work/host-work.ts';
import { clusterNameOf, readMachinePauseReasons } from '../../pause/pauses.ts';
import { type ActionResult } from '../decision.ts';
import { lastAttemptOf } from '../last-attempt.ts';
import { intervals } from '../requeue.ts';
import { type ActContext, type ActionOutput, callOptions, currentStatus, requeue, requeueStale } from '../options.ts';
import { pinnedKey } from './push.ts';

/**
 * Requests the one restart that may help. The time of the request is that of the last failure: after a crash before it is recorded, the
 * same restart is requested again, not another one.
 */
export const reboot = async (context: ActContext): Promise<ActionOutput> => {
  const { deps, patcher, observation } = context;
  const { host } = observation;
  if (host === undefined) return requeueStale;
  const requestedAt = lastAttemptOf(currentStatus(context))?.at || timestamp(observation.snapshot.now);
  const change = { spec: { reboot: { requestedAt } } };
  await patchIfUnchanged(deps.client, macHost.resource, host, change, callOptions(context));
  await patcher.updateStatus((status) => ({ ...status, bootstrapRebootIssued: true }));
  return requeue(intervals.poll);
};

/** The Mac cannot be provisioned: it is released and quarantined. Only requests the release; the next pass detaches the host. */
export const releaseFailedHost = (context: ActContext, poolPrefix: string): Promise<ActionOutput> => {
  const { count = 0, message: last } = lastAttemptOf(currentStatus(context)) ?? {};
  const message = `The bootstrap failed in ${count} attempts.${last ? ` The last one: ${last}` : ''}`;
  return requestRelease(context, { poolPrefix, reason: 'BootstrapExhausted', message }, requeue(0));
};

/** At once, without retries: nothing on it may be touched, since it belongs to another machine. */
export const releaseUnwipedHost = (
  context: ActContext,
  outcome: Extract<WorkOutcome, { kind: 'not wiped' }>,
): Promise<ActionOutput> => {
  const { observation } = context;
  const { message, hostKey } = outcome;
  const result: ActionResult = { kind: 'pushed', outcome };
  const poolPrefix = observation.host?.spec.poolPrefix || observation.wanted.poolPrefix;
  if (!poolPrefix) return Promise.resolve({ result, next: requeueAfter(intervals.manualFix) });
  return requestRelease(
    context,
    { poolPrefix, reason: 'NotWiped', message, hostKey },
    { result, next: requeueAfter(0) },
  );
};

interface ReleaseRequest {
  readonly poolPrefix: string;
  readonly reason: ReleaseReason;
  readonly message?: string;
  readonly hostKey?: string;
}

const maxMessageLength = 1024;

/** One guarded write, only while this machine holds the Mac and is not paused. Otherwise the next pass finds out. */
export const requestRelease = async (
  context: ActContext,
  request: ReleaseRequest,
  accepted: ActionOutput,
): Promise<ActionOutput> => {
  const { deps, patcher } = context;
  // A push may have taken minutes since the machine was read.
  if ((await readMachinePauseReasons(deps, patcher.machine.metadata, callOptions(context))).length > 0)
    return requeueStale;
  const outcome = await releaseHeldHost(deps.client, {
    ...callOptions(context),
    serverID: currentStatus(context).serverID ?? '',
    holder: patcher.machine.metadata.uid,
    release: releaseOf(context, request),
  });
  return outcome === 'released' ? accepted : requeueStale;
};

const releaseOf = (context: ActContext, { poolPrefix, reason, message, hostKey }: ReleaseRequest): Release => {
  const { deps, patcher, observation } = context;
  const { namespace = '', name, uid } = patcher.machine.metadata;
  return omitUndefined({
    poolPrefix,
    reason,
    serverName: name,
    requestedAt: timestamp(deps.clock.now()),
    family: familyOf(patcher.machine.spec.os) || undefined,
    message: message?.slice(0, maxMessageLength) || undefined,
    hostKey: (hostKey ?? pinnedKey(patcher.machine, observation)) || undefined,
    machine: omitUndefined({ namespace, name, uid, cluster: clusterNameOf(patcher.machine)?.name }),
  });
};

/** Older specs name an image: its family is installed (INC-328). */
const familyOf = (os: string): string => osFamilyKey(os).replace(/\d.*$/s, '');
