import { pods } from '@tartan/kube';
import { booted, goesAway, leavesNothing, runs } from '../expectations.ts';
import type { Story } from '../story.ts';
import { namespace } from '../world.ts';

export const deletion: Story = {
  key: 'delete',
  name: 'a Pod is deleted while it runs, and its guest has time to shut down',
  tell: async (world, fault) => {
    // Longer than everything else that could wake an agent.
    world.tart.controls.guest('_', { shutdownTakesMs: 600 });
    world.agents.start(fault);
    // And so long that nobody waits for the end of it.
    const pod = await world.pod('runner-1', (spec) => {
      spec.terminationGracePeriodSeconds = 600;
    });
    const ran = await runs(world, pod, fault);
    await goesAway(world, pod);
    booted(world, pod, ran ? 1 : 0);
  },
};

export const deaf: Story = {
  key: 'power',
  name: 'a Pod is deleted whose guest does not listen: its power is cut',
  tell: async (world, fault) => {
    world.tart.controls.guest('_', { shutdown: 'ignored' });
    world.agents.start(fault);
    const pod = await world.pod('runner-1');
    const ran = await runs(world, pod, fault);
    await world.delete(pod, 1);
    await goesAway(world, pod);
    booted(world, pod, ran ? 1 : 0);
  },
};

export const gone: Story = {
  key: 'gone',
  name: 'somebody takes the finalizer away and the Pod is gone: its virtual machine ends here',
  tell: async (world, fault) => {
    world.agents.start(fault);
    const pod = await world.pod('runner-1');
    const ran = await runs(world, pod, fault);
    world.monitor.robbed(pod.uid);
    await world.delete(pod, 0);
    const { name } = pod;
    const body = { metadata: { finalizers: null } };
    await world.admin.patch(pods, { namespace, name }, { type: 'merge', body }).catch(() => {});
    await world.until('it is gone', () => world.seen(pod) === undefined);
    await leavesNothing(world);
    booted(world, pod, ran ? 1 : 0);
  },
};
