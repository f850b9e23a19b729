import { finalizers, machine as machineKind } from '@tartan/api';
import { addFinalizer, done, type ReconcileResult, requeueAfter } from '@tartan/kube';
import { moveBlockingPatch } from '../pause/pauses.ts';
import { bootstrap, reregister, retireToken } from './act/bootstrap.ts';
import { fetchCredentials, reserve, setProviderID, take } from './act/claim.ts';
import { type ActContext, type ActionOutput, requeue } from './options.ts';
import { cleanUp, detachHost, release, removeRunner } from './act/deletion.ts';
import { reboot, releaseFailedHost } from './act/remediation.ts';
import { clearFailedRoll, roll, rollBack, uncordon } from './act/roll.ts';
import { type Decision, isPassive, succeeded, type WaitingDecision, waitsForHost } from './decision.ts';
import { intervals } from './requeue.ts';

/** When a machine that only waits is reconciled again, if nothing triggers before. */
export const waitOf = (decision: WaitingDecision): ReconcileResult => {
  switch (decision.kind) {
    case 'ignore':
    case 'pause':
      return done;
    case 'await cluster':
    case 'await key':
      return requeueAfter(intervals.resync);
    case 'await runner':
      return requeueAfter(intervals.poll);
    case 'cannot claim':
      return requeueAfter(waitsForHost(decision) ? intervals.resync : intervals.manualFix);
    case 'lost host':
      return requeueAfter(intervals.manualFix);
    case 'await host':
    case 'await wipe':
    case 'back off':
    case 'wait':
      return requeueAfter(decision.forMs);
  }
};

/** Executes a decision. Each action is crash-safe after any of its writes: the next pass observes what was done, and continues. */
export const carryOut = async (context: ActContext, decision: Decision): Promise<ActionOutput> => {
  if (isPassive(decision)) return { result: succeeded, next: waitOf(decision) };
  switch (decision.kind) {
    case 'refuse':
      return requeue(intervals.manualFix);
    case 'add finalizer': {
      const { client } = context.deps;
      const { signal } = context;
      const added = await addFinalizer(client, machineKind.resource, context.patcher.machine, finalizers.machine, {
        signal,
      });
      context.patcher.refresh(added);
      return requeue(0);
    }
    case 'block move':
      await context.patcher.patchGuarded(moveBlockingPatch);
      return requeue(0);
    case 'reserve':
      return reserve(context);
    case 'take':
      return take(context);
    case 'detach host':
      return detachHost(context);
    case 'fetch credentials':
      return fetchCredentials(context);
    case 'set provider id':
      return setProviderID(context);
    case 'bootstrap':
      return bootstrap(context);
    case 'reboot':
      return reboot(context);
    case 'release failed host':
      return releaseFailedHost(context, decision.poolPrefix);
    case 'retire token':
      return retireToken(context, decision.certificateExpires);
    case 're-register':
      return reregister(context, decision);
    case 'roll':
      return roll(context, decision);
    case 'roll back':
      return rollBack(context, decision.hash);
    case 'clear refusal':
      return clearFailedRoll(context);
    case 'uncordon':
      return uncordon(context);
    case 'remove runner':
      return removeRunner(context, decision.id);
    case 'release':
      return release(context, decision.poolPrefix, decision.runnerLeft);
    case 'clean up':
      return cleanUp(context);
  }
};
