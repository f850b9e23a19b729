import { setTimeout as sleep } from 'node:timers/promises';
import { ended, goesAway, hasEnded, mayLoseARun, runs } from '../expectations.ts';
import type { Story } from '../story.ts';

export const end: Story = {
  key: 'end',
  name: 'a guest does its work and ends, and its Pod is deleted',
  tell: async (world, fault) => {
    world.agents.start(fault);
    const pod = await world.pod('runner-1');
    const ran = await runs(world, pod, fault);
    world.guests.end(pod.vm, 1, 0);
    await world.until('it has ended', () => hasEnded(world, pod));
    ended(world, pod, ran ? { boots: 1, code: 0 } : { boots: 0, code: 1 });
    await goesAway(world, pod);
  },
};

export const mute: Story = {
  key: 'mute',
  name: 'a guest that never gets an address ends, and that is seen',
  tell: async (world, fault) => {
    const { agents, guests, tart } = world;
    tart.controls.guest('_', { address: 'none' });
    agents.start(fault);
    const pod = await world.pod('runner-1');
    await world.until('it is on', () => guests.boots(pod.vm) > 0 || hasEnded(world, pod));
    // Whoever comes after one that was killed knows the virtual machine by now.
    await sleep(1500);
    guests.end(pod.vm, 1, 0);
    await world.until('it has ended', () => hasEnded(world, pod));
    ended(world, pod, mayLoseARun(fault) && guests.boots(pod.vm) === 0 ? { boots: 0, code: 1 } : { boots: 1, code: 0 });
    await goesAway(world, pod);
  },
};

export const restart: Story = {
  key: 'restart',
  name: 'a guest fails and is started again, once, from a clean clone',
  tell: async (world, fault) => {
    world.agents.start(fault);
    const pod = await world.pod('runner-1', (spec) => {
      spec.restartPolicy = 'OnFailure';
    });
    world.guests.end(pod.vm, 1, 3);
    world.guests.end(pod.vm, 2, 0);
    const backsOff = (): boolean =>
      world.seen(pod)?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff';
    await world.until('it has ended', () => {
      // Only after a second restart, if at all.
      if (backsOff()) world.agents.leap(11_000);
      return hasEnded(world, pod);
    });
    const restarts = world.seen(pod)?.status?.containerStatuses?.[0]?.restartCount ?? 0;
    ended(world, pod, { boots: 2, code: 0, restarts: mayLoseARun(fault) && restarts === 2 ? 2 : 1 });
    await goesAway(world, pod);
  },
};
