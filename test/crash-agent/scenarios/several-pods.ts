import { eventually } from '@tartan/kube/testing';
import { booted, ended, deletePods, hasEnded, isRunning, runs } from '../expectations.ts';
import { digest, image } from '../harness.ts';
import type { Scenario } from '../run-scenario.ts';

export const sharedImage: Scenario = {
  key: 'sharedImage',
  name: 'two Pods share the pull of an image, and a third one gets the slot of the first that ends',
  run: async (harness, fault) => {
    harness.tart.controls.image(image, { digest, percents: [0, 40, 80, 100], stepMs: 60 });
    harness.agents.start(fault);
    const [one, other] = [await harness.pod('runner-1'), await harness.pod('runner-2')];
    const ran = [await runs(harness, one, fault), await runs(harness, other, fault)];
    const third = await harness.pod('runner-3');
    harness.guests.end(one.vm, 1, 0);
    await eventually('the first has ended', () => hasEnded(harness, one));
    const thirdRan = await runs(harness, third, fault);
    if (ran[1] && !isRunning(harness, other)) harness.problems.push('the second runs no more');
    ended(harness, one, ran[0] ? { boots: 1, code: 0 } : { boots: 0, code: 1 });
    await deletePods(harness, one, other, third);
    booted(harness, other, ran[1] ? 1 : 0);
    booted(harness, third, thirdRan ? 1 : 0);
  },
};

export const refusedStart: Scenario = {
  key: 'refusedStart',
  name: 'tart refuses to start a VM for lack of a slot, and the Pod starts later',
  prepare: async ({ tart }) => {
    tart.addVm('foreign');
    tart.controls.host({ limit: 0 });
  },
  run: async (harness, fault) => {
    const { tart } = harness;
    harness.agents.start(fault);
    const pod = await harness.pod('runner-1');
    const refusals = (): number => tart.journal.calls('run').filter(({ exitCode }) => exitCode === 1).length;
    const waits = (): boolean =>
      harness.seen(pod)?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'TartCreateFailed';
    await eventually('tart has refused', () => (refusals() > 0 && waits()) || hasEnded(harness, pod));
    tart.controls.host({ limit: 2 });
    // The agent delays it for a while.
    await harness.advanceUntil('it runs', 6_000, () => isRunning(harness, pod) || hasEnded(harness, pod));
    const ran = await runs(harness, pod, fault);
    harness.guests.end(pod.vm, 1, 0);
    await eventually('it has ended', () => hasEnded(harness, pod));
    ended(harness, pod, ran ? { boots: 1, code: 0 } : { boots: 0, code: 1 });
    await deletePods(harness, pod);
  },
};
