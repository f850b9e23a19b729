import { booted, ended, goesAway, hasEnded, isRunning, runs } from '../expectations.ts';
import type { Story } from '../story.ts';
import { digest, image } from '../world.ts';

export const two: Story = {
  key: 'two',
  name: 'two Pods fetch one image and run, and a third one has the slot of the first that ends',
  tell: async (world, fault) => {
    world.tart.controls.image(image, { digest, percents: [0, 40, 80, 100], stepMs: 60 });
    world.agents.start(fault);
    const [one, other] = [await world.pod('runner-1'), await world.pod('runner-2')];
    const ran = [await runs(world, one, fault), await runs(world, other, fault)];
    const third = await world.pod('runner-3');
    world.guests.end(one.vm, 1, 0);
    await world.until('the first has ended', () => hasEnded(world, one));
    const thirdRan = await runs(world, third, fault);
    if (ran[1] && !isRunning(world, other)) world.problems.push('the second runs no more');
    ended(world, one, ran[0] ? { boots: 1, code: 0 } : { boots: 0, code: 1 });
    await goesAway(world, one, other, third);
    booted(world, other, ran[1] ? 1 : 0);
    booted(world, third, thirdRan ? 1 : 0);
  },
};

export const refused: Story = {
  key: 'refused',
  name: 'tart refuses a start, since the Mac is full, and the Pod starts later as if nothing had been',
  prepare: async ({ tart }) => {
    tart.addVm('foreign');
    tart.controls.host({ limit: 0 });
  },
  tell: async (world, fault) => {
    const { tart } = world;
    world.agents.start(fault);
    const pod = await world.pod('runner-1');
    const refusals = (): number => tart.journal.calls('run').filter(({ exitCode }) => exitCode === 1).length;
    const waits = (): boolean =>
      world.seen(pod)?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'TartCreateFailed';
    await world.until('tart has refused', () => (refusals() > 0 && waits()) || hasEnded(world, pod));
    tart.controls.host({ limit: 2 });
    // It is held back for a while.
    await world.leapUntil('it runs', 6_000, () => isRunning(world, pod) || hasEnded(world, pod));
    const ran = await runs(world, pod, fault);
    world.guests.end(pod.vm, 1, 0);
    await world.until('it has ended', () => hasEnded(world, pod));
    ended(world, pod, ran ? { boots: 1, code: 0 } : { boots: 0, code: 1 });
    await goesAway(world, pod);
  },
};
