import { again, isKubeError, nodes } from '@tartan/kube';
import type { JoinCredentials } from '../../host-work/join.ts';
import type { Result } from '../result.ts';
import { waits } from '../waits.ts';
import { type Act, type Acted, callOf, lookAgain, statusIn } from './context.ts';
import { makeJoin } from './join.ts';
import { push, runnerToken } from './push.ts';
import { withSlot } from './with-slot.ts';

/**
 * The light way back for a Mac whose Node is gone: every step is looked at again and mended, none that would disturb a virtual machine
 * (G-08). New credentials only when those on the Mac are of no use any more. It is tried every now and then, and never leads further.
 */
export const reregister = (act: Act, newJoin: boolean): Promise<Acted> =>
  withSlot(act, async () => {
    const { record, observation } = act;
    const { plan, snapshot } = observation;
    if (plan?.kind !== 'planned') return failed(act, noPlan(plan?.message));
    if (snapshot.node.kind === 'missing' && (await hasNode(act))) return lookAgain;
    const join = newJoin ? await makeJoin(act) : undefined;
    if (join !== undefined && 'kind' in join) return failed(act, join);

    const joinVersion = join?.joinVersion ?? statusIn(act).joinVersion ?? '';
    const spec = { ...plan.spec, agent: { ...plan.spec.agent, joinVersion } };
    const secrets = { ...plan.secrets, ...kubeconfigOf(join) };
    const { lateSecrets } = runnerToken(act);
    const outcome = await push(act, { kind: 'converge', mode: 'verify', spec, secrets, lateSecrets, idle: false });
    const result: Result = { kind: 'worked', outcome };
    if (outcome.kind === 'aborted') return { result, next: again(waits.conflict) };
    if (outcome.kind !== 'done') return failed(act, result);
    await record.write((status) => ({ ...status, joinVersion, hostConfigHash: outcome.summary }));
    return { result, next: again(rest(act, waits.nodeMissing)) };
  });

const kubeconfigOf = (join: JoinCredentials | undefined) =>
  join === undefined ? {} : { joinKubeconfig: join.kubeconfig };

const rest = (act: Act, milliseconds: number): number => {
  act.world.pauses.set(act.record.machine.metadata.uid, milliseconds);
  return milliseconds;
};

const failed = (act: Act, result: Result): Acted => ({ result, next: again(rest(act, waits.unreachable)) });

const noPlan = (message = 'It is not known what the Mac shall be.'): Result => ({
  kind: 'no bootstrap',
  reason: 'NodeMissing',
  message,
});

const hasNode = async (act: Act): Promise<boolean> => {
  try {
    await act.world.client.get(nodes, { name: act.record.machine.metadata.name }, callOf(act));
    return true;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return false;
    throw error;
  }
};
