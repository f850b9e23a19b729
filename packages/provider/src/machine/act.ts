import { finalizers, machine as machineKind } from '@tartan/api';
import { addFinalizer, again, settled } from '@tartan/kube';
import { moveBlockingPatch } from '../pause/block-move.ts';
import { bootstrap } from './act/bootstrap.ts';
import { reserve, take } from './act/claim.ts';
import type { Act, Acted } from './act/context.ts';
import { uncordon } from './act/cordon.ts';
import { fetchCredentials } from './act/credentials.ts';
import { cleanUp, release } from './act/deletion.ts';
import { giveBack, reboot } from './act/escalation.ts';
import { retireToken } from './act/join.ts';
import { letGo } from './act/let-go.ts';
import { setProviderID } from './act/provider-id.ts';
import { reregister } from './act/re-register.ts';
import { removeRunner } from './act/remove-runner.ts';
import { forgiveRefusal, roll } from './act/roll.ts';
import { rollBack } from './act/roll-back.ts';
import type { Decision } from './decision.ts';
import { done } from './result.ts';
import { waits } from './waits.ts';

const wait = (milliseconds: number): Acted => ({ result: done, next: again(milliseconds) });

/** Carries a decision out. Each act may be cut off after any of its writes: the next pass sees what was done, and goes on from there. */
export const carryOut = async (act: Act, decision: Decision): Promise<Acted> => {
  switch (decision.kind) {
    case 'forget':
    case 'leave':
    case 'pause':
      return { result: done, next: settled };
    case 'add finalizer': {
      const { client } = act.world;
      const { signal } = act;
      const added = await addFinalizer(client, machineKind.resource, act.record.machine, finalizers.machine, {
        signal,
      });
      act.record.wrote(added);
      return wait(0);
    }
    case 'block move':
      await act.record.patchGuarded(moveBlockingPatch);
      return wait(0);
    case 'await cluster':
    case 'await key':
    case 'await host':
    case 'await runner':
    case 'await wipe':
      return wait(waits.others);
    case 'cannot claim':
      return wait(decision.reason === 'NoAvailableHost' ? waits.host : waits.person);
    case 'lost host':
    case 'refuse':
      return wait(waits.person);
    case 'back off':
    case 'rest':
      return wait(decision.forMs);
    case 'reserve':
      return reserve(act);
    case 'take':
      return take(act);
    case 'let go':
      return letGo(act);
    case 'fetch credentials':
      return fetchCredentials(act);
    case 'set provider id':
      return setProviderID(act);
    case 'bootstrap':
      return bootstrap(act);
    case 'reboot':
      return reboot(act);
    case 'give back':
      return giveBack(act, decision.poolPrefix);
    case 'retire token':
      return retireToken(act, decision.certificateExpires);
    case 're-register':
      return reregister(act, decision.newJoin);
    case 'roll':
      return roll(act, decision);
    case 'roll back':
      return rollBack(act, decision.hash);
    case 'forgive':
      return forgiveRefusal(act);
    case 'uncordon':
      return uncordon(act);
    case 'remove runner':
      return removeRunner(act, decision.id);
    case 'release':
      return release(act, decision.poolPrefix, decision.runnerLeft);
    case 'clean up':
      return cleanUp(act);
  }
};
