import { sleep, systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { ended, deletePods, hasEnded, mayLoseARun, runs } from '../expectations.ts';
import type { Scenario } from '../run-scenario.ts';

export const exit: Scenario = {
  key: 'exit',
  name: 'a guest ends by itself, and its Pod is deleted',
  run: async (harness, fault) => {
    harness.agents.start(fault);
    const pod = await harness.pod('runner-1');
    const ran = await runs(harness, pod, fault);
    harness.guests.end(pod.vm, 1, 0);
    await eventually('it has ended', () => hasEnded(harness, pod));
    ended(harness, pod, ran ? { boots: 1, code: 0 } : { boots: 0, code: 1 });
    await deletePods(harness, pod);
  },
};

export const withoutAddress: Scenario = {
  key: 'noAddress',
  name: 'the end of a guest without an address is reported',
  run: async (harness, fault) => {
    const { agents, guests, tart } = harness;
    tart.controls.guest('_', { address: 'none' });
    agents.start(fault);
    const pod = await harness.pod('runner-1');
    await eventually('it is on', () => guests.boots(pod.vm) > 0 || hasEnded(harness, pod));
    // By now the successor of a killed agent has found the virtual machine.
    await sleep(systemClock, 1500);
    guests.end(pod.vm, 1, 0);
    await eventually('it has ended', () => hasEnded(harness, pod));
    ended(
      harness,
      pod,
      mayLoseARun(fault) && guests.boots(pod.vm) === 0 ? { boots: 0, code: 1 } : { boots: 1, code: 0 },
    );
    await deletePods(harness, pod);
  },
};

export const restart: Scenario = {
  key: 'restart',
  name: 'a failed guest is restarted once, from a clean clone',
  run: async (harness, fault) => {
    harness.agents.start(fault);
    const pod = await harness.pod('runner-1', (spec) => {
      spec.restartPolicy = 'OnFailure';
    });
    harness.guests.end(pod.vm, 1, 3);
    harness.guests.end(pod.vm, 2, 0);
    const backsOff = (): boolean =>
      harness.seen(pod)?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff';
    await eventually('it has ended', () => {
      // Only after a second restart, if at all.
      if (backsOff()) harness.agents.advanceClock(11_000);
      return hasEnded(harness, pod);
    });
    const restarts = harness.seen(pod)?.status?.containerStatuses?.[0]?.restartCount ?? 0;
    ended(harness, pod, { boots: 2, code: 0, restarts: mayLoseARun(fault) && restarts === 2 ? 2 : 1 });
    await deletePods(harness, pod);
  },
};
